//! The imitation of CUDA's driver, whose memory faults on every load and store, and programs that run
//! over it.

use crate::{Result, compile, launch, tree};
use std::path::PathBuf;
use std::process::Command;

/// Asks for the partition of the programs in `tests/devices`.
pub const VARIABLE: &str = "SHMEM_SYMMETRIC_PARTITION1";

/// Names the folder of a real driver, which takes the imitation's place (`make test-devices`).
pub const REAL: &str = "ONESHMEM_TEST_DRIVER";

/// The folder of the imitation, or of the real driver.
pub fn driver() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os(REAL) {
        return Ok(folder.into());
    }
    let folder = tree::scratch("devices");
    let target = folder.join("libcuda.so.1");
    let from = ["libcuda.c", "reach.c"].map(|name| tree::repository("tests/devices").join(name));
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread"]);
    compiler.arg("-o").arg(&target).args(&from);
    compile::made(&target, &from, compiler)?;
    Ok(folder)
}

/// Variables with which a program written for the processor's memory runs over a
/// device's.
pub fn environment() -> Result<[(&'static str, PathBuf); 3]> {
    let folder = driver()?;
    let library = folder.join("libcuda.so.1");
    Ok([("LD_LIBRARY_PATH", folder), ("LD_PRELOAD", library), ("IMITATION_REACH", "1".into())])
}

/// Starts a program of `tests/devices` with this partition.
pub fn start(name: &str, pes: usize, value: &str) -> Result<Command> {
    let source = tree::repository(format!("tests/devices/{name}.c"));
    let mut oshrun = launch::oshrun(pes, &compile::plain(&source, &[])?);
    oshrun.env(VARIABLE, value).env("LD_LIBRARY_PATH", driver()?);
    Ok(oshrun)
}
