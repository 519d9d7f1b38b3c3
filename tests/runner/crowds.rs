//! Jobs of very many PEs: what each does must not grow with their number, or the first to come
//! leave the machine no time to start the last.

use crate::{compile, launch, tree};
use libtest_mimic::Trial;

/// As many PEs, or as SMARTMAP has places for.
fn pes() -> usize {
    if tree::is_smartmap() { 254 } else { 1024 }
}

/// The trials.
pub fn trials() -> Vec<Trial> {
    // In the second nearly all PEs sleep until the last has come.
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
