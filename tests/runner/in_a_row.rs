//! Several programs one after the other under one launcher, and PEs that join after the job is
//! over.

use crate::launch::{NO_WORDS, Outcome};
use crate::launchers::Launcher;
use crate::{Result, compile};
use libtest_mimic::Trial;
use std::path::Path;

/// The launchers that can run scripts as processes.
const WITH_SCRIPTS: [Launcher; 3] = [Launcher::Oshrun, Launcher::Hydra, Launcher::OpenMpi];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |launcher: Launcher, name: String, run: Box<dyn Fn() -> Result + Send>| {
        let name = format!("in-a-row/{}/{name}", launcher.name());
        trials.push(launcher.trial(name, run));
    };
    for launcher in WITH_SCRIPTS {
        for pes in launcher.pes().iter().copied().filter(|pes| *pes > 1) {
            add(launcher, format!("three/{pes}"), Box::new(move || three(launcher, pes)));
        }
        add(launcher, "some-go-on".into(), Box::new(move || some_go_on(launcher)));
        for how in ["unfinished", "killed"] {
            add(launcher, format!("after-{how}"), Box::new(move || after_a_failure(launcher, how)));
        }
    }
    for launcher in [Launcher::Hydra, Launcher::OpenMpi, Launcher::Slurm] {
        for (how, status) in [("0", 0), ("7", 7), ("misuse", 1), ("exit", 1)] {
            add(launcher, format!("late/{how}"), Box::new(move || late(launcher, how, status)));
        }
    }
    trials
}

/// A job of `pes` PEs, each of which runs `script`: $0 is the program, $1 its PE number.
fn job(launcher: Launcher, pes: usize, script: &str) -> Result<Outcome> {
    let program = compile::plain("tests/programs/row.c", &[])?;
    let number = "pe=${ONESHMEM_PE%%:*}; pe=${pe:-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}};";
    let script = format!("{number} {script}");
    let program = program.to_string_lossy().into_owned();
    let patience = [("SHMEM_STARTUP_TIMEOUT", "2")];
    let arguments = ["-c", &script, &program];
    let mut outcomes = launcher.run(pes, Path::new("/bin/sh"), &arguments, &patience)?;
    outcomes.pop().ok_or_else(|| "nothing was started".into())
}

/// Three programs in a row. None waits for PEs that are still leaving the previous program.
fn three(launcher: Launcher, pes: usize) -> Result {
    job(launcher, pes, "\"$0\" slowly && \"$0\" slowly && \"$0\" quickly")?.success()
}

/// PE 0 runs a second program, the others do not.
fn some_go_on(launcher: Launcher) -> Result {
    let outcome = job(launcher, 2, "\"$0\" quickly || exit; test $pe != 0 || \"$0\" quickly")?;
    let word = match launcher {
        Launcher::Oshrun => "all PEs must run the same programs",
        _ => "SHMEM_STARTUP_TIMEOUT",
    };
    outcome.fails(&[word, "PE 1"])
}

/// Remains of a program that ends badly are not mistaken for the next program's. `oshrun` ends the
/// job. Other launchers only see the scripts, whose next program is another job.
fn after_a_failure(launcher: Launcher, how: &str) -> Result {
    let outcome = job(launcher, 2, &format!("\"$0\" {how}; \"$0\" quickly"))?;
    if launcher != Launcher::Oshrun && outcome.status == 0 && outcome.stderr.contains("PE 1") {
        return Ok(());
    }
    outcome.fails(&["PE 1"])
}

/// A PE that joins after the job is over ends with its status, at once, and leaves nothing behind.
fn late(launcher: Launcher, how: &str, status: i32) -> Result {
    let program = compile::plain("tests/programs/late.c", &[])?;
    let outcomes = launcher.run(3, &program, &[how], &[("SHMEM_STARTUP_TIMEOUT", "60")])?;
    for outcome in &outcomes {
        outcome.ends(status, NO_WORDS)?;
        outcome.require(
            !outcome.stderr.contains("did not call shmem_init"),
            "expected the end of the job, not a second job",
        )?;
    }
    let is_told = outcomes.iter().any(|it| it.stderr.contains("without calling shmem_finalize"));
    outcomes[0].require(how != "exit" || is_told, "expected a message that names shmem_finalize")
}
