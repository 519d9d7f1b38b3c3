//! Which PEs are alive: each holds a lock on one byte of the job's file for as long as its program
//! runs (`sys::life`).

use super::JobFile;
use super::control::{Control, Stage};
use crate::atomics::Ordering;
use crate::error::Error;
use crate::sys;
use onenode_core::sys::life::{self, Holder};
use onenode_core::sys::process;
use std::ops::Range;
use std::sync::Arc;

/// Words for a PE that is no longer part of the job although it has not finalised.
pub const REPLACED: &str = "has started another program (exec) without calling shmem_finalize";

/// The state of a PE's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It is running.
    Alive,
    /// It is running another program (exec).
    Replaced,
    /// It has ended.
    Ended,
}

/// Shows that this process, PE `pe`, is alive.
pub fn show(job: &JobFile, pe: usize) -> Result<(), Error> {
    if job.has_file() {
        life::show(job.file()?, pe as u64)?;
    }
    job.sign_as_member(pe);
    Ok(())
}

/// The state of PE `pe`, which has begun a program and is not this process.
pub fn of(job: &JobFile, pe: usize) -> Result<Life, Error> {
    if !job.has_file() {
        let pid = job.member(pe).pid.load(Ordering::Relaxed);
        let alive = pid != 0 && pid != process::pid() && process::exists(pid as i32);
        return Ok(if alive { Life::Alive } else { Life::Ended });
    }
    let file = match job.file() {
        Ok(file) => file,
        // All processes have closed it: then the process's number has to do.
        Err(error) => match job.pid(pe) {
            Some(_) if is_running(job, pe) => return Ok(Life::Alive),
            Some(_) if job.member(pe).started.load(Ordering::Relaxed) != 0 => {
                return Ok(Life::Ended);
            }
            _ => return Err(error.into()),
        },
    };
    Ok(match life::holder(file, pe as u64)? {
        Holder::Nobody if is_running(job, pe) => Life::Replaced,
        Holder::Nobody => Life::Ended,
        Holder::Somebody | Holder::Process(_) => Life::Alive,
    })
}

/// Whether PE `pe`, on this node, runs another program although it has not finalised.
pub fn is_replaced(file: &Arc<JobFile>, pe: usize) -> bool {
    let replaced = || matches!(of(file, pe), Ok(Life::Replaced));
    let control = || Control::last(file, pe).ok().flatten();
    // Checked again: it may have finalised, become another program and initialised.
    replaced() && control().is_some_and(|last| last.pe(pe).stage() == Stage::Ready) && replaced()
}

/// Whether the process that was last PE `pe` is still running, whichever program.
fn is_running(job: &JobFile, pe: usize) -> bool {
    let started = job.member(pe).started.load(Ordering::Relaxed);
    started != 0 && job.pid(pe).is_some_and(|pid| process::is_running(pid, started))
}

/// Lets PE `pe` know that the job has ended, by SIGTERM. A PE that is not initialised would die of
/// the signal, which its launcher could take for the reason; it looks by itself when it initialises.
pub fn notify_end(control: &Control, pe: usize) {
    let job = control.job();
    if control.pe(pe).stage() == Stage::Ready && matches!(of(job, pe), Ok(Life::Alive)) {
        signal(job, pe, libc::SIGTERM);
    }
}

/// Lets PEs of this range except `own` know that the job has ended.
pub fn notify_all(control: &Control, pes: Range<usize>, own: usize) {
    pes.filter(|pe| *pe != own).for_each(|pe| notify_end(control, pe));
}

/// Sends a signal to the process of PE `pe`, if it is still running.
pub fn signal(job: &JobFile, pe: usize, signal: i32) {
    if let Some(pid) = job.pid(pe) {
        let is_meant = || is_running(job, pe) || matches!(of(job, pe), Ok(Life::Alive));
        sys::signal::signal_if(pid as i32, signal, is_meant);
    }
}
