//! The timeline of a job, for `SHMEM_TRACE` and `oshrun --trace`: what each PE did, and when.
//!
//! As statistics, of which it is a part, it costs nothing while it is off. While it is on, each PE records
//! its calls in a ring in the job's file ([`recorder`]). At the end, PE 0 reads the rings of all PEs and writes
//! [a file](oneshmem_job::timeline). Each host has a clock of its own: [`clocks`] finds how far they are apart.

mod clocks;

use crate::message;
use crate::pe::Job;
use crate::timeline::recorder;
use onenode_core::area::SharedArea;
use onenode_core::sys::mutex;
use oneshmem_job::env;
use oneshmem_job::error::Error;
use oneshmem_job::timeline::clocks::{Clocks, Hosts};
use oneshmem_job::timeline::ring::{self, Ring};
use oneshmem_job::timeline::{rings, write_all};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Mutex;

/// The hosts' clocks, from [`conclude`] to [`write`].
static CLOCKS: Mutex<Option<Clocks>> = Mutex::new(None);

/// The file that the user wants.
fn file() -> Result<Option<PathBuf>, Error> {
    match env::TRACE.raw() {
        Some((_, value)) if value.is_empty() => Err(env::TRACE.invalid()),
        Some((_, value)) if !env::is_off(&value.to_string_lossy()) => Ok(Some(value.into())),
        _ => Ok(None),
    }
}

/// Whether the user wants a timeline. An invalid value is refused by [`prepare`].
pub(crate) fn is_wanted() -> bool {
    matches!(file(), Ok(Some(_)))
}

/// Starts recording on this PE if the user wants it. `place` gives the memory for it, if there is any.
pub(crate) fn prepare(
    job: &Job,
    place: impl FnOnce() -> Result<Option<SharedArea>, Error>,
) -> Result<bool, Error> {
    let Some(path) = file()? else { return Ok(false) };
    if job.pe() == 0 {
        // Before the job runs in vain.
        File::options()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(|error| env::TRACE.refused(format!("the file cannot be written: {error}")))?;
    }
    let Some(place) = place()? else {
        message::say(format_args!("{} needs a job with a memory file", env::TRACE.name));
        return Ok(false);
    };
    recorder::begin(place);
    Ok(true)
}

/// Ends recording. Before the last barrier, by all PEs.
pub(crate) fn conclude(job: &Job) {
    if let Some(recorder) = recorder::recorder() {
        recorder::end();
        let clocks = job.nodes().is_some().then(|| clocks::compare(job, recorder));
        *mutex::lock(&CLOCKS) = clocks;
    }
}

/// PE 0 writes what all PEs have recorded. After the last barrier. `fetch` brings the first bytes of a PE's
/// ring to this node.
pub(crate) fn write(job: &Job, fetch: impl Fn(usize, usize) -> Result<(), Error>) {
    let Ok(Some(path)) = file() else { return };
    if job.pe() != 0 || recorder::recorder().is_none() {
        return;
    }
    let clocks = mutex::lock(&CLOCKS).take();
    let read = |pe| {
        fetch(pe, ring::HEAD_BYTES)?;
        let Some(ring) = Ring::of(job.control(), pe)? else { return Ok(None) };
        fetch(pe, ring.used_bytes())?;
        Ok(Some(ring))
    };
    let written = rings(job.npes(), read).and_then(|rings| {
        let hosts = match (clocks, job.nodes()) {
            (Some(clocks), Some(nodes)) => clocks.hosts(&rings, |pe| nodes.node_of(pe)),
            _ => Hosts::one(),
        };
        write_all(&path, &rings, &hosts, program(job).as_deref())
    });
    if let Err(why) = written {
        message::say(format_args!("{}: {why}", env::TRACE.shown()));
    }
}

/// Where the program of all PEs is, if they run one and its path needs no escapes in JSON.
fn program(job: &Job) -> Option<String> {
    let path = std::env::current_exe().ok()?.into_os_string().into_string().ok()?;
    let is_plain = !path.contains(|c: char| c.is_control() || c == '"' || c == '\\');
    (is_plain && (0..job.npes()).all(|pe| job.is_near(pe) && job.runs_the_same(pe))).then_some(path)
}
