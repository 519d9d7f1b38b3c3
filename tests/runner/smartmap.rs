//! What only a library with SMARTMAP's addresses has: the programs for the Kitten kernel,
//! started as there by their environment alone, and limits of its own.

use crate::directives::{Program, Variant};
use crate::launch::{self, Outcome, Running};
use crate::{compile, tree};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The trials; none for another library.
pub fn trials() -> Vec<Trial> {
    if !tree::is_smartmap() {
        return Vec::new();
    }
    let mut trials = vec![
        Trial::test("smartmap/position-independent", || Ok(position_independent()?)),
        Trial::test("smartmap/too-many-pes", || Ok(too_many()?)),
        Trial::test("smartmap/address-taken", || Ok(address_taken()?)),
    ];
    for name in ["smoke", "smoke-rust"] {
        trials.push(Trial::test(format!("kitten/{name}/executable"), move || {
            Ok(fixed_and_static(&program(name))?)
        }));
        for ranks in [1, 2, 4] {
            trials.push(Trial::test(format!("kitten/{name}/linux/{ranks}"), move || {
                let outcomes = run_ranks(&program(name), ranks, ranks)?;
                outcomes.iter().try_for_each(smoked)?;
                Ok(())
            }));
        }
    }
    trials
}

/// A program that `make kitten` has built.
fn program(name: &str) -> PathBuf {
    match std::env::var_os("ONESHMEM_KITTEN") {
        Some(folder) => Path::new(&folder).join(name),
        None => tree::repository("build/kitten").join(name),
    }
}

/// Runs ranks 0 to `started` of `size` with nothing but the two variables to go by.
fn run_ranks(program: &Path, started: usize, size: usize) -> Result<Vec<Outcome>, String> {
    static JOB: AtomicU32 = AtomicU32::new(0);
    // On Linux, where several jobs run at a time, a job has a name too.
    let job = JOB.fetch_add(1, Ordering::Relaxed).to_string();
    let running: Result<Vec<_>, _> = (0..started)
        .map(|rank| {
            let mut command = Command::new(program);
            command.env("PMI_RANK", rank.to_string()).env("PMI_SIZE", size.to_string());
            command.env("PMI_JOBID", &job);
            Running::start(command)
        })
        .collect();
    running?.into_iter().map(Running::finish).collect()
}

/// The program found nothing wrong, and says so.
fn smoked(outcome: &Outcome) -> Result<(), String> {
    outcome.success()?;
    match outcome.stdout.lines().last() {
        Some(line) if line.starts_with("smoke: ") && line.ends_with(" passed, 0 failed") => Ok(()),
        _ => Err(outcome.report("it does not say that nothing failed")),
    }
}

/// `ET_EXEC` without `PT_INTERP`: all that Kitten loads.
fn fixed_and_static(program: &Path) -> Result<(), String> {
    let mut command = Command::new("readelf");
    command.args(["--wide", "--file-header", "--program-headers"]).arg(program);
    let outcome = launch::run(command)?;
    outcome.success()?;
    let fixed = outcome.stdout.lines().any(|line| {
        line.trim_start().starts_with("Type:") && line.contains("EXEC (Executable file)")
    });
    if fixed && !outcome.stdout.contains("INTERP") && !outcome.stdout.contains("DYNAMIC") {
        Ok(())
    } else {
        Err(outcome.report("expected a static program at a fixed address"))
    }
}

fn refused(outcome: &Outcome, words: &[&str]) -> Result<(), String> {
    if outcome.hung || outcome.status == 0 {
        return Err(outcome.report("expected an end with an error"));
    }
    match words.iter().find(|word| !outcome.stderr.contains(**word)) {
        Some(word) => Err(outcome.report(&format!("its standard error does not say {word:?}"))),
        None => Ok(()),
    }
}

fn position_independent() -> Result<(), String> {
    for variant in [Variant::Pie, Variant::StaticPie] {
        let program = Program {
            source: tree::repository("examples/hello.c"),
            pes: vec![2],
            variants: vec![variant],
            cflags: Vec::new(),
            cases: Vec::new(),
        };
        let executable = compile::executable(&program, variant)?;
        let outcome = launch::run(launch::oshrun(2, &executable))?;
        refused(&outcome, &["shmem_init", "position independent", "-no-pie"])?;
    }
    Ok(())
}

fn too_many() -> Result<(), String> {
    let executable = compile::plain(&tree::repository("examples/hello.c"), &[])?;
    refused(&launch::run(launch::oshrun(255, &executable))?, &["255", "254"])?;
    let outcomes = run_ranks(&executable, 1, 255)?;
    outcomes.iter().try_for_each(|outcome| refused(outcome, &["255", "1 to 254 PEs"]))
}

fn address_taken() -> Result<(), String> {
    let executable = compile::plain(&tree::repository("tests/programs/taken.c"), &[])?;
    refused(&launch::run(launch::oshrun(2, &executable))?, &["0x80", "is not free"])
}
