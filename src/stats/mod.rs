//! Statistics: counts what a program does, for `SHMEM_STATS`, `oshrun --comm-matrix` and `--top`.
//!
//! Statistics cost nothing while they are off: the hot paths do not check for them. While they are
//! on, the translation's bounds are empty (`divert` of the translation table), so that every operation
//! takes the slow path, which counts it and then does it. [`Wait`] measures the time that a call
//! waits.
//!
//! Each PE has a [`Row`]: sums by class, a [`line`] for each routine, and sums by peer.
//!
//! Counted are puts, gets, atomics, signals and quiets, waits that had to wait (for a variable or a
//! lock), and collectives (including the barriers inside other calls, such as `shmem_malloc`). A
//! put with signal counts as a put and a signal. Not counted are fences, which only order the
//! compiler; tests, and waits that returned at once; calls that move no bytes; loads and stores
//! through `shmem_ptr`; and what collectives move between PEs: for these there is only the number
//! of bytes that each PE contributed.
#![allow(unsafe_code)]

pub(crate) mod class;
mod data;
mod destination;
mod line;
mod lost;
mod report;
mod row;
mod wait;

use crate::atomics::Ordering;
use crate::engine::{Completion, Far, STATISTICS};
use crate::env;
use crate::error::{Error, Routine as Name};
use crate::job::Job;
use crate::memory::sites;
use crate::message;
use crate::timeline;
use onenode_core::area::SharedArea;
use std::sync::OnceLock;

pub use class::{CLASSES, Class};
use destination::Destination;
pub use line::Routine;
pub use lost::{Lost, Used};
pub use report::short;
use row::Row;
pub use row::{For, Peer, Snapshot};
pub use wait::Wait;

/// This PE's row, once something is counted.
static ROW: OnceLock<Row> = OnceLock::new();

/// This PE's row, if statistics are on.
fn row() -> Option<&'static Row> {
    ROW.get()
}

/// Whether statistics are on.
#[inline]
pub fn are_taken() -> bool {
    row().is_some()
}

/// Counts one operation of a routine; `peer` is a PE of the world.
#[cold]
pub fn count(routine: Name, class: Class, bytes: usize, peer: Option<usize>) {
    if let Some(row) = row() {
        row.count(routine.name(), class, bytes, peer);
    }
}

/// Starts counting on this PE if the user or the launcher wants it. To be called before the data
/// path opens.
pub(crate) fn prepare(job: &Job) -> Result<bool, Error> {
    let control = job.control();
    let destination = Destination::of_environment()?;
    if job.pe() == 0 {
        destination.as_ref().map_or(Ok(()), Destination::check)?;
    }
    let is_recorded = timeline::prepare(job, || control.timeline(job.pe()))?;
    let wanted = is_recorded
        || destination.is_some()
        || control.job().header().statistics.load(Ordering::Relaxed) != 0;
    if wanted && !are_taken() {
        let Some(place) = control.statistics(job.pe())? else {
            message::say(format_args!("{} needs a job with a memory file", env::STATS.name));
            return Ok(false);
        };
        ROW.get_or_init(|| Row::establish(place, job.npes()));
        lost::begin();
    }
    if destination.is_some_and(|it| it.has_calls()) && job.pe() == 0 {
        sites::start();
    }
    Ok(wanted)
}

/// Records what is known only at the end. To be called before the last barrier.
pub(crate) fn conclude(job: &Job) {
    if let Some(row) = row() {
        row.note_heap(job.heap().pool().untouched());
        row.note_lost(Lost::now(job).unwrap_or_default());
    }
    timeline::conclude(job);
}

/// PE 0 prints the statistics of all PEs, which no longer change, and writes their timeline. To be called
/// after the last barrier.
pub(crate) fn print(job: &Job) {
    timeline::write(job, |pe, bytes| {
        let offset = job.control().timeline_offset(pe);
        fetch(job, pe, job.control().timeline(pe)?, offset, bytes)
    });
    // `prepare` has read the same value: it is valid.
    let Ok(Some(destination)) = Destination::of_environment() else { return };
    if job.pe() != 0 || !are_taken() {
        return;
    }
    let row = |pe| {
        let control = job.control();
        let (place, offset) = (control.statistics(pe)?, control.statistics_offset(pe));
        fetch(job, pe, place, offset, control.statistics_bytes())?;
        Snapshot::of(control, pe)
    };
    match (0..job.npes()).map(row).collect::<Result<Vec<_>, Error>>() {
        Ok(rows) => {
            let far = job.nodes().map(|nodes| {
                let rows = rows.iter().enumerate();
                let near = |pe| nodes.pes(nodes.node_of(pe));
                rows.map(|(pe, row)| row.with(|peer| !near(pe).contains(&peer))).collect()
            });
            destination.write(&report::Report { rows, far });
        }
        Err(error) => message::say(format_args!("no statistics: {error}")),
    }
}

/// Copies so many bytes of a PE on another node, at this offset of the statistics, to their place on this one.
fn fetch(
    job: &Job,
    pe: usize,
    place: Option<SharedArea>,
    offset: u64,
    bytes: usize,
) -> Result<(), Error> {
    if let (Some(engine), Some(place)) = (job.engine_to(pe), place) {
        let from = Far { pe, offset: STATISTICS + offset };
        // SAFETY: `bytes_at` checks that the place has this size, and the transfer is over at return; nothing
        // else on this node uses what that PE has there.
        unsafe { engine.get(place.bytes_at(0, bytes).as_ptr(), from, bytes, Completion::AtReturn) };
    }
    Ok(())
}
