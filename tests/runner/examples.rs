//! The examples, run as a learner would, under every available launcher.

use crate::conformance::wanted;
use crate::launch::Running;
use crate::launchers::Launcher;
use crate::{Result, compile, launch, tree};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::Command;

/// An example, its arguments for a short run, and what it prints on success.
pub const EXAMPLES: &[(&str, &[&str], &str)] = &[
    ("hello", &[], "Hello from PE 0 of"),
    ("ring", &[], "The token came back"),
    ("queue", &["3000"], "verified"),
    ("gups", &["14"], "verified"),
    ("heat", &["60", "50"], "verified"),
    ("matmul", &["60"], "verified"),
    ("isort", &["300000"], "verified"),
];

/// The Rust examples. `families` is more of a test.
const RUST_EXAMPLES: [(&str, &str); 7] = [
    ("ring", "The token came back"),
    ("histogram", "verified"),
    ("queue", "verified"),
    ("halo", "verified"),
    ("particles", "verified"),
    ("matvec", "verified"),
    ("families", "verified"),
];

/// A trial for each example under each launcher.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for launcher in Launcher::ALL {
        for &(name, arguments, says) in EXAMPLES {
            for &pes in launcher.pes().iter().filter(|pes| wanted(**pes)) {
                let title = format!("examples/{name}/{}/{pes}", launcher.name());
                let trial =
                    Trial::test(title, move || example(launcher, name, arguments, says, pes));
                trials.push(trial.with_ignored_flag(launcher.is_absent()));
            }
        }
    }
    // They are not linked with the library that has SMARTMAP's addresses.
    for (name, says) in RUST_EXAMPLES.into_iter().filter(|_| !tree::is_smartmap()) {
        for pes in [1, 2, 4, 7, 16] {
            trials.push(Trial::test(format!("examples/rust-{name}/{pes}"), move || {
                in_rust(name, says, pes)
            }));
        }
    }
    for (keys, pes) in [("0", 3), ("1", 4), ("2", 8), ("1000", 16), ("0x1000", 5)] {
        trials.push(Trial::test(format!("examples/isort-of-{keys}/{pes}"), move || {
            example(Launcher::Oshrun, "isort", &[keys], "verified", pes)
        }));
    }
    trials
}

/// Runs a Rust program of this workspace.
fn in_rust(name: &str, says: &str, pes: usize) -> Result {
    launch::run(launch::oshrun(pes, &made_by_cargo(name)?))?.prints(&[says])
}

/// The executable of a Rust program of this workspace. Cargo has made it with the unit tests, if those
/// were built.
pub fn made_by_cargo(name: &str) -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(tree::repository("."));
    cargo.args(["build", "--quiet", "--locked", "--workspace"]);
    cargo.args(["--example", name]);
    Running::start(cargo)?.finish_within(launch::COMPILING)?.success()?;
    Ok(tree::profile()?.join("examples").join(name))
}

fn example(launcher: Launcher, name: &str, arguments: &[&str], says: &str, pes: usize) -> Result {
    let source = tree::repository(format!("examples/{name}.c"));
    let outcomes = launcher.run(pes, &compile::plain(&source, &[])?, arguments, &[])?;
    for outcome in &outcomes {
        outcome.success()?;
    }
    let output: String = outcomes.iter().map(|outcome| outcome.stdout.as_str()).collect();
    outcomes[0].require(output.contains(says), format!("it does not say {says:?}"))?;
    if name == "hello" {
        for pe in 0..pes {
            let line = format!("Hello from PE {pe} of {pes}\n");
            outcomes[0]
                .require(output.matches(&line).count() == 1, format!("expected once: {line:?}"))?;
        }
    }
    Ok(())
}
