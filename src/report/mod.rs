//! Reports on a job at its end: the statistics of all PEs, for `SHMEM_STATS`, and their timeline, for
//! `SHMEM_TRACE`.
#![allow(unsafe_code)]

mod data;
mod destination;
mod text;
pub mod timeline;

use crate::atomics::Ordering;
use crate::heap::sites;
use crate::message;
use crate::pe::Job;
use destination::Destination;
use oneshmem_job::env;
use oneshmem_job::error::Error;
use oneshmem_job::remote::{Completion, Far, STATISTICS};
use text::Report;

use crate::stats;
use oneshmem_job::stats::Snapshot;

use onenode_core::area::SharedArea;

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
    if wanted && !stats::are_taken() {
        let Some(place) = control.statistics(job.pe())? else {
            message::say(format_args!("{} needs a job with a memory file", env::STATS.name));
            return Ok(false);
        };
        stats::begin(place, job.npes());
    }
    if destination.is_some_and(|it| it.has_calls()) && job.pe() == 0 {
        sites::start();
    }
    Ok(wanted)
}

/// Records what is known only at the end. To be called before the last barrier.
pub(crate) fn conclude(job: &Job) {
    stats::conclude(job);
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
    if job.pe() != 0 || !stats::are_taken() {
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
            destination.write(&Report { rows, far });
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
