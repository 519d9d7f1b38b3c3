//! Statistics: counts what a program does, for `SHMEM_STATS`, `oshrun --comm-matrix` and `--top`.
//!
//! Statistics cost nothing while they are off: the hot paths do not check for them. While they are
//! on, the translation's bounds are empty (`divert` of the translation table), so that every operation
//! takes the slow path, which counts it and then does it. [`Wait`](crate::pause::Wait) measures
//! the time that a call waits.
//!
//! Each PE has a [`Row`]: sums by class, a line for each routine, and sums by peer.
//!
//! Counted are puts, gets, atomics, signals and quiets, waits that had to wait (for a variable or a
//! lock), and collectives (including the barriers inside other calls, such as `shmem_malloc`). A
//! put with signal counts as a put and a signal. Not counted are fences, which only order the
//! compiler; tests, and waits that returned at once; calls that move no bytes; loads and stores
//! through `shmem_ptr`; and what collectives move between PEs: for these there is only the number
//! of bytes that each PE contributed.

use crate::pe::Job;
use onenode_core::area::SharedArea;
use onenode_core::sys::process;
use oneshmem_job::error::Routine;
use oneshmem_job::stats::{Class, LostTime, ProcessUsage, Row};
use std::sync::OnceLock;

/// This PE's row, once something is counted.
static ROW: OnceLock<Row> = OnceLock::new();

/// The CPU time that this PE had used when counting began; `None` inside if the system does not tell.
static BEGUN: OnceLock<Option<ProcessUsage>> = OnceLock::new();

/// This PE's row, if statistics are on.
pub(crate) fn row() -> Option<&'static Row> {
    ROW.get()
}

/// Whether statistics are on.
#[inline]
pub fn are_taken() -> bool {
    row().is_some()
}

/// Counts one operation of a routine; `peer` is a PE of the world.
#[cold]
pub fn count(routine: Routine, class: Class, bytes: usize, peer: Option<usize>) {
    if let Some(row) = row() {
        row.count(routine.name(), class, bytes, peer);
    }
}

/// Starts counting on this PE, in this memory.
pub(crate) fn begin(place: SharedArea, npes: usize) {
    ROW.get_or_init(|| Row::establish(place, npes));
    BEGUN.get_or_init(|| ProcessUsage::of(process::pid()));
}

/// Records what is known only at the end.
pub(crate) fn conclude(job: &Job) {
    if let Some(row) = row() {
        row.note_heap(job.heap().pool().untouched());
        row.note_lost(lost(job).unwrap_or_default());
        row.note_reached(job.reached());
    }
}

/// The time that this PE has lost so far; `None` if the system does not tell.
fn lost(job: &Job) -> Option<LostTime> {
    job.note_cpu();
    let (before, now) = (BEGUN.get()?.as_ref()?, ProcessUsage::of(process::pid())?);
    let file = job.control().job();
    // All that they have ever used: what they had used at the beginning is little.
    let used = |peer| file.pid(peer).map(process::time_of);
    LostTime::between(job.control(), job.pe(), [before, &now], used)
}
