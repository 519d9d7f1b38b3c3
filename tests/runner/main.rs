//! The test binary: collects the trials of every family and runs them.

use libtest_mimic::{Arguments, Trial};
use oneshmem_tests::{filters, launch, tree};
use std::collections::BTreeMap;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Trials wait half of their time, though each is a job of several processes.
    let cpus = std::thread::available_parallelism().map_or(2, usize::from);
    arguments.test_threads.get_or_insert((2 * cpus).min(8));
    let mut trials: Vec<Trial> = oneshmem_tests::trials();
    trials.extend(filters::trials(trials.iter().map(|trial| trial.name().to_owned()).collect()));
    if let Err(why) = filters::check(&arguments, &trials) {
        eprintln!("error: {why}");
        return ExitCode::from(2);
    }
    if tree::prepared().is_some() {
        return prepare(arguments, trials);
    }
    println!("seed of this run: CHECK_SEED={}", launch::seed());
    let trials = if arguments.list { trials } else { spread(trials) };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The trials of all families by turns, each family from the first to the last turn: some wait most of the time, and
/// some compile.
fn spread(trials: Vec<Trial>) -> Vec<Trial> {
    let mut families: BTreeMap<String, Vec<Trial>> = BTreeMap::new();
    for trial in trials {
        let family = trial.name().split('/').next().unwrap_or_default().to_owned();
        families.entry(family).or_default().push(trial);
    }
    let mut turns = Vec::new();
    for trials in families.into_values() {
        let of = trials.len() as f64;
        turns.extend(trials.into_iter().enumerate().map(|(at, trial)| (at as f64 / of, trial)));
    }
    turns.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    turns.into_iter().map(|(_, trial)| trial).collect()
}

/// Compiles what the selected trials run. A trial ends where it would start a program, so what it
/// compiles after that is not made; its results mean nothing.
fn prepare(mut arguments: Arguments, trials: Vec<Trial>) -> ExitCode {
    arguments.logfile = Some("/dev/null".into());
    let _ = libtest_mimic::run(&arguments, trials);
    let unbuilt = launch::unbuilt();
    unbuilt.iter().for_each(|why| eprintln!("{why}"));
    if unbuilt.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
