//! All that `oshbench` measures, with next to nothing of everything, against the build tree; and the
//! instruction counts against their limits. No time is asserted.

use std::fs::{Permissions, create_dir_all, read_to_string, write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use oneshmem_watched::Outcome;
use serde_json::Value;

/// After this time a command is taken to hang.
const PATIENCE: Duration = Duration::from_secs(600);
const TOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

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

/// Whether there are no emulated nodes here, or jobs cannot run over them.
fn no_nodes() -> bool {
    let made = Command::new("sh").args(["../tests/programs/namespaces.sh", "2", "true"]).output();
    let ucx = Command::new("sh").args(["-c", "/sbin/ldconfig -p | grep -q libucp.so.0"]).status();
    let none = !made.is_ok_and(|made| made.status.success()) || !ucx.is_ok_and(|it| it.success());
    std::env::var_os("ONESHMEM_SMARTMAP").is_some()
        || none && std::env::var_os("ONESHMEM_TEST_ALL").is_none()
}

/// The build tree's commands: `make` lays it out like an installation.
fn bin() -> String {
    let prefix = std::env::var("ONESHMEM_PREFIX").unwrap_or_else(|_| format!("{TOP}/build"));
    prefix + "/bin"
}

/// A folder for one test, empty.
fn scratch(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    create_dir_all(&folder)?;
    Ok(folder)
}

/// A command of `oshbench`, and the folder in which it has worked.
struct Done {
    outcome: Outcome,
    work: PathBuf,
}

impl Done {
    /// Runs a command at the top of the source tree, for the build tree if it names no other.
    fn run(work: &Path, environment: &[(&str, &str)], words: &[&str]) -> Result<Self, Failed> {
        let own = format!("--own=oneshmem={}", bin());
        let mut command = Command::new(env!("CARGO_BIN_EXE_oshbench"));
        command.envs(environment.iter().copied()).args(words).arg("--work").arg(work);
        command.args((!words.contains(&"--own")).then_some(own)).current_dir(TOP);
        let outcome = oneshmem_watched::run(&mut command, PATIENCE)?;
        Ok(Self { outcome, work: work.to_owned() })
    }

    /// Runs a command, which succeeds, in a folder of its own.
    fn succeeding(folder: &str, words: &[&str]) -> Result<Self, Failed> {
        let done = Self::run(&scratch(folder)?, &[], words)?;
        done.check(done.outcome.success(), "it failed")?;
        Ok(done)
    }

    fn check(&self, holds: bool, what: &str) -> Result<(), Failed> {
        let Outcome { stdout, stderr, .. } = &self.outcome;
        let ending = self.outcome.ending();
        if holds { Ok(()) } else { Err(format!("{what}; {ending}\n{stdout}\n{stderr}").into()) }
    }

    /// Checks that all these words are in a text.
    fn has(&self, text: &str, words: &[&str]) -> Result<(), Failed> {
        let mut words = words.iter();
        words.try_for_each(|word| self.check(text.contains(word), &format!("no {word}")))
    }

    fn said(&self, words: &[&str]) -> Result<(), Failed> {
        self.has(&self.outcome.stdout, words)
    }

    fn file(&self, name: &str) -> Result<String, Failed> {
        Ok(read_to_string(self.work.join(name))?)
    }

    /// What a figure's file of data holds.
    fn data(&self, figure: &str) -> Result<Value, Failed> {
        Ok(serde_json::from_str(&self.file(&format!("{figure}.json"))?)?)
    }
}

/// Each figure of `oshbench figures` that can be drawn here has a picture or a table, and says otherwise why not. Returns the
/// names of all, and the page, too.
fn drawn(name: &str, words: &[&str]) -> Result<(Done, Vec<String>, String), Failed> {
    let words = [&["figures", "--tiny", "--smartmap", "none"], words].concat();
    let done = Done::succeeding(name, &words)?;
    let list = Done::run(&done.work, &[], &[&words[..], &["--list"]].concat())?.outcome.stdout;
    let is_figure = |line: &&str| line.starts_with("  ") && !line.starts_with("  not here: ");
    let mut figures = Vec::new();
    for line in list.lines().filter(is_figure) {
        let figure = line.split_whitespace().take(2).collect::<Vec<_>>().join("-");
        let json = done.data(&figure)?;
        let has = |what: &str| json[what].as_array().is_some_and(|list| !list.is_empty());
        let is_here = !line.contains("(not here: ");
        done.check((has("points") || has("tables")) == is_here, &format!("{figure} is empty"))?;
        done.said(&[&format!("{figure}.json")])?;
        figures.push(figure);
    }
    let page = done.file("figures.html")?;
    // Nothing is loaded: the only address is SVG's namespace.
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    let alone = !elsewhere.contains("http") && !elsewhere.contains("src=");
    done.check(alone, "the page needs more")?;
    Ok((done, figures, page))
}

fn papers() -> Result<(), Failed> {
    let (done, figures, page) = drawn("figures", &[])?;
    done.check(figures.len() > 25, "too few figures are listed")?;
    done.check(page.matches("<svg").count() > 20, "no plots on the page")?;
    done.check(page.matches("this page cannot have").count() == 5, "not all papers")?;
    done.has(&page, &["paper: MPI on Cray XE6", "is ahead of", "Not as published"])?;
    done.has(&done.data("shcoll-7")?.to_string(), &["knomial"])?;
    done.has(&done.data("ondemand-9")?.to_string(), &["reached.isort"])?;
    if !no_nodes() {
        done.has(&done.data("ondemand-1")?.to_string(), &["step.network"])?;
    }
    let none = Done::run(&done.work, &[], &["figures", "mapping", "99"])?;
    let told = "there is no figure 99 of mapping here: expected one of 5, 6, 7";
    none.has(&none.outcome.stderr, &[told])
}

/// Collectives with new data beside an MPI's, and kernels in C and in Rust.
fn today() -> Result<(), Failed> {
    let mpi = on_path("mpicc.mpich");
    let with_mpi: &[&str] = &["today", "--mpi", "mpich=mpicc.mpich,mpiexec.mpich"];
    let (done, figures, page) = drawn("today", if mpi { with_mpi } else { &["today"] })?;
    done.check(figures == ["today-1", "today-2"], "not the figures of today")?;
    let words = ["oneshmem, in Rust", "kernel.permutation", "collective.sum", "Bale publishes"];
    done.has(&page, &words)?;
    done.check(page.contains("mpicc.mpich, mpiexec.mpich") == mpi, "no MPI")
}

fn whole_suite() -> Result<(), Failed> {
    let done = Done::succeeding("suite", &["run", "--tiny"])?;
    let mut points = Vec::new();
    for number in 1..=9 {
        let mut data = done.data(&format!("run-{number}"))?;
        points.append(data["points"].as_array_mut().ok_or("no points")?);
    }
    let measured = |who: &str, name: &str, pes: u64| {
        points.iter().any(|point| {
            let has_run = point["runs"].as_array().is_some_and(|runs| !runs.is_empty());
            has_run
                && point["implementation"] == who
                && point["name"] == name
                && point["pes"] == pes
        })
    };
    for (who, name) in [
        ("oneshmem", "pingpong.put"),
        ("raw", "pingpong.put"),
        ("oneshmem, inlined", "rate.p"),
        ("oneshmem", "startup.init"),
        ("oneshmem", "wall.hello"),
        ("oneshmem", "wall.true"),
    ] {
        done.check(measured(who, name, 2), &format!("no figure for {name} of {who}"))?;
    }
    // A PE alone has nobody to meet.
    let contact = [1, 2].map(|pes| measured("oneshmem", "startup.first_contact", pes));
    done.check(contact == [false, true], "a PE's contact with itself is a figure")?;
    done.has(&done.file("figures.html")?, &["<svg"])
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
    let suite = scratch("fetched")?;
    create_dir_all(suite.join("util"))?;
    write(suite.join("util/shared.h"), "double figure(int size);\n")?;
    write(suite.join("util/shared.c"), "double figure(int size) { return 0.5 * size; }\n")?;
    write(suite.join("latency.c"), PROGRAM)?;
    let (suite, peer) = (suite.display().to_string(), format!("again={}", bin()));
    let done = Done::succeeding("public", &["suite", &suite, "--tiny", "--peer", &peer])?;
    done.said(&["32.0 us", "x oneshmem"])?;
    done.has(&done.file("suite.html")?, &["<svg", "fetched, latency, with 2 PEs"])
}

/// An implementation made of these scripts.
fn commands(bin: &Path, oshcc: &str, oshrun: &str) -> Result<(), Failed> {
    create_dir_all(bin)?;
    for (name, script) in [("oshcc", oshcc), ("oshrun", oshrun)] {
        let path = bin.join(name);
        write(&path, format!("#!/bin/sh\n{script}\n"))?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn over_nodes() -> Result<(), Failed> {
    // Another implementation, whose first job never ends, and whose others fail.
    let other = scratch("other")?;
    let launcher = "[ \"$1\" = --version ] && exec echo Open MPI
                    mkdir \"$0.ran\" 2> /dev/null && exec sleep 1000";
    commands(&other, &format!("exec {}/oshcc \"$@\"", bin()), launcher)?;
    let peer = format!("hangs={}", other.display());
    let words = ["nodes", "--tiny", "--limit", "10", "--peer", &peer];
    let done = Done::succeeding("nodes", &words)?;
    done.said(&["atomic.fetch_add", "collective.sum", "startup.init", "wall.hello"])?;
    done.said(&["hangs, operations: did not end in 10 s"])
}

fn beside_neighbours() -> Result<(), Failed> {
    let peer = format!("again={}", bin());
    let done = Done::succeeding("neighbours", &["neighbours", "--tiny", "--peer", &peer])?;
    done.said(&["bound, 0", "unbound, 1", "bound, 1 apart", "pingpong.put"])
}

/// Counts; in a job with a partition on a device, over an imitation of its driver's library.
fn instructions(limits: &str, environment: Environment) -> Result<(), Failed> {
    let work = scratch(limits)?;
    let libraries = work.display().to_string();
    let mut environment = environment.to_vec();
    if environment.iter().any(|(_, value)| value.ends_with("CUDA")) {
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-shared", "-fPIC", "-pthread", "../tests/devices/libcuda.c", "-o"]);
        let outcome = oneshmem_watched::run(compiler.arg(work.join("libcuda.so.1")), PATIENCE)?;
        let made = Done { outcome, work: work.clone() };
        made.check(made.outcome.success(), "the imitation cannot be built")?;
        environment.push(("LD_LIBRARY_PATH", &libraries));
    }
    let limits = format!("bench/{limits}");
    let done = Done::run(&work, &environment, &["instructions", "--limits", &limits])?;
    done.check(done.outcome.success(), "more instructions than allowed")
}

/// Implementations whose launcher loses the job, or one whose programs print no figures: the suite ends, says so, and fails.
fn own_failures() -> Result<(), Failed> {
    let work = scratch("broken")?;
    let (bin, own) = (work.join("bin"), format!("broken={}", work.join("bin").display()));
    for (launcher, said) in [
        ("echo lost >&2; exit 7", "Failed: broken, collectives: ended with status 7: lost"),
        ("echo DONE", "Failed: broken, collectives: no figures for collective.sync_all, "),
    ] {
        commands(&bin, "exec true", launcher)?;
        let done = Done::run(&work, &[], &["run", "6", "--tiny", "--own", &own])?;
        let status = done.outcome.status.and_then(|status| status.code());
        done.check(status == Some(1), "a failure went unnoticed")?;
        done.said(&[said])?;
    }
    Ok(())
}
