//! Messages about environment variables, and when there are none.

use crate::launch::{self, Outcome};
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use std::process::Command;

/// The trials.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("variables/off", off),
        Trial::test("variables/on", on),
        Trial::test("variables/unknown", unknown),
        Trial::test("variables/as-written", as_written),
        Trial::test("variables/debug-on-one-pe", debug_on_one_pe),
    ]
}

fn run(environment: &[(&str, &str)]) -> Result<Outcome> {
    let program = compile::plain("tests/c/forgiven.c", &[])?;
    let mut command = launch::oshrun(3, &program);
    command.envs(environment.iter().copied());
    launch::run(command)
}

const SWITCHES: [&str; 6] =
    ["SHMEM_STATS", "SHMEM_DEBUG", "SHMEM_INFO", "SHMEM_VERSION", "SMA_DEBUG", "SMA_INFO"];

fn off() -> Result {
    for value in ["0", "no", "OFF", "False"] {
        run(&SWITCHES.map(|name| (name, value)))?.silent()?;
    }
    Ok(())
}

/// Any other value means on, even an empty one, as the specification requires.
fn on() -> Result {
    for name in SWITCHES {
        for value in ["1", "yes", "2", ""] {
            let outcome = run(&[(name, value)])?;
            outcome.success()?;
            outcome.require(!outcome.stderr.is_empty(), "there is nothing on standard error")?;
        }
    }
    Ok(())
}

/// Unknown names are reported once per job. Those of other implementations are not.
fn unknown() -> Result {
    let outcome = run(&[
        ("SHMEM_SYMETRIC_SIZE", "1g"),
        ("SHMEM_XYZZY", "1"),
        ("SMA_SYMMETRIC_SIZ", "1g"),
        ("SHMEM_OFI_PROVIDER", "sockets"),
        ("SHMEM_CC", "cc"),
    ])?;
    outcome.success()?;
    let expected = "\
oneshmem: PE 0: unknown variable SHMEM_SYMETRIC_SIZE; did you mean SHMEM_SYMMETRIC_SIZE?
oneshmem: PE 0: unknown variable SHMEM_XYZZY; oshinfo lists all variables
oneshmem: PE 0: unknown variable SMA_SYMMETRIC_SIZ; did you mean SMA_SYMMETRIC_SIZE?
";
    if outcome.stderr == expected { Ok(()) } else { Err(outcome.report(expected)) }
}

/// An invalid value is shown once, as the user has written it, with the name used and what was
/// expected.
fn as_written() -> Result {
    for (name, value) in [
        ("SHMEM_SYMMETRIC_SIZE", "-1"),
        ("SMA_SYMMETRIC_SIZE", " 20q"),
        ("SHMEM_SYMMETRIC_SIZE", "5000000G"),
        ("SHMEM_SYMMETRIC_HEAP_USE_HUGE_PAGES", "Perhaps"),
        ("SHMEM_BACKEND", "MEMFDX"),
        ("SHMEM_STARTUP_TIMEOUT", "1e400"),
        ("SHMEM_WAIT", "block"),
        ("SHMEM_LOCK_ORDER", "fifo"),
        ("SHMEM_MPI_PROGRESS", "on"),
        ("SHMEM_ATTACH", "early"),
        ("SHMEM_MAX_PARTITIONS", "65"),
        ("SHMEM_SYMMETRIC_HEAP_POPULATE", "2t"),
        ("SHMEM_TRANSPORT", "ud"),
        ("SHMEM_SYMMETRIC_HEAP_SIZE", "20q"),
        ("SHMEM_BCAST_ALGORITHM", "Fast"),
        ("SHMEM_TREE_DEGREE", "065"),
    ] {
        let outcome = run(&[(name, value)])?;
        let setting = format!("{name}={value}: expected ");
        let told = outcome.stderr.matches(&setting).count();
        outcome.require(
            !outcome.hung && outcome.status != 0 && told == 1,
            format!("expected one error with {setting:?}"),
        )?;
    }
    Ok(())
}

/// `SHMEM_DEBUG`'s checks need all PEs: setting it for one alone is an error, and does not cause an
/// endless wait.
fn debug_on_one_pe() -> Result {
    let program = compile::plain("tests/c/forgiven.c", &[])?;
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    let script = "case $ONESHMEM_PE in 0:*) export SHMEM_DEBUG=1;; esac; exec \"$0\"";
    command.args(["-n", "3", "sh", "-c", script]).arg(program);
    launch::run(command)?.fails(&["SHMEM_DEBUG"])
}
