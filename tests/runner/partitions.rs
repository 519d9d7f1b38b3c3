//! The partitions of this machine as reported by `oshinfo`, and those that it cannot have.

use crate::launch::{self, Outcome};
use crate::{Result, compile, containers, heap_pages, tree};
use libtest_mimic::Trial;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const VARIABLE: &str = "SHMEM_SYMMETRIC_PARTITION1";
/// A folder of a file system in persistent memory, with DAX.
const PERSISTENT: &str = "ONESHMEM_TEST_DAX";
const NODES: &str = "/sys/devices/system/node";

/// The trials. Most machines have only one kind of memory, and refuse partitions of other kinds.
pub fn trials() -> Vec<Trial> {
    let one_kind = !Path::new(NODES).join("node1").exists();
    let mut trials = vec![
        Trial::test("partitions/plain", || works("64M:KIND=NORMALMEM")),
        Trial::test("partitions/spread", || works("64M:POLICY=INTERLEAVED")),
        Trial::test("partitions/near", || works("64M:POLICY=MANDATORY")),
        Trial::test("partitions/named", || works("64M:NODES=0")),
        Trial::test("partitions/no-offloading", || {
            refused("64M:KIND=LIBOMP", "no OpenMP offloading")
        }),
        Trial::test("partitions/no-such-node", || {
            refused("64M:NODES=0,63", "NODES has 63; this process may use the memory of")
        }),
        Trial::test("partitions/file", || file(&std::env::temp_dir(), "through the page cache")),
        Trial::test("partitions/no-room-for-file", no_room)
            .with_ignored_flag(!containers::can_unshare()),
        Trial::test("partitions/no-such-folder", || {
            refused("64M:KIND=FILE:PATH=/no/such/folder/%p", "cannot open /no/such/folder/")
        }),
        Trial::test("partitions/quick", || {
            let outcome = info("64M:KIND=FASTMEM")?;
            outcome.prints(&["64 MiB FASTMEM, "])
        }),
    ];
    let quick = [
        Trial::test("partitions/no-quick", || {
            let outcome = info("64M:KIND=FASTMEM")?;
            match outcome.stderr.matches("memory as the heap's instead").count() {
                1 => outcome.success(),
                _ => Err(outcome.report("it was to say once that there is no other memory")),
            }
        }),
        Trial::test("partitions/no-hbm", || refused("64M:KIND=HBM", "of one kind")),
        Trial::test("partitions/no-quick-mandatory", || {
            refused("64M:KIND=FASTMEM:POLICY=MANDATORY", "POLICY=PREFERRED would take it")
        }),
    ];
    trials.extend(quick.map(|trial| trial.with_ignored_flag(!one_kind)));
    trials.extend(persistent());
    for backend in heap_pages::backends() {
        trials.extend(placements(backend));
    }
    trials
}

/// Partitions of files in persistent memory.
fn persistent() -> [Trial; 2] {
    let folder = std::env::var_os(PERSISTENT).map(PathBuf::from);
    let is_absent = folder.is_none();
    let folder = folder.unwrap_or_default();
    let same = folder.clone();
    [
        Trial::test("partitions/persistent/told", move || file(&folder, "persistent memory (DAX)")),
        // The program finds its data again, and sees how it is mapped.
        Trial::test("partitions/persistent/kept", move || {
            let program = compile::plain("tests/c/partition_file.c", &[])?;
            let mut oshrun = launch::oshrun(2, &program);
            oshrun.env("TMPDIR", &same).env("CHECK_SYNCHRONOUS", "1");
            launch::run(oshrun)?.success()
        }),
    ]
    .map(|trial| trial.with_ignored_flag(is_absent))
}

/// Where the pages of partitions are, on machines with several NUMA nodes.
fn placements(backend: &'static str) -> impl Iterator<Item = Trial> {
    let several = Path::new(NODES).join("node1").exists();
    let huge = several && heap_pages::explicit_sizes().contains(&2048);
    let quick = quick_node();
    let is_quick = quick.is_some();
    let quick: &str = quick.unwrap_or_default().leak();
    let all = [
        ("mandatory", "32M:NODES=1:POLICY=MANDATORY", vec!["1"], several),
        ("preferred", "32M:NODES=1", vec!["1"], several),
        ("other", "32M:NODES=0:POLICY=M", vec!["0"], several),
        ("interleaved", "32M:NODES=0-1:POLICY=INTERLEAVED", vec!["0", "1"], several),
        ("own", "32M:POLICY=MANDATORY", vec!["own"], several),
        ("usual", "32M", vec!["own"], several),
        ("explicit", "32M:NODES=1:PGSIZE=2M", vec!["1"], huge),
        ("explicit-interleaved", "32M:NODES=0-1:POLICY=I:PGSIZE=2M", vec!["0", "1"], huge),
        ("fastmem", "32M:KIND=FASTMEM", vec![quick], is_quick),
        ("hbm", "32M:KIND=HBM", vec![quick], is_quick),
    ];
    all.into_iter().map(move |(title, value, nodes, is_served)| {
        let title = format!("partitions/placed/{title}/{backend}");
        let trial = Trial::test(title, move || placed(backend, value, &nodes));
        trial.with_ignored_flag(!is_served)
    })
}

/// A node without processors whose memory is faster than node 0's.
fn quick_node() -> Option<String> {
    let text = |name: &str, file: &str| {
        let text = fs::read_to_string(Path::new(NODES).join(name).join(file));
        text.ok().map(|text| text.trim().to_owned())
    };
    let speed = |name: &str| text(name, "access0/initiators/read_bandwidth")?.parse::<u64>().ok();
    let usual = speed("node0")?;
    let names = fs::read_dir(NODES).ok()?.filter_map(|it| it.ok()?.file_name().into_string().ok());
    let quick = |name: &String| {
        text(name, "cpulist").is_some_and(|list| list.is_empty()) && speed(name) > Some(usual)
    };
    names.filter(quick).find_map(|name| Some(name.strip_prefix("node")?.to_owned()))
}

fn placed(backend: &str, value: &str, nodes: &[&str]) -> Result {
    let program = compile::plain("tests/programs/partition_pages.c", &[])?;
    let mut oshrun = Command::new(tree::prefix("bin/oshrun"));
    oshrun.args(["-n", "2", "--map-by", "numa"]).arg(program).args(nodes);
    oshrun.env(VARIABLE, value).env("SHMEM_BACKEND", backend);
    launch::run(oshrun)?.silent()
}

/// `oshinfo` says how a partition of files reaches them.
fn file(folder: &Path, how: &str) -> Result {
    let path = folder.join(format!("partition-told-{}-%p", std::process::id()));
    let path = path.display().to_string();
    let outcome = info(&format!("1M:KIND=FILE:PATH={path}"))?;
    for pe in 0..PES {
        fs::remove_file(path.replace("%p", &pe.to_string()))?;
    }
    outcome.prints(&[&format!("1 MiB FILE {path}, {how}")])
}

/// A file that its file system has no room for is not made.
fn no_room() -> Result {
    let script = "mount -t tmpfs -o size=4m none /mnt || exit; \"$@\"; status=$?; \
                  ls -A /mnt; exit $status";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", script, "sh"]);
    command.arg(tree::prefix("bin/oshrun")).args(["-n", "1"]).arg(tree::prefix("bin/oshinfo"));
    command.env(VARIABLE, "64M:KIND=FILE:PATH=/mnt/left-%p");
    let outcome = launch::run(command)?;
    let why = "64 MiB are missing, and its file system has 4 MiB left";
    let is_told = outcome.stderr.contains(VARIABLE) && outcome.stderr.contains(why);
    outcome.require(
        outcome.status != 0 && is_told && !outcome.stdout.contains("left-"),
        format!("it was to leave no file, and to say: {why}"),
    )
}

/// The number of PEs that report.
const PES: usize = 3;

fn info(value: &str) -> Result<Outcome> {
    let mut oshrun = launch::oshrun(PES, &tree::prefix("bin/oshinfo"));
    oshrun.env(VARIABLE, value);
    launch::run(oshrun)
}

fn works(value: &str) -> Result {
    info(value)?.prints(&["Partition 1      64 MiB NORMALMEM"])
}

/// Checks that the job ends at its start, and that one PE says why.
fn refused(value: &str, why: &str) -> Result {
    let outcome = info(value)?;
    let told = outcome.stderr.matches(why).count();
    let names_it = outcome.stderr.contains(&format!("{VARIABLE}=\"{value}\""));
    outcome.require(
        outcome.status != 0 && told == 1 && names_it,
        format!("it was to fail and say once: {why}"),
    )
}
