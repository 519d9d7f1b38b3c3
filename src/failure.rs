//! Ends the job on misuse of the API and on errors from which the job cannot continue.

pub mod ending;
pub(crate) mod fault;

use crate::message::{say, say_caller};
use crate::pe;
use onenode_core::sys::process;
use oneshmem_job::error::Routine;
use oneshmem_job::jobfile::abort::{self, AbortKind};
use std::fmt;

/// Ends the job with status 1 because of an invalid call. The message gives the routine, the
/// argument with its value, and what was expected.
#[cold]
pub fn misuse(routine: Routine, argument: impl fmt::Display, expected: impl fmt::Display) -> ! {
    fatal(format_args!("{routine}: {argument}: {expected}"))
}

/// Reports why the job cannot continue, and where the program has called, and ends it with status 1. A forked child is not part of the
/// job: it ends only itself.
#[cold]
pub fn fatal(message: impl fmt::Display) -> ! {
    say(message);
    say_caller(None);
    fatal_and_reported()
}

/// As [`fatal`], if there is a reason in a routine.
pub fn if_any(routine: Routine, reason: Option<impl fmt::Display>) {
    if let Some(reason) = reason {
        fatal(format_args!("{routine}: {reason}"));
    }
}

/// As [`fatal`], when the reason has already been reported.
#[cold]
pub fn fatal_and_reported() -> ! {
    if pe::is_child() {
        process::exit_now(1); // Its parent's job goes on.
    }
    if let Some(job) = pe::existing() {
        abort::raise(job.control().job(), AbortKind::Fatal, job.pe(), 1);
    }
    ending::end_job(1)
}
