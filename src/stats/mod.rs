//! What a program does, counted: `SHMEM_STATS` and `oshrun --comm-matrix`.
//!
//! While nothing is counted, nothing is paid: the hot paths know nothing of this.
//! While it is, the translation's bounds are empty ([`Table::divert`]), so that every
//! operation takes the slow path, which counts and then does it. Waiting is timed by
//! [`Wait`], where a call has to wait.
//!
//! [`Table::divert`]: crate::translate::Table::divert
//!
//! Counted are puts, gets, atomics, signals and quiets, waits that had to wait (for a
//! variable or a lock), and collectives (the barriers inside others, such as
//! `shmem_malloc`, too). A put with signal is a put and a signal. Not counted: fences, which
//! are nothing but an order to the compiler; tests, and waits that were over at once; calls
//! that move no bytes; loads and stores through `shmem_ptr`; what collectives move between
//! PEs, of which there is a number of bytes that each PE gave.
#![allow(unsafe_code)]

mod report;
mod row;
mod wait;

use crate::atomics::{AtomicPtr, Ordering};
use crate::engine::{Far, Over, STATISTICS};
use crate::env;
use crate::error::Error;
use crate::job::Job;
use crate::message;
use row::Row;
pub use row::{CLASSES, Class, For, Peer, Snapshot};
pub use wait::Wait;

/// This PE's row; null while nothing is counted.
static ROW: AtomicPtr<Row> = AtomicPtr::new(std::ptr::null_mut());

/// This PE's row, if there is counting.
fn row() -> Option<&'static Row> {
    // SAFETY: null, or a row that stays mapped for the life of the process.
    unsafe { ROW.load(Ordering::Acquire).as_ref() }
}

/// Whether there is counting.
#[inline]
pub fn are_taken() -> bool {
    row().is_some()
}

/// Counts one operation; `peer` is a PE of the world.
#[cold]
pub fn count(class: Class, bytes: usize, peer: Option<usize>) {
    if let Some(row) = row() {
        row.count(class, bytes, peer);
    }
}

/// Counts this PE from now on, if the user or the launcher wants it. Before the data path
/// opens.
pub(crate) fn prepare(job: &Job) -> Result<bool, Error> {
    let control = job.control();
    let wanted =
        env::STATS.is_on() || control.job().header().statistics.load(Ordering::Relaxed) != 0;
    if wanted && !are_taken() {
        let Some(place) = control.statistics(job.pe())? else {
            message::say(format_args!("{} needs a job with a memory file", env::STATS.name));
            return Ok(false);
        };
        // SAFETY: `place` is this PE's row, zero or written by an earlier lifetime, mapped
        // from now on.
        unsafe { Row::establish(place, job.npes()) };
        ROW.store(place.as_ptr().cast(), Ordering::Release);
    }
    Ok(wanted)
}

/// Notes what is known only in the end. Before the last barrier.
pub(crate) fn conclude(job: &Job) {
    if let Some(row) = row() {
        row.note_heap(job.heap().pool().untouched());
    }
}

/// PE 0 prints all PEs' statistics, which no longer change. After the last barrier.
pub(crate) fn print(job: &Job) {
    if job.pe() == 0 && are_taken() && env::STATS.is_on() {
        let row = |pe| {
            fetch(job, pe)?;
            Snapshot::of(job.control(), pe)
        };
        match (0..job.npes()).map(row).collect::<Result<Vec<_>, Error>>() {
            Ok(rows) => {
                let far = job.nodes().map(|nodes| {
                    let rows = rows.iter().enumerate();
                    let near = |pe| nodes.pes(nodes.node_of(pe));
                    rows.map(|(pe, row)| row.with(|peer| !near(pe).contains(&peer))).collect()
                });
                message::say(report::Report { rows, far });
            }
            Err(error) => message::say(format_args!("no statistics: {error}")),
        }
    }
}

/// Brings the row of a PE of another node to its place on this one.
fn fetch(job: &Job, pe: usize) -> Result<(), Error> {
    let control = job.control();
    if let (Some(engine), Some(place)) = (job.engine_to(pe), control.statistics(pe)?) {
        let from = Far { pe, offset: STATISTICS + control.statistics_offset(pe) };
        let bytes = control.statistics_room();
        // SAFETY: mapped for good, so large; nobody else on this node has to do with that PE's row.
        unsafe { engine.get(place.as_ptr(), from, bytes, Over::AtReturn) };
    }
    Ok(())
}
