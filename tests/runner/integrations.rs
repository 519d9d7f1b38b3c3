//! The code that connects other runtimes to the on-node layer (`node/integrations/`), as far as it can
//! run without those runtimes.

use crate::{launch, tree};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::Command;

/// Numbers of PEs in total and per node: all on one node, each on its own, and mixtures.
const JOBS: [(usize, usize); 6] = [(1, 1), (2, 2), (16, 16), (4, 1), (4, 2), (5, 3)];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let jobs = JOBS.map(|(pes, near)| {
        Trial::test(format!("integrations/sos/{pes}-by-{near}"), move || Ok(sos(pes, near)?))
    });
    // The library cannot be built with SMARTMAP's addresses.
    if tree::is_smartmap() { Vec::new() } else { jobs.into() }
}

/// Sandia OpenSHMEM's transport, with `check.c` instead of Sandia OpenSHMEM.
fn sos(pes: usize, near: usize) -> Result<(), String> {
    let mut command = Command::new(sos_program(&format!("sos-{pes}-by-{near}"))?);
    command.args([pes.to_string(), near.to_string()]);
    let ran = launch::run(command)?;
    ran.success()?;
    if ran.stdout.is_empty() && ran.stderr.is_empty() { Ok(()) } else { Err(ran.report("spoke")) }
}

fn sos_program(name: &str) -> Result<PathBuf, String> {
    let folder = tree::scratch("integrations");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let program = folder.join(name);
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-O2", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    command.arg("-I").arg(tree::prefix("include"));
    command.args(
        ["check.c", "transport_onenode.c"]
            .map(|source| tree::repository("node/integrations/sos").join(source)),
    );
    command.arg("-o").arg(&program).arg("-L").arg(tree::prefix("lib")).arg("-lonenode");
    command.arg(format!("-Wl,-rpath,{}", tree::prefix("lib").display()));
    launch::run(command)?.success()?;
    Ok(program)
}
