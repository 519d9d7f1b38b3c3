//! The cost of `shmem_init` stays flat: it makes the same number of system calls,
//! whether there are 2 PEs or 64.

use crate::{compile, launch, tree};
use libtest_mimic::Trial;
use std::path::Path;

/// The one trial; it watches with strace.
pub fn trials() -> Vec<Trial> {
    let trial = Trial::test("system-calls/init", || Ok(same_number()?));
    vec![trial.with_ignored_flag(tree::skip_without("strace"))]
}

fn same_number() -> Result<(), String> {
    let few = calls(2)?;
    let many = calls(64)?;
    println!("system calls in shmem_init: {} with 2 PEs, {} with 64", few.len(), many.len());
    if few.len() == many.len() {
        return Ok(());
    }
    Err(format!("with 2 PEs:\n{}\nwith 64 PEs:\n{}", few.join("\n"), many.join("\n")))
}

/// The calls of the PE that made most.
fn calls(pes: usize) -> Result<Vec<String>, String> {
    let executable = compile::plain(&tree::repository("tests/programs/init_calls.c"), &[])?;
    let folder = tree::scratch(&format!("strace-{pes}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let strace = tree::find("strace").ok_or("strace is not installed")?;
    let mut command = launch::oshrun(pes, &strace);
    command.args(["-ff", "-o"]).arg(folder.join("pe")).arg(executable);
    let result = launch::run(command)?.success().and_then(|()| read(&folder, pes));
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn read(folder: &Path, pes: usize) -> Result<Vec<String>, String> {
    let mut traces = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())?.flatten() {
        let text = std::fs::read_to_string(entry.path()).map_err(|error| error.to_string())?;
        let Some((_, rest)) = text.split_once("close(-1001)") else { continue };
        let (inside, _) = rest.split_once("close(-1002)").ok_or("shmem_init did not end")?;
        traces.push(inside.lines().skip(1).map(str::to_owned).collect::<Vec<_>>());
    }
    if traces.len() != pes {
        return Err(format!("{} traces of {pes} PEs were found", traces.len()));
    }
    traces.into_iter().max_by_key(Vec::len).ok_or_else(|| "no traces".into())
}
