//! Jobs over several nodes, emulated on this machine: the remote shell is a command that runs the
//! launcher here.

use crate::launch::{self, Outcome, Running};
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A remote shell that executes the command in its own place.
pub(crate) const DIRECT: &str = "sh -c 'shift; exec \"$@\"' agent";
/// A remote shell that joins the words for a shell to parse, as ssh does.
const JOINING: &str = "sh -c 'shift; exec sh -c \"$*\"' agent";
/// A remote shell that stays, as ssh does.
const STAYING: &str = "sh -c 'shift; \"$@\"; exit $?' agent";
/// A remote shell that passes on output by lines, as Slurm's srun does.
const BY_LINES: &str = "sh -c 'shift; \"$@\" | LC_ALL=C sed -u \"\"' agent";
/// A remote shell that passes on nothing of this environment.
const BARE: &str = "sh -c 'shift; cd /; exec env -i \"$@\"' agent";
/// The remote shell for hosts that are network namespaces.
pub(crate) const NAMESPACES: &str = "ip netns exec";

/// How long all processes of a job may take to end.
const GONE: Duration = Duration::from_secs(10);

/// The trials. For a library with SMARTMAP's addresses there is just one: that it supports only one
/// node.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    if tree::is_smartmap() {
        trials.push(Trial::test("nodes/refused", || {
            let outcome = launch::run(over("a,b", 2, DIRECT, &[], "near")?)?;
            outcome.ends(1, &["the feature smartmap serves jobs on one node only"])
        }));
        return trials;
    }
    for (hosts, pes) in
        [("a,b", 2), ("a,b", 5), ("a:1,b:3", 4), ("a,b,c", 3), ("a,b,c", 7), ("a", 2)]
    {
        trials.push(Trial::test(format!("nodes/near/{hosts}/{pes}"), move || {
            near(DIRECT, hosts, pes)
        }));
    }
    let no_namespaces = no_namespaces();
    for (hosts, pes) in [("node0,node1", 4), ("node0,node1,node2", 7)] {
        trials.push(
            Trial::test(format!("nodes/namespaces/near/{pes}"), move || in_namespaces(hosts, pes))
                .with_ignored_flag(no_namespaces),
        );
    }
    for pes in [2, 4] {
        trials.push(
            Trial::test(format!("nodes/namespaces/packets/{pes}"), move || packets(pes))
                .with_ignored_flag(no_namespaces),
        );
    }
    trials.push(Trial::test("nodes/near/localhost", || near(DIRECT, "localhost,b", 4)));
    trials.push(Trial::test("nodes/near/by-lines", || near(BY_LINES, "a,b", 4)));
    for (name, agent) in [("direct", DIRECT), ("joining", JOINING)] {
        trials.push(Trial::test(format!("nodes/prefix/{name}"), move || prefix(name, agent)));
    }
    trials.push(Trial::test("nodes/bound-agent", bound_agent));
    trials.push(Trial::test("nodes/stopped-agent", || {
        // PE 0 has ended before other PEs can reach its node.
        launch::run(over("a,b", 2, DIRECT, &[], "stopped")?)?.success()
    }));
    for how in ["put", "barrier"] {
        trials.push(Trial::test(format!("nodes/silent-agent/{how}"), move || {
            let outcome = launch::run(over("a,b", 4, DIRECT, &[], &format!("silent {how}"))?)?;
            let words = "node a with PEs 0 to 1 has not answered for 10 s: its agent";
            outcome.ends(0, &[words])
        }));
    }
    trials.push(Trial::test("nodes/lines", lines));
    trials.push(Trial::test("nodes/input", input));
    trials.push(Trial::test("nodes/variables", variables));
    for (what, status, words) in STATUSES {
        trials.push(Trial::test(format!("nodes/status/{}", what.replace(' ', "-")), move || {
            let outcome = launch::run(over("a,b", 4, DIRECT, &["-l"], what)?)?;
            outcome.ends(status, words)
        }));
    }
    for (victim, words) in VICTIMS {
        for agent in [DIRECT, STAYING] {
            let kind = if agent == DIRECT { "direct" } else { "staying" };
            trials.push(Trial::test(format!("nodes/killed/{victim}/{kind}"), move || {
                killed(victim, agent, words)
            }));
        }
    }
    for (signal, status) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGUSR1, 138)]
    {
        trials
            .push(Trial::test(format!("nodes/signal/{signal}"), move || signalled(signal, status)));
    }
    trials.push(Trial::test("nodes/stopped-node", stopped_node));
    trials.push(Trial::test("nodes/timeout", || {
        let outcome =
            launch::run(over("a,b", 4, DIRECT, &["--timeout", "1"], "linger /dev/null/x")?)?;
        outcome.ends(124, &["did not end within 1s", "on a: PEs 0-1:", "on b: PEs 2-3:"])
    }));
    trials.push(Trial::test("nodes/states", states));
    for (name, agent, options, status, words) in STARTS {
        trials.push(Trial::test(format!("nodes/start/{name}"), move || {
            let outcome = launch::run(over("a,b", 4, agent, options, "near")?)?;
            outcome.ends(status, words)
        }));
    }
    trials.push(Trial::test("nodes/start/no-program", || {
        let mut command = oshrun("a,b", 4, DIRECT, &[]);
        command.arg("/nonexistent/program");
        let outcome = launch::run(command)?;
        outcome.ends(127, &["on ", "/nonexistent/program: No such file"])?;
        // One message, and no wait for the nodes.
        outcome.require(outcome.stderr.lines().count() == 1, "expected one line")
    }));
    trials.push(Trial::test("nodes/start/version", other_version));
    for pes in [2, 4] {
        trials.push(
            Trial::test(format!("nodes/start/without-proc/{pes}"), move || without_proc(pes))
                .with_ignored_flag(no_namespaces),
        );
    }
    match no_ucx() {
        true => trials.into_iter().map(|trial| trial.with_ignored_flag(true)).collect(),
        false => trials,
    }
}

/// What PEs do, the job's status, and words of its messages.
const STATUSES: [(&str, i32, &[&str]); 5] = [
    ("return 3 7", 7, &[]),
    ("exit 3 9", 9, &["PE 3 (pid", "on b) exited with status 9 without calling shmem_finalize"]),
    ("exit 0 0", 1, &["on a) exited without calling shmem_finalize"]),
    ("global_exit 2 5", 5, &[]),
    ("global_exit 0 6", 6, &[]),
];

/// The process killed, and words of the others' messages.
const VICTIMS: [(&str, &[&str]); 5] = [
    ("agent", &[": the agent, which serves other hosts, was killed by signal 9 (SIGKILL)"]),
    ("hub", &[]),
    ("node", &["oshrun: host ", " is lost: ", "(SIGKILL)"]),
    ("shell", &["oshrun: host ", " is lost: ", "(SIGKILL)"]),
    ("pe", &[") was killed by signal 9 (SIGKILL)"]),
];

/// A remote shell, options, the job's status, and words of its messages.
type Start = (&'static str, &'static str, &'static [&'static str], i32, &'static [&'static str]);
const STARTS: [Start; 10] = [
    (
        "no-host",
        "sh -c 'echo no route to $1 >&2; exit 255' agent",
        &[],
        1,
        &[": no route to ", "ended with status 255"],
    ),
    ("no-shell", "/nonexistent/shell", &[], 1, &["host a: cannot start /nonexistent/shell"]),
    (
        "no-oshrun",
        DIRECT,
        &["--prefix", "/nonexistent"],
        1,
        &["/nonexistent/bin/oshrun", "--prefix"],
    ),
    (
        "talkative",
        "sh -c 'echo Welcome to $1; shift; exec \"$@\"' agent",
        &[],
        1,
        &["\"Welcome to", "must not write to standard output"],
    ),
    ("garbage-later", "sh -c 'shift; \"$@\"; echo rubbish' agent", &[], 0, &[]),
    ("silent", "sh -c 'sleep 1000' agent", &["-x", "A=B"], 1, &["no answer within", "from a, b"]),
    ("no-directory", DIRECT, &["--wdir", "/nonexistent"], 1, &["on ", "--wdir /nonexistent"]),
    ("transports", DIRECT, &["-x", "UCX_TLS=rc,tcp,self"], 0, &[]),
    (
        "no-transport",
        DIRECT,
        &["-x", "UCX_TLS=rc,sm"],
        1,
        &["UCX_TLS=rc,sm: ", "expected a list with tcp or all"],
    ),
    (
        "slots",
        DIRECT,
        &["--np", "5", "--host", "a:2,b:2"],
        2,
        &["5 PEs need more slots than the hosts have"],
    ),
];

pub(crate) fn program() -> Result<PathBuf> {
    compile::plain("tests/programs/over_nodes.c", &[])
}

pub(crate) fn oshrun(hosts: &str, pes: usize, agent: &str, options: &[&str]) -> Command {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["--host", hosts, "-n", &pes.to_string(), "--launch-agent", agent]).args(options);
    command.env("SHMEM_STARTUP_TIMEOUT", if options.contains(&"A=B") { "1" } else { "60" });
    command
}

/// A command that runs the program over nodes.
fn over(hosts: &str, pes: usize, agent: &str, options: &[&str], what: &str) -> Result<Command> {
    let mut command = oshrun(hosts, pes, agent, options);
    command.arg(program()?).args(what.split(' '));
    Ok(command)
}

/// PEs are numbered node by node, and those of one node can reach each other.
fn near(agent: &str, hosts: &str, pes: usize) -> Result {
    check_near(&launch::run(over(hosts, pes, agent, &["-l"], "near")?)?, hosts, pes)
}

/// A node's agent is bound to what the PEs that are bound leave, and `--report-bindings` says to what.
fn bound_agent() -> Result {
    const SHOW: &str = r"for i in 1 2 3 4 5 6 7 8 9 10; do
        grep -H Cpus_allowed_list $(grep -slx oshrun-agent /proc/[0-9]*/comm | sed s/comm$/status/)
        sleep 0.1
    done; true";
    let all = std::thread::available_parallelism()?.get();
    for (bind, is_bound) in [("core", all > 1), ("none", false)] {
        let options = ["--bind-to", bind, "--report-bindings"];
        let mut command = oshrun("a,b", 2, DIRECT, &options);
        command.args(["sh", "-c", SHOW]);
        let outcome = launch::run(command)?;
        let told: Vec<(&str, &str)> = outcome
            .stderr
            .lines()
            .filter_map(|line| line.split_once("the agent (pid ")?.1.split_once(" on "))
            .filter_map(|(pid, rest)| Some((pid, rest.split_once(") is ")?.1)))
            .collect();
        outcome.require(told.len() == 2, "expected two agents")?;
        for (pid, place) in told {
            let status = format!("/proc/{pid}/status:Cpus_allowed_list:");
            let allowed = outcome.stdout.lines().find_map(|line| line.strip_prefix(&status));
            let allowed = allowed.ok_or("an agent was not seen")?.trim();
            let expected = match is_bound {
                true => [" ", allowed, " "].concat(),
                false => "not bound".into(),
            };
            let place = format!("{place} ");
            outcome
                .require(place.contains(&expected), format!("agent {pid} has CPUs {allowed}"))?;
        }
    }
    Ok(())
}

/// A shell that reads the path of an installation sees no more in it than its letters.
fn prefix(name: &str, agent: &str) -> Result {
    let scratch = tree::scratch(format!("prefix-{name}"));
    let made = scratch.join("made");
    let _ = fs::remove_file(&made);
    let folder = scratch.join("it's here; $(cd ..; touch made) \n&");
    fs::create_dir_all(&folder)?;
    let bin = folder.join("bin");
    if !bin.exists() {
        symlink(tree::prefix("bin"), bin)?;
    }
    let folder = folder.to_str().ok_or("the folder's path is not UTF-8")?;
    let mut job = over("a,b", 2, agent, &["-l", "--prefix", folder], "near")?;
    job.current_dir(folder);
    check_near(&launch::run(job)?, "a,b", 2)?;
    match made.exists() {
        true => Err(format!("a shell has run what is in {folder}").into()),
        false => Ok(()),
    }
}

/// A command to run among emulated hosts node0, node1 and so on.
pub(crate) fn among_namespaces(count: usize) -> Command {
    let mut command = Command::new("sh");
    command.arg(tree::repository("tests/programs/namespaces.sh")).arg(count.to_string());
    command
}

/// Whether to skip trials over several nodes for lack of UCX. Prints a message if so.
pub(crate) fn no_ucx() -> bool {
    static NONE: LazyLock<bool> = LazyLock::new(|| {
        let path = "/usr/sbin:/sbin:/usr/bin:/bin";
        let known = Command::new("ldconfig").arg("-p").env("PATH", path).output();
        let none = tree::may_be_absent()
            && known.is_ok_and(|known| {
                known.status.success()
                    && !String::from_utf8_lossy(&known.stdout).contains("libucp.so.0")
            });
        if none {
            eprintln!("tests over several nodes are skipped: no libucp.so.0 (package libucx0)");
        }
        none
    });
    *NONE
}

/// Whether to skip trials among network namespaces for lack of namespaces or UCX. Prints a message
/// if so.
pub(crate) fn no_namespaces() -> bool {
    static NONE: LazyLock<bool> = LazyLock::new(|| {
        if no_ucx() {
            return true;
        }
        let why = match among_namespaces(2).arg("true").output() {
            Ok(output) if output.status.success() => return false,
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        // Missing programs can be installed, missing privileges cannot.
        let absent = ["ip", "unshare"].into_iter().find(|name| tree::find(name).is_none());
        let skipped = absent.is_none_or(tree::skip_without);
        if skipped {
            eprintln!("tests among network namespaces are skipped: there are none here: {why}");
        }
        skipped
    });
    *NONE
}

/// The same, where each host has its own network.
fn in_namespaces(hosts: &str, pes: usize) -> Result {
    let job = over(hosts, pes, NAMESPACES, &["-l"], "near")?;
    let mut command = among_namespaces(hosts.split(',').count());
    command.arg(job.get_program()).args(job.get_args());
    check_near(&launch::run(command)?, hosts, pes)
}

/// Collectives of few bytes take few packets: data travels with the steps.
fn packets(pes: usize) -> Result {
    /// A message in each direction; where PEs wait for a CPU, up to three have been seen.
    const MOST: &str = "3.5";
    let mut command = among_namespaces(2);
    command.arg(tree::prefix("bin/oshrun"));
    command.args(oshrun("node0,node1", pes, NAMESPACES, &[]).get_args());
    command.arg(compile::plain("tests/programs/packets.c", &[])?).arg(MOST);
    launch::run(command)?.success()
}

fn check_near(outcome: &Outcome, hosts: &str, pes: usize) -> Result {
    outcome.success()?;
    let count = hosts.split(',').count();
    let mut sizes: Vec<usize> =
        (0..count).map(|node| pes / count + usize::from(node < pes % count)).collect();
    if hosts.contains(':') {
        sizes = vec![1, 3];
    }
    let mut first = 0;
    let mut expected = Vec::new();
    for near in sizes {
        for index in 0..near {
            let (pe, before) = (first + index, first + (index + near - 1) % near);
            let counted = if index == 0 { near as i64 } else { -1 };
            expected.push(format!(
                "[{pe}] PE {pe} of {pes}: {near} near, number {index}, word {}, count {counted}",
                before + 1000
            ));
        }
        first += near;
    }
    let mut lines: Vec<&str> = outcome.stdout.lines().collect();
    lines.sort_unstable();
    outcome.require(lines == expected, format!("expected {expected:#?}"))
}

/// Lines stay whole, and those of one PE stay in order.
fn lines() -> Result {
    const LINES: usize = 3000;
    let outcome = launch::run(over("a,b,c", 5, DIRECT, &["-l"], &format!("lines {LINES}"))?)?;
    outcome.success()?;
    for pe in 0..5 {
        let of = |text: &str| {
            let mark = format!("[{pe}] ");
            text.lines().filter_map(|line| Some(line.strip_prefix(&mark)?.to_owned())).collect()
        };
        let (lines, notes): (Vec<String>, Vec<String>) = (of(&outcome.stdout), of(&outcome.stderr));
        let expected = (0..LINES).map(|i| format!("line {i} of PE {pe}"));
        let noted = (0..LINES).step_by(100).map(|i| format!("note {i} of PE {pe}"));
        outcome.require(
            lines.into_iter().eq(expected) && notes.into_iter().eq(noted),
            format!("lines of PE {pe} are missing, or not in order"),
        )?;
    }
    Ok(())
}

/// All of standard input goes to PE 0, and none to the others.
fn input() -> Result {
    let job = over("a,b", 3, DIRECT, &[], "input")?;
    let words = std::iter::once(job.get_program()).chain(job.get_args());
    let mut command = Command::new("sh");
    command.args(["-c", "seq 1 200000 | \"$@\"", "sh"]).args(words);
    let outcome = launch::run(command)?;
    outcome.success()?;
    let text: String = (1..=200_000).map(|i| format!("{i}\n")).collect();
    let sum = text.bytes().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let mut lines: Vec<&str> = outcome.stdout.lines().collect();
    lines.sort_unstable();
    let first = format!("PE 0 read {} bytes, sum {sum}", text.len());
    let nothing = |pe| format!("PE {pe} read 0 bytes, sum 0");
    outcome.require(
        lines == [first, nothing(1), nothing(2)],
        format!("expected {} bytes, sum {sum}", text.len()),
    )
}

/// The library's variables are forwarded, others on request, and so is the working directory.
fn variables() -> Result {
    let mut command = over("a,b", 2, BARE, &["-x", "GIVEN=a b", "-x", "TRAVELS"], "variables")?;
    command.env("SHMEM_DEBUG", "0").env("SMA_VERSION", "0").env("NOT_GIVEN", "1");
    command.env("TRAVELS", "yes").current_dir(tree::repository("tests"));
    let outcome = launch::run(command)?;
    outcome.success()?;
    let folder = tree::repository("tests").display().to_string();
    let line = format!("0 0 a b (null) in {folder}\n");
    outcome.require(outcome.stdout == line.repeat(2), format!("expected twice {line}"))
}

/// A job whose PEs linger, once all of them run, with their process IDs.
fn lingering(agent: &str) -> Result<(Running, Vec<Pid>)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mark = tree::scratch(format!("lingers-{}-{number}", std::process::id()));
    std::fs::create_dir_all(tree::scratch(""))?;
    let running =
        Running::start(over("a,b", 4, agent, &["-l"], &format!("linger {}", mark.display()))?)?;
    let marks: Vec<PathBuf> = (0..4).map(|pe| mark.with_extension(pe.to_string())).collect();
    match await_files(&marks) {
        Ok(()) => {
            let pids = running.descendants();
            Ok((running, pids))
        }
        Err(why) => {
            Err(running.finish_within(Duration::ZERO)?.report(why.message().unwrap_or_default()))
        }
    }
}

/// Waits until PEs have made these files, and removes them.
pub(crate) fn await_files(files: &[PathBuf]) -> Result {
    let until = Instant::now() + launch::LIMIT;
    while !files.iter().all(|file| file.exists()) {
        if Instant::now() > until {
            return Err("the PEs do not start".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    for file in files {
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}

/// Kills the launcher of the last node.
pub(crate) fn kill_last_node(running: &Running) -> Result {
    let pid = found_launcher(&running.descendants(), is_node).ok_or("no launcher on node b")?;
    Ok(kill(pid, Signal::SIGKILL)?)
}

fn is_node(line: &[String]) -> bool {
    line.first().is_some_and(|word| word.ends_with("/oshrun"))
}

pub(crate) fn name_of(pid: Pid) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim().into()
}

fn line_of(pid: Pid) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// Whichever process is killed, all others end soon.
fn killed(victim: &str, agent: &str, words: &[&str]) -> Result {
    let (running, pids) = lingering(agent)?;
    let found = |wanted: &dyn Fn(&[String]) -> bool| {
        let mut found: Vec<Pid> =
            pids.iter().copied().filter(|pid| wanted(&line_of(*pid))).collect();
        found.sort_unstable_by_key(|pid| pid.as_raw());
        found.last().copied().ok_or_else(|| format!("no process to be the {victim}"))
    };
    let pid = match victim {
        "hub" => running.pid(),
        "agent" => {
            let agents = pids.iter().filter(|pid| name_of(**pid) == "oshrun-agent");
            *agents.max_by_key(|pid| pid.as_raw()).ok_or("no agent")?
        }
        // The guard of a node's launcher has the same name, but is its child and therefore comes
        // later.
        "node" => found_launcher(&pids, is_node).ok_or("no launcher on node b")?,
        "shell" if agent == STAYING => {
            found(&|line| line.first().is_some_and(|word| word == "sh"))?
        }
        "shell" => found_launcher(&pids, is_node).ok_or("no launcher on node b")?,
        _ => found(&|line| line.iter().any(|word| word == "linger"))?,
    };
    kill(pid, Signal::SIGKILL)?;
    let begin = Instant::now();
    let outcome = running.finish()?;
    while pids.iter().any(|pid| launch::is_running(*pid)) {
        if begin.elapsed() > GONE {
            let left: Vec<_> = pids.iter().filter(|pid| launch::is_running(**pid)).collect();
            return Err(outcome.report(format!("{left:?} are left behind")));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // If a shell that stays has started the launcher, the shell's status is what the message names.
    let words =
        words.iter().filter(|word| victim != "node" || agent == DIRECT || **word != "(SIGKILL)");
    match words.into_iter().find(|word| !outcome.stderr.contains(**word)) {
        Some(word) => Err(outcome.report(format!("expected {word:?}"))),
        None if outcome.status == 0 => Err(outcome.report("expected a failure")),
        None => Ok(()),
    }
}

/// The launcher of the last node: the parent of its guard and PEs.
fn found_launcher(pids: &[Pid], is_node: impl Fn(&[String]) -> bool) -> Option<Pid> {
    let mut nodes: Vec<Pid> = pids.iter().copied().filter(|pid| is_node(&line_of(*pid))).collect();
    nodes.sort_unstable_by_key(|pid| pid.as_raw());
    let is_guard = |pid: &Pid| name_of(*pid) != "oshrun";
    nodes.into_iter().rev().find(|pid| !is_guard(pid))
}

/// Signals reach all PEs, and the resulting end of the job is reported once.
fn signalled(signal: Signal, status: i32) -> Result {
    let (running, _) = lingering(DIRECT)?;
    kill(running.pid(), signal)?;
    let outcome = running.finish()?;
    let told = outcome.stderr.matches("the job ends on").count();
    outcome.require(
        outcome.status == status && told == 1,
        format!("expected {status}, and to be told once"),
    )
}

/// A job ends without a node that no longer answers, and names that one only.
fn stopped_node() -> Result {
    let (running, pids) = lingering(DIRECT)?;
    kill(found_launcher(&pids, is_node).ok_or("no launcher on node b")?, Signal::SIGSTOP)?;
    kill(running.pid(), Signal::SIGTERM)?;
    let outcome = running.finish()?;
    let told = outcome.stderr.matches("no longer waiting for host").count();
    outcome.require(
        told == 1 && outcome.stderr.contains("no longer waiting for host b after 5 s"),
        "expected to be told once, of host b",
    )
}

/// SIGQUIT prints the states of all nodes' PEs.
fn states() -> Result {
    let (running, _) = lingering(DIRECT)?;
    kill(running.pid(), Signal::SIGQUIT)?;
    let outcome = running.finish()?;
    let words = ["on a: the PEs are in these states", "on b: the PEs are in these states"];
    outcome.require(
        words.iter().all(|word| outcome.stderr.contains(word)),
        "expected the states of all nodes' PEs",
    )
}

/// On a host without `/proc`, nobody could tell UCX's sockets from others: nothing listens there.
fn without_proc(pes: usize) -> Result {
    const HIDE: &str = "mount -t tmpfs none /proc && exec \"$@\"";
    const AGENT: &str = "sh -c 'host=$1; shift
         [ $host = node1 ] || exec ip netns exec $host \"$@\"
         exec ip netns exec $host unshare --mount sh -c \"$HIDE\" sh \"$@\"' agent";
    let job = over("node0,node1", pes, AGENT, &[], "ring")?;
    let mut command = among_namespaces(2);
    command.arg(job.get_program()).args(job.get_args()).env("HIDE", HIDE);
    let words = ["on node1", "strangers cannot be kept from UCX: /proc/self/fd: "];
    launch::run(command)?.ends(1, &words)
}

/// A host with another version is refused.
fn other_version() -> Result {
    let mut hello = Vec::new();
    let text = b"oshmem 9";
    hello.extend_from_slice(&(text.len() as u32 + 16).to_le_bytes());
    hello.extend_from_slice(b"H\0\0\0\0");
    hello.extend_from_slice(&(text.len() as u64).to_le_bytes());
    hello.extend_from_slice(text);
    hello.extend_from_slice(&[0; 8]);
    let path = tree::scratch(format!("hello-{}", std::process::id()));
    std::fs::create_dir_all(tree::scratch(""))?;
    std::fs::write(&path, hello)?;
    let agent = format!("sh -c 'cat {}; exec sleep 1000' agent", path.display());
    let outcome = over("a,b", 4, &agent, &[], "near").and_then(launch::run);
    let _ = std::fs::remove_file(&path);
    outcome?.ends(1, &["has oshmem 9, this host has oneshmem", "all hosts need the same version"])
}
