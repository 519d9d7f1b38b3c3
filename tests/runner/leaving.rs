//! How processes leave a job: finalising while they end, not at all, and early.

use crate::directives::{Program, Variant};
use crate::launch::{Outcome, all_succeed};
use crate::launchers::Launcher;
use crate::{Result, compile, nodes, tree};
use libtest_mimic::Trial;

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |launcher: Launcher, name: &str, run: Box<dyn FnOnce() -> Result + Send>| {
        let name = format!("leaving/{}/{name}", launcher.name());
        trials.push(launcher.trial(name, run));
    };
    for launcher in Launcher::ALL {
        for variant in [Variant::Pie, Variant::Static] {
            for how in ["object", "handler", "program", "later"] {
                let run = move || finalises(launcher, variant, how);
                add(launcher, &format!("{how}/{}", variant.name()), Box::new(run));
            }
            let run = move || without_finalising(launcher, variant);
            add(launcher, &format!("never/{}", variant.name()), Box::new(run));
        }
        add(launcher, "early-exit-0", Box::new(move || early(launcher)));
        add(launcher, "stalled-exit-0", Box::new(move || stalled(launcher)));
    }
    trials
}

fn leave(launcher: Launcher, variant: Variant, how: &str) -> Result<Vec<Outcome>> {
    let program = Program::of(tree::repository("tests/programs/leaves.cc"));
    launcher.run(launcher.some_pes(), &compile::executable(&program, variant)?, &[how], &[])
}

/// All PEs finalise, so the job succeeds.
fn finalises(launcher: Launcher, variant: Variant, how: &str) -> Result {
    let outcomes = leave(launcher, variant, how)?;
    all_succeed(&outcomes)?;
    let pes = launcher.some_pes();
    let said = |pe: usize| {
        let line = format!("PE {pe}: {how}");
        outcomes.iter().flat_map(|outcome| outcome.stdout.lines()).any(|said| said == line)
    };
    match (0..pes).find(|pe| !said(*pe)) {
        None => Ok(()),
        Some(pe) => Err(outcomes[0].report(format!("PE {pe} has not finalised"))),
    }
}

/// No PE finalises: the job fails in each of some runs, and says why once.
fn without_finalising(launcher: Launcher, variant: Variant) -> Result {
    const RUNS: usize = 8;
    for _ in 0..RUNS {
        let outcomes = leave(launcher, variant, "never")?;
        if launcher == Launcher::None {
            all_succeed(&outcomes)?;
            continue;
        }
        let said: usize =
            outcomes.iter().map(|it| it.stderr.matches("shmem_finalize").count()).sum();
        for outcome in &outcomes {
            outcome.require(
                !outcome.hung && outcome.status == 1 && said != 0,
                "expected status 1 and a message that names shmem_finalize",
            )?;
        }
    }
    Ok(())
}

/// A PE ends the job with 0 while others start: the job's status is 0.
fn early(launcher: Launcher) -> Result {
    const RUNS: usize = 12;
    let program = nodes::program()?;
    let pes = launcher.some_pes();
    for run in 0..RUNS {
        let who = (run % pes).to_string();
        for outcome in launcher.run(pes, &program, &["global_exit", &who, "0"], &[])? {
            outcome.success()?;
        }
    }
    Ok(())
}

/// A PE that ends the job stands still before it has told the others: they still leave by themselves.
fn stalled(launcher: Launcher) -> Result {
    let program = compile::plain("tests/programs/stalls.c", &[])?;
    let pes = launcher.some_pes();
    let outcomes = launcher.run(pes, &program, &[&(pes - 1).to_string()], &[])?;
    for outcome in &outcomes {
        outcome
            .require(!outcome.stderr.contains("killing"), "a PE was killed, which had no chance")?;
    }
    all_succeed(&outcomes)
}
