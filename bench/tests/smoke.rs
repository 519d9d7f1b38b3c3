//! The whole suite once, with next to nothing of everything, against the build tree; and the
//! instruction counts against their limits. No time is asserted.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Failed, Trial};

/// Seconds after which a command is taken to hang.
const PATIENCE: &str = "400";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let no_valgrind = !on_path("valgrind") && std::env::var_os("ONESHMEM_TEST_ALL").is_none();
    let no_mpi = !on_path("mpicc.mpich") && std::env::var_os("ONESHMEM_TEST_ALL").is_none();
    let trials = vec![
        Trial::test("the whole suite, tiny", whole_suite),
        Trial::test("figures of the papers, tiny", papers),
        Trial::test("jobs over nodes compared, tiny", over_nodes).with_ignored_flag(no_nodes()),
        Trial::test("jobs beside neighbours compared, tiny", beside_neighbours),
        Trial::test("applications compared, tiny", applications).with_ignored_flag(no_mpi),
        Trial::test("instructions stay within their limits", instructions)
            .with_ignored_flag(no_valgrind),
        Trial::test("inlined instructions stay within their limits", inlined_instructions)
            .with_ignored_flag(no_valgrind || std::env::var_os("ONESHMEM_SMARTMAP").is_some()),
        Trial::test("instructions beside a partition stay within their limits", beside_a_partition)
            .with_ignored_flag(no_valgrind || std::env::var_os("ONESHMEM_SMARTMAP").is_some()),
        Trial::test("instructions beside a device stay within their limits", beside_a_device)
            .with_ignored_flag(no_valgrind || std::env::var_os("ONESHMEM_SMARTMAP").is_some()),
        Trial::test("failures of the own implementation are failures", own_failures),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}

/// The build tree: `make` lays it out like an installation.
fn bin() -> PathBuf {
    let prefix = std::env::var_os("ONESHMEM_PREFIX").map(PathBuf::from);
    prefix.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../build")).join("bin")
}

/// `oshbench` in this folder, under a watchdog.
fn oshbench(arguments: &[&str]) -> Result<Output, Failed> {
    oshbench_with(&[], arguments)
}

/// The same, with more environment.
fn oshbench_with(environment: &[(&str, &str)], arguments: &[&str]) -> Result<Output, Failed> {
    let output = Command::new("timeout")
        .envs(environment.iter().copied())
        .args(["--kill-after=10", PATIENCE, env!("CARGO_BIN_EXE_oshbench")])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()?;
    Ok(output)
}

fn check(holds: bool, what: &str, output: &Output) -> Result<(), Failed> {
    if holds {
        return Ok(());
    }
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("{what}; {}\n{out}\n{err}", output.status).into())
}

/// A folder for one test, empty.
fn scratch(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// `oshbench figures` with these arguments.
fn figures(arguments: &[&str], work: &str) -> Result<Output, Failed> {
    let own = format!("oneshmem={}", bin().display());
    let places =
        ["--own", &own, "--sources", "programs", "--examples", "../examples", "--apps", "apps"];
    let more =
        ["--work", work, "--script", "../tests/programs/namespaces.sh", "--smartmap", "none"];
    oshbench(&[&["figures"], arguments, &places[..], &more[..]].concat())
}

/// Every figure that can be drawn here has a picture or a table, and says otherwise why not.
fn papers() -> Result<(), Failed> {
    let work = scratch("figures")?.display().to_string();
    let output = figures(&["--tiny", "--repeats", "1"], &work)?;
    check(output.status.success(), "the figures failed", &output)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let list = figures(&["--list"], &work)?;
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let absent = |line: &&str| line.starts_with("  not here: ");
    check(list.lines().filter(absent).count() >= 5, "nothing is said to be absent", &output)?;
    let names: Vec<&str> =
        list.lines().filter(|line| line.starts_with("  ") && !absent(line)).collect();
    check(names.len() > 25, "too few figures are listed", &output)?;
    for name in names {
        let mut words = name.split_whitespace();
        let file =
            format!("{}-{}", words.next().ok_or("no paper")?, words.next().ok_or("no number")?);
        let json: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(format!("{work}/{file}.json"))?)?;
        let has = |what: &str| json[what].as_array().is_some_and(|list| !list.is_empty());
        let drawn = has("points") || has("tables");
        check(drawn != name.contains("(not here: "), &format!("{file} is empty"), &output)?;
        check(text.contains(&format!("{file}.json")), &format!("{file} is not named"), &output)?;
    }
    let page = std::fs::read_to_string(format!("{work}/figures.html"))?;
    check(page.matches("<svg").count() > 20, "no plots on the page", &output)?;
    check(page.contains("paper: MPI on Cray XE6"), "no published figures", &output)?;
    check(page.contains("ahead of") && page.contains("Not as in the paper"), "no claims", &output)?;
    check(page.matches("this page cannot have").count() == 5, "not all papers", &output)?;
    let none = figures(&["mapping", "99"], &work)?;
    let told = String::from_utf8_lossy(&none.stderr);
    check(
        told.contains("mapping has no figure 99 here: expected one of 5, 6, 7"),
        "no error",
        &none,
    )
}

fn applications() -> Result<(), Failed> {
    let work = scratch("apps")?;
    let (work, own) = (work.display().to_string(), format!("oneshmem={}", bin().display()));
    let arguments = ["apps", "--tiny", "--repeats", "1", "--own", &own, "--work", &work];
    let folders = ["--sources", "apps", "--examples", "../examples"];
    let mpi = ["--mpi", "mpich=mpicc.mpich,mpiexec.mpich"];
    let output = oshbench(&[&arguments[..], &folders[..], &mpi[..]].concat())?;
    check(output.status.success(), "the comparison failed", &output)?;
    let text = String::from_utf8_lossy(&output.stdout);
    // Five programs with four numbers of PEs, each beside MPI and OpenMP.
    check(text.matches("OpenMP ").count() >= 20, "not all points are there", &output)?;
    check(text.contains("of 20 points"), "no closing line", &output)
}

fn whole_suite() -> Result<(), Failed> {
    let work = scratch("suite")?;
    let (work, own) = (work.display().to_string(), format!("oneshmem={}", bin().display()));
    let output =
        oshbench(&["run", "--tiny", "--own", &own, "--sources", "programs", "--work", &work])?;
    check(output.status.success(), "the suite failed", &output)?;

    let json = format!("{work}/report.json");
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&json)?)?;
    let points = report["points"].as_array().ok_or("no points")?;
    for (implementation, name) in [
        ("oneshmem", "pingpong.put"),
        ("oneshmem", "msgrate.put"),
        ("oneshmem", "bandwidth.get_both"),
        ("oneshmem", "rate.g.double"),
        ("oneshmem", "contended.fetch_add.long"),
        ("oneshmem", "collective.alltoalls"),
        ("oneshmem", "activeset.sum"),
        ("oneshmem", "startup.hello"),
        ("oneshmem", "oversubscribed.ring"),
        ("raw", "raw.pingpong.tight"),
        ("raw", "raw.copy_both.memcpy"),
        ("raw", "raw.msgrate"),
        ("raw", "raw.contended.fetch_add"),
        ("oneshmem", "strided.iput.from_strided"),
        ("raw", "raw.strided.both_strided.any"),
        ("raw", "raw.true"),
    ] {
        let found = points.iter().any(|point| {
            point["implementation"] == implementation
                && point["name"] == name
                && point["runs"].as_array().is_some_and(|runs| !runs.is_empty())
        });
        check(found, &format!("no figure for {name} of {implementation}"), &output)?;
    }
    // A PE alone has nobody to meet.
    let alone =
        |point: &serde_json::Value| point["name"] == "startup.first_contact" && point["pes"] == 1;
    check(!points.iter().any(alone), "a PE's contact with itself is a figure", &output)?;
    let page = std::fs::read_to_string(format!("{work}/report.html"))?;
    check(page.contains("<svg"), "no plots on the page", &output)?;
    Ok(())
}

/// Whether there are no emulated nodes here, or jobs cannot run over them.
fn no_nodes() -> bool {
    let made = Command::new("sh").args(["../tests/programs/namespaces.sh", "2", "true"]).output();
    let ucx = Command::new("sh").args(["-c", "/sbin/ldconfig -p | grep -q libucp.so.0"]).status();
    let none = !made.is_ok_and(|made| made.status.success()) || !ucx.is_ok_and(|it| it.success());
    std::env::var_os("ONESHMEM_SMARTMAP").is_some()
        || none && std::env::var_os("ONESHMEM_TEST_ALL").is_none()
}

/// An implementation made of these scripts.
fn commands(bin: &Path, oshcc: &str, oshrun: &str) -> Result<(), Failed> {
    std::fs::create_dir_all(bin)?;
    for (name, script) in [("oshcc", oshcc), ("oshrun", oshrun)] {
        let path = bin.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n"))?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn over_nodes() -> Result<(), Failed> {
    let work = scratch("nodes")?.display().to_string();
    let own = format!("oneshmem={}", bin().display());
    let script = "../tests/programs/namespaces.sh";
    let places = ["--own", &own, "--sources", "programs", "--work", &work, "--script", script];
    // Another implementation, whose first job never ends, and whose others fail.
    let other = Path::new(&work).join("other");
    let compiler = format!("exec {}/oshcc \"$@\"", bin().display());
    let launcher = "[ \"$1\" = --version ] && exec echo Open MPI
                    mkdir \"$0.ran\" 2> /dev/null && exec sleep 1000";
    commands(&other, &compiler, launcher)?;
    let peer = format!("hangs={}", other.display());
    let some = ["nodes", "--tiny", "--repeats", "1", "--limit", "10", "--peer", &peer];
    let output = oshbench(&[&some, &places[..]].concat())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let words = [
        "nodes.fetch_add_computing",
        "nodes.put_bandwidth",
        "nodes.reduce",
        "nodes.put.packets",
        "startup.init",
        "startup.hello",
    ];
    let rows = words.iter().all(|word| text.contains(word));
    check(output.status.success() && rows, "jobs over nodes are not measured", &output)?;
    let told = text.contains("hangs, facts: did not end in 10 s");
    check(told, "jobs that hang are not reported", &output)
}

fn beside_neighbours() -> Result<(), Failed> {
    let work = scratch("neighbours")?.display().to_string();
    let own = format!("oneshmem={}", bin().display());
    let peer = format!("again={}", bin().display());
    let output = oshbench(&[
        "neighbours",
        "--tiny",
        "--own",
        &own,
        "--peer",
        &peer,
        "--sources",
        "programs",
        "--work",
        &work,
    ])?;
    let text = String::from_utf8_lossy(&output.stdout);
    let words = ["0, bound", "1, bound", "1 apart, bound", "64 KiB there and back", "of 6 points"];
    let rows = words.iter().all(|word| text.contains(word));
    check(output.status.success() && rows, "jobs beside neighbours are not measured", &output)
}

fn instructions() -> Result<(), Failed> {
    let smartmap = std::env::var_os("ONESHMEM_SMARTMAP").is_some();
    instructions_within(
        if smartmap { "instructions-smartmap.txt" } else { "instructions.txt" },
        &[("SHMEM_CC", "cc")],
    )
}

fn inlined_instructions() -> Result<(), Failed> {
    instructions_within("instructions-inline.txt", &[("SHMEM_CC", "cc -DSHMEM_INLINE")])
}

fn beside_a_partition() -> Result<(), Failed> {
    instructions_within(
        "instructions-partitions.txt",
        &[("SHMEM_CC", "cc"), ("SHMEM_SYMMETRIC_PARTITION1", "64M")],
    )
}

/// In a job with a partition on a device, over an imitation of its driver's library.
fn beside_a_device() -> Result<(), Failed> {
    let folder = scratch("driver")?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-pthread", "../tests/devices/libcuda.c", "-o"]);
    let made = compiler.arg(folder.join("libcuda.so.1")).output()?;
    check(made.status.success(), "the imitation cannot be built", &made)?;
    instructions_within(
        "instructions-devices.txt",
        &[
            ("SHMEM_CC", "cc"),
            ("SHMEM_SYMMETRIC_PARTITION1", "64M:KIND=CUDA"),
            ("LD_LIBRARY_PATH", &folder.display().to_string()),
        ],
    )
}

/// Counts in a program that is made and runs in this environment.
fn instructions_within(limits: &str, environment: &[(&str, &str)]) -> Result<(), Failed> {
    let work = scratch(limits)?.display().to_string();
    let own = format!("oneshmem={}", bin().display());
    let arguments = ["--own", &own, "--sources", "programs", "--work", &work, "--limits", limits];
    let output = oshbench_with(environment, &[&["instructions"], &arguments[..]].concat())?;
    check(output.status.success(), "more instructions than allowed", &output)
}

/// An implementation whose launcher loses the job: the suite ends, says so, and fails.
fn own_failures() -> Result<(), Failed> {
    let work = scratch("broken")?;
    let broken = work.join("bin");
    commands(&broken, "exec cc \"$@\"", "echo lost >&2; exit 7")?;
    // A program that builds with any compiler.
    let sources = work.join("sources");
    std::fs::create_dir(&sources)?;
    for name in ["facts", "strided"] {
        std::fs::write(sources.join(name).with_extension("c"), "int main(void) { return 0; }\n")?;
    }
    let own = format!("broken={}", broken.display());
    let (sources, work) = (sources.display().to_string(), work.display().to_string());
    let places = ["--own", &own, "--sources", &sources, "--work", &work];
    let output = oshbench(&[&["run", "--tiny", "--only", "strided"], &places[..]].concat())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    check(
        output.status.code() == Some(1)
            && text.contains("Failed: broken, strided: ended with status 7: lost"),
        "a lost job went unnoticed",
        &output,
    )
}
