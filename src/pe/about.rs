//! The wait of this PE, and how its record describes that to others.

use super::Job;
use crate::sys::{backtrace, symbols};
use onenode_core::collectives::words::ControlWords;
use oneshmem_job::error::Routine;
use oneshmem_job::jobfile::control::Stage;
use oneshmem_job::jobfile::waiting::{SlotPart, Wait, WaitObject};
use std::mem::offset_of;
use std::time::Duration;

/// The object of a wait, as the waiting code describes it.
#[derive(Clone, Copy, Debug, Default)]
pub enum About {
    /// Unspecified.
    #[default]
    Unsaid,
    /// The initialisation of PE `.0`.
    Initialisation(usize),
    /// A collective of a team: the counter at this address, among the control words of a team.
    Counter(Routine, usize),
    /// A collective of the active set with this first PE, distance and size.
    ActiveSet(Routine, [usize; 3]),
    /// The variable at this address.
    Variable(Routine, usize),
    /// The lock at this address.
    Lock(Routine, usize),
    /// The words that the program polls with tests.
    Tests,
    /// Nothing, as long as nobody knows better: this is not recorded.
    Nothing,
}

impl About {
    /// The routine that waits; empty if there is none.
    pub(crate) fn routine(self) -> &'static str {
        match self {
            Self::Counter(routine, _)
            | Self::ActiveSet(routine, _)
            | Self::Variable(routine, _)
            | Self::Lock(routine, _) => routine.name(),
            _ => "",
        }
    }

    /// The number of the variable that is waited for; 0 if it is none.
    pub(crate) fn place(self, job: &Job) -> u64 {
        match self {
            Self::Variable(_, address) => place_number(job, address),
            _ => 0,
        }
    }

    /// The object of the wait in the record; `None` if nothing is recorded.
    fn what(self, job: &Job) -> Option<WaitObject> {
        Some(match self {
            Self::Nothing => return None,
            Self::Unsaid => WaitObject::Unsaid,
            Self::Initialisation(pe) => WaitObject::Initialisation(pe),
            Self::Counter(_, address) => member(job, address),
            Self::ActiveSet(_, set) => WaitObject::ActiveSet(set),
            Self::Variable(_, address) => {
                let (part, offset) = place(job, address);
                WaitObject::Variable { part, offset }
            }
            Self::Lock(_, address) => {
                let (part, offset) = place(job, address);
                WaitObject::Lock { part, offset }
            }
            Self::Tests => WaitObject::Tests,
        })
    }
}

/// The part of the slot that a symmetric address is in, and its offset there.
fn place(job: &Job, address: usize) -> (SlotPart, usize) {
    let (part, segment) = job.segment_of(address);
    (part, address.wrapping_sub(segment.start))
}

/// The place of a symmetric address as one number, which is not 0 and the same on all PEs.
pub(crate) fn place_number(job: &Job, address: usize) -> u64 {
    let (part, offset) = place(job, address);
    (part.encode() + 1) << 48 | offset as u64
}

/// The PE and the team whose control word is at this address.
fn member(job: &Job, address: usize) -> WaitObject {
    let Some(bytes) = address.checked_sub(job.control.team(0).as_ptr() as usize) else {
        return WaitObject::Unsaid;
    };
    let (index, within) = (bytes / size_of::<ControlWords>(), bytes % size_of::<ControlWords>());
    let (team, pe) = (index / job.npes + 1, index % job.npes);
    let notified = offset_of!(ControlWords, notifications)..offset_of!(ControlWords, mailboxes);
    if notified.contains(&within) {
        WaitObject::Notification { team }
    } else {
        WaitObject::Member { team, pe }
    }
}

/// Records that this PE has waited this long, after so many earlier records of the wait. If several of its
/// threads wait, the last to write wins. Names, which take long to find, are looked up for the second record
/// only: beside busy processes, short waits come to a first one.
#[cold]
pub(crate) fn note(job: &Job, about: About, lasted: Duration, earlier: u8) {
    let Some(what) = about.what(job) else { return };
    let record = &job.control.pe(job.pe).waiting;
    if earlier == 0 {
        record.describe(what, None, None);
    } else if earlier == 1 {
        let variable = match about {
            About::Variable(_, at) | About::Lock(_, at) if what.is_static() => {
                symbols::variable_at(at)
            }
            _ => None,
        };
        record.describe(what, variable, backtrace::called_at());
    }
    record.write(what, about.routine(), lasted);
}

/// Clears the record: the wait is over.
#[cold]
pub(crate) fn forget(job: &Job) {
    job.control.pe(job.pe).waiting.clear();
}

/// This PE's own wait, if it is waiting. Safe in a signal handler.
pub(crate) fn own(job: &Job) -> Option<Wait> {
    let record = job.control.pe(job.pe);
    record.waiting.read().filter(|_| record.stage() == Stage::Ready)
}
