//! How a misuse of the interface, and what the job cannot go on without, ends the job.

use crate::error::Routine;
use crate::job::abort::{self, AbortKind};
use crate::job::{self, ending};
use crate::message::say;
use crate::sys;
use std::fmt;

/// A call that cannot be carried out: says which routine, which argument with its
/// value, and what was expected, then ends the job with status 1.
#[cold]
pub fn misuse(routine: Routine, argument: impl fmt::Display, expected: impl fmt::Display) -> ! {
    fatal(format_args!("{routine}: {argument}: {expected}"))
}

/// Says why the job cannot go on and ends it with status 1. A forked child is no
/// part of the job, whatever it does: it only ends itself.
#[cold]
pub fn fatal(message: impl fmt::Display) -> ! {
    say(message);
    fatal_and_told()
}

/// As [`fatal`], when it has been said why.
#[cold]
pub fn fatal_and_told() -> ! {
    if job::is_child() {
        sys::ending::exit_now(1); // Its parent's job goes on.
    }
    if let Some(job) = job::existing() {
        abort::raise(job.control().job(), AbortKind::Fatal, job.pe(), 1);
    }
    ending::end_job(1)
}
