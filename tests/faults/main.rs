//! Runs a campaign of random faults: `faults [--seed N] [--count N] [--only INDEX] [--kind KIND]`.

use oneshmem_tests::faults::{Counts, End, FaultKind, run};
use oneshmem_tests::launch;
use std::process::ExitCode;

const USAGE: &str = "usage: faults [--seed N] [--count TRIALS] [--only TRIAL] [--kind \
    ends|signals|variables|tuning|control-area|far-ends|far-signals]";

struct Options {
    seed: u64,
    trials: std::ops::Range<u64>,
    kinds: Vec<FaultKind>,
}

fn options() -> Option<Options> {
    let mut options = Options {
        seed: launch::seed().parse().unwrap_or(1),
        trials: 0..20,
        kinds: FaultKind::ALL.to_vec(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next()?;
        match option.as_str() {
            "--seed" => options.seed = value.parse().ok()?,
            "--count" => options.trials = 0..value.parse().ok()?,
            "--only" => {
                let index: u64 = value.parse().ok()?;
                options.trials = index..index + 1;
            }
            "--kind" => {
                options.kinds.retain(|kind| kind.name() == value);
                options.kinds.first()?;
            }
            _ => return None,
        }
    }
    Some(options)
}

fn main() -> ExitCode {
    let Some(Options { seed, trials, kinds }) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    println!("seed {seed}; {} trials of each kind", trials.end - trials.start);
    let mut problems = false;
    for kind in kinds {
        let mut counts = Counts::default();
        for index in trials.clone() {
            let report = match run(seed, index, kind) {
                Ok(report) => report,
                Err(error) => {
                    eprintln!("{}", error.message().unwrap_or_default());
                    return ExitCode::FAILURE;
                }
            };
            counts.add(&report);
            let again = format!("--seed {seed} --kind {} --only {index}", kind.name());
            match &report.end {
                Ok(End::Well | End::Named | End::Misled | End::Stuck) => {}
                Ok(End::Unnamed) => println!("unnamed: {} ({again})", report.what),
                Err(problem) => {
                    problems = true;
                    println!("{} ({again}): {problem}\n", report.what);
                }
            }
        }
        println!("{}: {counts}", kind.name());
    }
    if problems { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
