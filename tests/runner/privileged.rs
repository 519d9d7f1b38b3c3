//! A program with the set-user-ID bit trusts nothing that the user who starts it can choose.

use crate::directives::{Program, Variant};
use crate::launch::{self, Outcome};
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::Command;

/// A user who owns nothing, `nobody` on most systems.
const OTHER: &str = "65534";

/// The trials. Ignored unless run by root, who alone can change a file's owner.
pub fn trials() -> Vec<Trial> {
    let forbidden = !nix::unistd::geteuid().is_root();
    [Trial::test("privileged/launcher", launcher), Trial::test("privileged/variables", variables)]
        .into_iter()
        .map(|trial| trial.with_ignored_flag(forbidden))
        .collect()
}

/// The program, installed for another user in its own folder until this is dropped.
struct Installed(PathBuf);

impl Installed {
    fn new(name: &str) -> Result<Self> {
        let source = tree::repository("tests/programs/privileged.c");
        let program = Program::of(source);
        let from = compile::executable(&program, Variant::Static)?;
        let installed = Self(tree::scratch(format!("privileged-{name}-{}", std::process::id())));
        // Not written by this process: one that it starts meanwhile would have the file open, which then is busy.
        let mut install = Command::new("install");
        install.args(["-m", "4755", "-o", OTHER, "-g", OTHER]).arg(from).arg(&installed.0);
        launch::run(install)?.success()?;
        Ok(installed)
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn alone(outcome: &Outcome, jobs: usize) -> Result {
    if outcome.status == 77 {
        println!("skipped: files on this file system cannot give rights (nosuid)");
        return Ok(());
    }
    outcome.success()?;
    outcome.require(
        outcome.stdout == "PE 0 of 1, sum 2, heap as ever\n".repeat(jobs),
        format!("expected {jobs} jobs of one PE"),
    )
}

/// `oshrun` passes a file that its user can write. Another launcher's variables name a meeting
/// point that its user can access.
fn launcher() -> Result {
    let program = Installed::new("launcher")?;
    let outcome = launch::run(launch::oshrun(2, &program.0))?;
    alone(&outcome, 2)?;
    if outcome.status == 0 && !outcome.stderr.contains("ONESHMEM_PE is ignored") {
        return Err(outcome.report("it does not say that it is alone, and why"));
    }
    let mut command = Command::new(&program.0);
    command.env("PMI_RANK", "1").env("PMI_SIZE", "2").env("SHMEM_STARTUP_TIMEOUT", "1");
    alone(&launch::run(command)?, 1)
}

/// Values that would end the program, or make it print or read something, if they were used.
fn variables() -> Result {
    let program = Installed::new("variables")?;
    let mut command = Command::new(&program.0);
    for (name, value) in [
        ("SHMEM_SYMMETRIC_SIZE", "nonsense"),
        ("SHMEM_BACKEND", "nonsense"),
        ("SHMEM_REDUCE_ALGORITHM", "nonsense"),
        ("SHMEM_TUNING", "/nonexistent/tuning"),
        ("SHMEM_NONSENSE", "1"),
        ("SHMEM_INFO", "1"),
        ("SHMEM_STATS", "1"),
        ("SMA_VERSION", "1"),
    ] {
        command.env(name, value);
    }
    let outcome = launch::run(command)?;
    alone(&outcome, 1)?;
    outcome.require(outcome.stderr.is_empty(), "it read a variable")
}
