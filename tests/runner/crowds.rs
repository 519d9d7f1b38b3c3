//! Jobs of very many PEs. The work of each PE must not grow with their number, or the first PEs
//! leave the machine no time to start the last.

use crate::conformance::wanted_pes;
use crate::{Result, compile, launch, tree};
use libtest_mimic::Trial;

/// The number of PEs: many, or as many as SMARTMAP has slots for. In an emulated machine, where 1024
/// take many minutes, the largest number that is wanted there.
fn pes() -> usize {
    match wanted_pes().filter(|_| compile::is_elsewhere()) {
        Some(wanted) => wanted.into_iter().max().unwrap_or(1),
        None if tree::is_smartmap() => 254,
        None => 1024,
    }
}

/// The trials.
pub fn trials() -> Vec<Trial> {
    // With the second algorithm nearly all PEs sleep until the last has arrived.
    let algorithms = ["auto", "dissemination"];
    let name = |algorithm| format!("crowds/{algorithm}/{}", pes());
    algorithms.map(|algorithm| Trial::test(name(algorithm), move || meet(algorithm))).into()
}

fn meet(algorithm: &str) -> Result {
    let program = compile::plain("tests/programs/crowd.c", &[])?;
    let pes = pes();
    let mut command = launch::oshrun(pes, &program);
    command.env("SHMEM_BARRIER_ALGORITHM", algorithm);
    let outcome = launch::run(command)?;
    outcome.success()?;
    outcome.require(outcome.stdout == format!("{pes} met\n"), "expected all PEs to meet")
}
