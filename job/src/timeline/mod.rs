//! Events of PEs with their times, as recorded for `SHMEM_TRACE` and `oshrun --trace`: in a ring in the job's file for
//! each PE ([`ring`]), from which PE 0 or the launcher makes a file in the "Trace Event Format" that Perfetto reads
//! ([`json`]), with arrows from an update of a variable to the wait that it ended ([`arrows`]). Each host has a clock
//! of its own: [`clocks`] says how far they are apart.

mod arrows;
pub mod clocks;
pub mod event;
mod json;
pub mod ring;

use crate::error::Error;
use crate::jobfile::control::Control;
use clocks::Hosts;
pub use json::{CALLED, PROGRAM};
use ring::Ring;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes what the PEs of a program of a job on this machine have recorded, whether it has ended well or not. For
/// the launcher.
///
/// # Errors
/// The job's file cannot be read, or the file not written.
pub fn write_of(control: &Control, path: &Path) -> Result<(), String> {
    let rings = rings(control.npes(), |pe| Ring::of(control, pe))?;
    write_all(path, &rings, &Hosts::one(), None)
}

/// The rings of all PEs.
///
/// # Errors
/// In words, the first of `read`.
pub fn rings(
    npes: usize,
    read: impl Fn(usize) -> Result<Option<Ring>, Error>,
) -> Result<Vec<Option<Ring>>, String> {
    let rings = (0..npes).map(read).collect::<Result<_, Error>>();
    rings.map_err(|error| error.to_string())
}

/// Writes a file with these rings of PEs on these hosts. `program`: where the program is that they run.
///
/// # Errors
/// In words, why it cannot be written.
pub fn write_all(
    path: &Path,
    rings: &[Option<Ring>],
    hosts: &Hosts,
    program: Option<&str>,
) -> Result<(), String> {
    let written = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        json::write(&mut file, rings, hosts, program)?;
        file.flush()
    };
    written().map_err(|error| error.to_string())
}
