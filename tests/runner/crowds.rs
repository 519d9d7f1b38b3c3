//! Jobs of very many PEs. The work of each PE must not grow with their number, or the first PEs
//! leave the machine no time to start the last.

use crate::{compile, launch, tree};
use libtest_mimic::Trial;

/// The number of PEs: many, or as many as SMARTMAP has slots for.
fn pes() -> usize {
    if tree::is_smartmap() { 254 } else { 1024 }
}

/// The trials.
pub fn trials() -> Vec<Trial> {
    // With the second algorithm nearly all PEs sleep until the last has arrived.
    let algorithms = ["auto", "dissemination"];
    algorithms
        .map(|algorithm| Trial::test(format!("crowds/{algorithm}"), move || Ok(meet(algorithm)?)))
        .into()
}

fn meet(algorithm: &str) -> Result<(), String> {
    let program = compile::plain(&tree::repository("tests/programs/crowd.c"), &[])?;
    let pes = pes();
    let mut command = launch::oshrun(pes, &program);
    command.env("SHMEM_BARRIER_ALGORITHM", algorithm);
    let outcome = launch::run(command)?;
    outcome.success()?;
    match outcome.stdout == format!("{pes} met\n") {
        true => Ok(()),
        false => Err(outcome.report("expected all PEs to meet")),
    }
}
