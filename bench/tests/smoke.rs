//! The whole suite once, with next to nothing of everything, against the build tree; and the
//! instruction counts against their limits. No time is asserted.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use oneshmem_watched::Outcome;

/// After this time a command is taken to hang.
const PATIENCE: Duration = Duration::from_secs(600);

type Environment = &'static [(&'static str, &'static str)];

/// Instructions that are counted: what of, their limits, and the environment in which the program is made and runs.
const COUNTED: [(&str, &str, Environment); 4] = [
    ("instructions", "instructions.txt", &[("SHMEM_CC", "cc")]),
    ("inlined instructions", "instructions-inline.txt", &[("SHMEM_CC", "cc -DSHMEM_INLINE")]),
    (
        "instructions beside a partition",
        "instructions-partitions.txt",
        &[("SHMEM_CC", "cc"), ("SHMEM_SYMMETRIC_PARTITION1", "64M")],
    ),
    (
        "instructions beside a device",
        "instructions-devices.txt",
        &[("SHMEM_CC", "cc"), ("SHMEM_SYMMETRIC_PARTITION1", "64M:KIND=CUDA")],
    ),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("the whole suite, tiny", whole_suite),
        Trial::test("figures of the papers, tiny", papers),
        Trial::test("jobs over nodes compared, tiny", over_nodes).with_ignored_flag(no_nodes()),
        Trial::test("jobs beside neighbours compared, tiny", beside_neighbours),
        Trial::test("figures of today, tiny", today),
        Trial::test("a public suite, tiny", public_suite),
        Trial::test("failures of the own implementation are failures", own_failures),
    ];
    let no_valgrind = !on_path("valgrind") && std::env::var_os("ONESHMEM_TEST_ALL").is_none();
    let is_smartmap = std::env::var_os("ONESHMEM_SMARTMAP").is_some();
    for (what, limits, environment) in COUNTED {
        // With SMARTMAP's addresses, there is a file for the first alone.
        let limits = if is_smartmap { "instructions-smartmap.txt" } else { limits };
        let name = format!("{what} stay within their limits");
        let trial = Trial::test(name, || instructions(limits, environment));
        let left_out = no_valgrind || is_smartmap && what != COUNTED[0].0;
        trials.push(trial.with_ignored_flag(left_out));
    }
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

/// `oshbench` at the top of the source tree, for the build tree, under a watchdog.
fn oshbench(environment: &[(&str, &str)], arguments: &[&str]) -> Result<Outcome, Failed> {
    let own = format!("oneshmem={}", bin().display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_oshbench"));
    command.envs(environment.iter().copied()).args(arguments);
    if !arguments.contains(&"--own") {
        command.args(["--own", &own]);
    }
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    Ok(oneshmem_watched::run(&mut command, PATIENCE)?)
}

fn check(holds: bool, what: &str, outcome: &Outcome) -> Result<(), Failed> {
    if holds {
        return Ok(());
    }
    Err(format!("{what}; {}\n{}\n{}", outcome.ending(), outcome.stdout, outcome.stderr).into())
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

/// What a figure's file of data holds.
fn data(work: &str, file: &str) -> Result<serde_json::Value, Failed> {
    Ok(serde_json::from_str(&std::fs::read_to_string(format!("{work}/{file}.json"))?)?)
}

/// Each figure of `oshbench figures ARGUMENTS` that can be drawn here has a picture or a table, and says otherwise why not. Returns
/// what was printed, the names, the page and the folder.
fn drawn(arguments: &[&str], name: &str) -> Result<(Outcome, Vec<String>, String, String), Failed> {
    let work = scratch(name)?.display().to_string();
    let arguments =
        [&["figures", "--tiny", "--smartmap", "none", "--work", &work], arguments].concat();
    let outcome = oshbench(&[], &arguments)?;
    check(outcome.success(), "the figures failed", &outcome)?;
    let list = oshbench(&[], &[&arguments[..], &["--list"]].concat())?.stdout;
    let is_figure = |line: &&str| line.starts_with("  ") && !line.starts_with("  not here: ");
    let mut files = Vec::new();
    for line in list.lines().filter(is_figure) {
        let file = line.split_whitespace().take(2).collect::<Vec<_>>().join("-");
        let json = data(&work, &file)?;
        let has = |what: &str| json[what].as_array().is_some_and(|list| !list.is_empty());
        let is_here = !line.contains("(not here: ");
        let fits = (has("points") || has("tables")) == is_here;
        check(fits, &format!("{file} is empty"), &outcome)?;
        check(
            outcome.stdout.contains(&format!("{file}.json")),
            &format!("{file} is not named"),
            &outcome,
        )?;
        files.push(file);
    }
    let page = std::fs::read_to_string(format!("{work}/figures.html"))?;
    // Nothing is loaded: the only address is SVG's namespace.
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    let alone = !elsewhere.contains("http") && !elsewhere.contains("src=");
    check(alone, "the page needs more", &outcome)?;
    Ok((outcome, files, page, work))
}

fn papers() -> Result<(), Failed> {
    let (outcome, files, page, work) = drawn(&[], "figures")?;
    check(files.len() > 25, "too few figures are listed", &outcome)?;
    check(page.matches("<svg").count() > 20, "no plots on the page", &outcome)?;
    check(page.matches("this page cannot have").count() == 5, "not all papers", &outcome)?;
    for words in ["paper: MPI on Cray XE6", "is ahead of", "Not as published"] {
        check(page.contains(words), &format!("no {words}"), &outcome)?;
    }
    // Not everywhere are nodes, and counts of single instructions.
    let by_step = on_path("valgrind") && cfg!(target_arch = "x86_64");
    for (figure, row, is_here) in [
        ("shcoll-7", "knomial", true),
        ("ondemand-1", "step.network", !no_nodes()),
        ("oshmpi-table-1", "put 4 B (shmem_putmem)", by_step),
        ("oshmpi-table-1", "quiet (shmem_quiet)", by_step),
    ] {
        let has = data(&work, figure)?.to_string().contains(row);
        check(has || !is_here, &format!("{figure} has no {row}"), &outcome)?;
    }
    let none = oshbench(&[], &["figures", "mapping", "99"])?;
    let told = none.stderr.contains("mapping has no figure 99 here: expected one of 5, 6, 7");
    check(told, "no error", &none)
}

/// Collectives with new data beside an MPI's, and kernels in C and in Rust.
fn today() -> Result<(), Failed> {
    let mpi = on_path("mpicc.mpich");
    let with_mpi: &[&str] = &["today", "--mpi", "mpich=mpicc.mpich,mpiexec.mpich"];
    let (outcome, files, page, _) = drawn(if mpi { with_mpi } else { &["today"] }, "today")?;
    check(files == ["today-1", "today-2"], "not the figures of today", &outcome)?;
    let words = ["oneshmem, in Rust", "kernel.permutation", "collective.sum", "Bale publishes"];
    check(words.iter().all(|word| page.contains(word)), "no kernels on the page", &outcome)?;
    check(page.contains("mpicc.mpich, mpiexec.mpich") == mpi, "no MPI", &outcome)
}

fn whole_suite() -> Result<(), Failed> {
    let work = scratch("suite")?.display().to_string();
    let outcome = oshbench(&[], &["run", "--tiny", "--work", &work])?;
    check(outcome.success(), "the suite failed", &outcome)?;
    let mut points = Vec::new();
    for number in (1..8).chain([9]) {
        let json = data(&work, &format!("run-{number}"))?;
        points.extend(json["points"].as_array().ok_or("no points")?.clone());
    }
    for (who, name) in [
        ("oneshmem", "pingpong.put"),
        ("raw", "pingpong.put"),
        ("oneshmem, inlined", "rate.p"),
        ("oneshmem", "startup.init"),
        ("oneshmem", "wall.hello"),
        ("oneshmem", "wall.true"),
    ] {
        let is_it = |point: &serde_json::Value| {
            let runs = point["runs"].as_array();
            let measured = runs.is_some_and(|runs| !runs.is_empty());
            point["implementation"] == who && point["name"] == name && measured
        };
        check(points.iter().any(is_it), &format!("no figure for {name} of {who}"), &outcome)?;
    }
    // A PE alone has nobody to meet.
    let alone =
        |point: &serde_json::Value| point["name"] == "startup.first_contact" && point["pes"] == 1;
    check(!points.iter().any(alone), "a PE's contact with itself is a figure", &outcome)?;
    let page = std::fs::read_to_string(format!("{work}/figures.html"))?;
    check(page.contains("<svg"), "no plots", &outcome)
}

const PROGRAM: &str = r##"#include <shmem.h>
#include <stdio.h>
#include "shared.h"
int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0)
        printf("# Size Latency (us)\n8 %f\n64 %f\n", figure(8), figure(64));
    shmem_finalize();
    return 0;
}
"##;

/// A suite as users fetch one: programs that print two columns, with code that they share.
fn public_suite() -> Result<(), Failed> {
    let folder = scratch("public")?;
    let (suite, work) = (folder.join("fetched"), folder.join("work").display().to_string());
    std::fs::create_dir_all(suite.join("util"))?;
    for (file, text) in [
        ("util/shared.h", "double figure(int size);\n"),
        (
            "util/shared.c",
            "#include \"shared.h\"\ndouble figure(int size) { return 0.5 * size; }\n",
        ),
        ("latency.c", PROGRAM),
    ] {
        std::fs::write(suite.join(file), text)?;
    }
    let (suite, peer) = (suite.display().to_string(), format!("again={}", bin().display()));
    let outcome = oshbench(&[], &["suite", &suite, "--tiny", "--peer", &peer, "--work", &work])?;
    let has = outcome.stdout.contains("32.0 us") && outcome.stdout.contains("x oneshmem");
    check(outcome.success() && has, "the suite is not measured", &outcome)?;
    let page = std::fs::read_to_string(format!("{work}/suite.html"))?;
    let drawn = page.contains("<svg") && page.contains("fetched, latency, with 2 PEs");
    check(drawn, "no page", &outcome)
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
    // Another implementation, whose first job never ends, and whose others fail.
    let other = Path::new(&work).join("other");
    let compiler = format!("exec {}/oshcc \"$@\"", bin().display());
    let launcher = "[ \"$1\" = --version ] && exec echo Open MPI
                    mkdir \"$0.ran\" 2> /dev/null && exec sleep 1000";
    commands(&other, &compiler, launcher)?;
    let peer = format!("hangs={}", other.display());
    let outcome =
        oshbench(&[], &["nodes", "--tiny", "--limit", "10", "--peer", &peer, "--work", &work])?;
    let words = ["atomic.fetch_add", "collective.sum", "startup.init", "wall.hello"];
    let rows = words.iter().all(|word| outcome.stdout.contains(word));
    check(outcome.success() && rows, "jobs over nodes are not measured", &outcome)?;
    let told = outcome.stdout.contains("hangs, operations: did not end in 10 s");
    check(told, "jobs that hang are not reported", &outcome)
}

fn beside_neighbours() -> Result<(), Failed> {
    let work = scratch("neighbours")?.display().to_string();
    let peer = format!("again={}", bin().display());
    let outcome = oshbench(&[], &["neighbours", "--tiny", "--peer", &peer, "--work", &work])?;
    let words = ["bound, 0", "unbound, 1", "bound, 1 apart", "pingpong.put"];
    let rows = words.iter().all(|word| outcome.stdout.contains(word));
    check(outcome.success() && rows, "jobs beside neighbours are not measured", &outcome)
}

/// Counts; in a job with a partition on a device, over an imitation of its driver's library.
fn instructions(limits: &str, environment: &[(&str, &str)]) -> Result<(), Failed> {
    let folder = scratch(limits)?;
    let (work, limits) = (folder.display().to_string(), format!("bench/{limits}"));
    let mut environment = environment.to_vec();
    if environment.iter().any(|(_, value)| value.ends_with("CUDA")) {
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-shared", "-fPIC", "-pthread", "../tests/devices/libcuda.c", "-o"]);
        let made = oneshmem_watched::run(compiler.arg(folder.join("libcuda.so.1")), PATIENCE)?;
        check(made.success(), "the imitation cannot be built", &made)?;
        environment.push(("LD_LIBRARY_PATH", &work));
    }
    let outcome = oshbench(&environment, &["instructions", "--work", &work, "--limits", &limits])?;
    check(outcome.success(), "more instructions than allowed", &outcome)
}

/// Implementations whose launcher loses the job, or one whose programs print no figures: the suite ends, says so, and fails.
fn own_failures() -> Result<(), Failed> {
    let work = scratch("broken")?;
    for (launcher, said) in [
        ("echo lost >&2; exit 7", "Failed: broken, collectives: ended with status 7: lost"),
        ("echo DONE", "Failed: broken, collectives: no figures for collective.sync_all, "),
    ] {
        let broken = work.join("bin");
        commands(&broken, "exec true", launcher)?;
        let (own, work) = (format!("broken={}", broken.display()), work.display().to_string());
        let outcome = oshbench(&[], &["run", "6", "--tiny", "--own", &own, "--work", &work])?;
        let fails = outcome.status.and_then(|status| status.code()) == Some(1);
        check(fails && outcome.stdout.contains(said), "a failure went unnoticed", &outcome)?;
    }
    Ok(())
}
