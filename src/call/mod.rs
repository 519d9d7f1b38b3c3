//! The begin of a call of a routine: the [`job`] that it needs, its event in the timeline, and under
//! `SHMEM_DEBUG` the check that the thread level allows it. Without that, a call is not recorded.

mod current;

use crate::atomics::{AtomicBool, Ordering};
use crate::failure;
use crate::message;
use crate::pe::threads::{self, THREAD_SERIALIZED};
use crate::timeline::recorder::{self, Details, Open};
use onenode_core::sys::mutex;
use oneshmem_job::env;
use oneshmem_job::error::Routine;
use std::sync::{Mutex, MutexGuard};

pub use current::{at_once, job};

/// The call that is in progress at `SHMEM_THREAD_SERIALIZED`.
struct InProgress {
    thread: usize,
    routine: &'static str,
    /// Whether it was recorded only when it had waited for some time.
    by_wait: bool,
}

static CURRENT: Mutex<Option<InProgress>> = Mutex::new(None);

fn current() -> MutexGuard<'static, Option<InProgress>> {
    mutex::lock(&CURRENT)
}

/// A call in progress, until the value is dropped. A call inside of it, such as the barrier of an
/// allocation, is part of it.
#[must_use = "the call is over when the value is dropped"]
pub(crate) struct Call {
    recorded: bool,
    /// Its event in the timeline, if that is recorded.
    event: Option<Open>,
}

/// Begins a call. Ends the job if another thread is in one, at `SHMEM_THREAD_SERIALIZED`; says once
/// that a thread must not call at all at a lower level.
pub(crate) fn begin(routine: Routine) -> Call {
    if env::debugging() {
        check_thread(routine);
    }
    Call { recorded: record(routine.name(), false), event: recorder::open(routine.name()) }
}

impl Call {
    /// Says for the timeline what the call is.
    pub(crate) fn describe(&mut self, details: impl FnOnce() -> Details) {
        if let Some(event) = &mut self.event {
            event.describe(details());
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.recorded {
            *current() = None;
        }
    }
}

/// Records that this thread is in `routine`. False if that is recorded already, or is not of interest.
fn record(routine: &'static str, by_wait: bool) -> bool {
    if !env::debugging() || threads::level() != THREAD_SERIALIZED {
        return false;
    }
    let mut current = current();
    let thread = threads::here();
    let other = match &*current {
        None => {
            *current = Some(InProgress { thread, routine, by_wait });
            return true;
        }
        Some(call) if call.thread == thread => return false,
        Some(call) => call.routine,
    };
    drop(current); // Ending the job may make calls.
    failure::fatal(format_args!(
        "{routine}: called while another thread of this PE is in {other}, at the level \
         SHMEM_THREAD_SERIALIZED; expected one call at a time, or shmem_init_thread with \
         SHMEM_THREAD_MULTIPLE"
    ))
}

/// As [`begin`], for a call that waits and may not have been recorded before. True if it is now; then
/// the caller has to call [`end_wait`] when the wait is over.
pub(crate) fn begin_wait(routine: &'static str) -> bool {
    !routine.is_empty() && record(routine, true)
}

/// Ends what [`begin_wait`] has begun in this thread, if anything.
pub(crate) fn end_wait() {
    let mut current = current();
    if current.as_ref().is_some_and(|call| call.by_wait && call.thread == threads::here()) {
        *current = None;
    }
}

fn check_thread(routine: Routine) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if threads::is_stranger() && !TOLD.swap(true, Ordering::Relaxed) {
        message::say(format_args!(
            "{routine}: called by another thread than the one that initialised the library, at the \
             level {}; expected shmem_init_thread with SHMEM_THREAD_SERIALIZED or _MULTIPLE",
            threads::name(threads::level())
        ));
    }
}
