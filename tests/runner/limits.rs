//! Limits that control groups set: on memory, which the kernel enforces by killing, and on CPU time. And the
//! limits of the address space and of the stack.

use crate::launch::{self, Outcome};
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The trials, ignored where they need a control group and none can be made. SMARTMAP's addresses go beyond
/// those of a small space.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("limits/stack", stack)];
    if !tree::is_smartmap() {
        trials.push(Trial::test("limits/addresses", addresses));
    }
    for (name, controller, run) in [
        ("killed", "memory", killed as fn(&Group) -> Result),
        ("heap", "memory", heap),
        ("cpus", "cpu", cpus),
    ] {
        let absent = Group::new(controller, name).is_none();
        if absent {
            eprintln!("limits/{name} is skipped: no control group with {controller} can be made");
        }
        let run = move || {
            let group = Group::new(controller, name).ok_or("no control group can be made")?;
            run(&group)
        };
        trials.push(Trial::test(format!("limits/{name}"), run).with_ignored_flag(absent));
    }
    trials
}

/// Commands as they are installed need no more stack than they say.
fn stack() -> Result {
    let mut shell = Command::new("bash");
    shell.args(["-c", "ulimit -s 64; exec \"$0\" -n 2 -l --bind-to core echo ok"]);
    // The environment lies on the stack, too.
    shell.arg(tree::prefix("bin/oshrun")).env_clear().env("PATH", "/usr/bin:/bin");
    launch::run(shell)?.success()
}

/// A control group inside this process's, removed on drop.
struct Group(PathBuf);

impl Group {
    fn new(controller: &str, name: &str) -> Option<Self> {
        let table = fs::read_to_string("/proc/self/cgroup").ok()?;
        let path = |names: &str| {
            let lines = table.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
            let mut lines = lines.filter(|(found, _)| found.split(',').any(|it| it == names));
            lines.next().map(|(_, path)| path.trim_start_matches('/'))
        };
        let root = Path::new("/sys/fs/cgroup");
        let own = match path(controller) {
            Some(path) => root.join(controller).join(path),
            None => root.join(path("")?),
        };
        let group = Self(own.join(format!("oneshmem-{name}-{}", std::process::id())));
        fs::create_dir(&group.0).ok()?;
        let files = ["memory.max", "memory.limit_in_bytes", "cpu.max", "cpu.cfs_quota_us"];
        let files = files.into_iter().filter(|file| file.starts_with(controller));
        files.into_iter().any(|file| group.0.join(file).exists()).then_some(group)
    }

    /// Sets the first of these that there is: files and values.
    fn set(&self, limits: [(&str, &str); 2]) -> Result {
        let limit = limits.into_iter().find(|(file, _)| self.0.join(file).exists());
        let (file, value) = limit.ok_or("the group has no such limit")?;
        tree::write(self.0.join(file), value)
    }

    /// Runs a command of the installation, as a member.
    fn run(&self, command: &str) -> Result<Outcome> {
        let mut shell = Command::new("sh");
        let member = "echo $$ > \"$0/cgroup.procs\" && eval \"exec $1\"";
        let command = format!("{}/{command}", tree::prefix("bin").display());
        shell.args(["-c", member]).arg(&self.0).arg(command);
        launch::run(shell)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Processes that have ended leave it a little later.
        for _ in 0..200 {
            match fs::remove_dir(&self.0) {
                Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                _ => return,
            }
        }
    }
}

const MEMORY: [&str; 2] = ["memory.max", "memory.limit_in_bytes"];

fn told(outcome: &Outcome, text: &str, words: &[&str]) -> Result {
    outcome.require(words.iter().all(|word| text.contains(word)), format!("expected {words:?}"))
}

/// A PE that the kernel kills for lack of memory is told as that, and one killed otherwise is not.
fn killed(group: &Group) -> Result {
    group.set(MEMORY.map(|file| (file, "67108864")))?;
    let kill = "oshrun -n 2 sh -c 'kill -9 $$'";
    let outcome = group.run(kill)?;
    outcome.require(
        !outcome.stderr.contains("lack of memory") && outcome.status == 137,
        "expected status 137 and no word of memory",
    )?;
    let full = "oshrun -n 2 sh -c 'case $ONESHMEM_PE in 1:*) exec tail /dev/zero;; esac; sleep 99'";
    let outcome = group.run(full)?;
    let words = [
        "oshrun: PE 1 (pid ",
        ") was killed by signal 9 (SIGKILL) by the kernel, for lack of memory: the limit of its \
         control group is 64 MiB; ending the job",
    ];
    told(&outcome, &outcome.stderr, &words)
}

/// The default heap is a share of the limit.
fn heap(group: &Group) -> Result {
    group.set(MEMORY.map(|file| (file, "536870912")))?;
    let outcome = group.run("oshinfo")?;
    outcome.success()?;
    told(&outcome, &outcome.stdout, &["at most 536870912 bytes", "512 MiB, by the control group"])
}

/// By default there are as many PEs as CPUs whose time the job gets.
fn cpus(group: &Group) -> Result {
    group.set([("cpu.max", "150000 100000"), ("cpu.cfs_quota_us", "150000")])?;
    let outcome = group.run("oshrun echo here")?;
    outcome.success()?;
    outcome.require(outcome.stdout == "here\n", "expected one PE")?;
    let outcome = group.run("oshrun --cpus-per-pe 1 -x OMP_NUM_THREADS=1 echo here")?;
    outcome.require(outcome.stdout == "here\n", "expected one PE with a CPU")?;
    // Two PEs have a CPU each, if the machine has two, and not all of their time.
    let alone = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2);
    let expected = if alone { "since PEs share CPUs" } else { "since a quota limits their time" };
    let outcome = group.run(&format!("oshrun -n 2 {}", tree::prefix("bin/oshinfo").display()))?;
    told(&outcome, &outcome.stdout, &[expected])?;
    let outcome = group.run("oshinfo")?;
    told(&outcome, &outcome.stdout, &["the time of 1.5 CPUs, by the control group"])
}

/// A job fits into 512 GiB of addresses, and says so if it does not.
fn addresses() -> Result {
    let program = compile::plain("tests/programs/narrow.c", &["-no-pie"])?;
    let job = |pes, heap| {
        let mut job = launch::oshrun(pes, &program);
        job.env("SHMEM_SYMMETRIC_SIZE", heap);
        launch::run(job)
    };
    job(8, "1g")?.success()?;
    job(4, "60g")?.success()?;
    job(8, "60g")?
        .fails(&["no address space for 8 PEs with a symmetric heap of 64424509440 bytes each"])
}
