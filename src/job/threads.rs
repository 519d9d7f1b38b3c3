//! Thread levels (specification, section 9.2): how many threads of this PE may call the library.

use super::Job;
use crate::atomics::{AtomicI32, AtomicUsize, Ordering};
use std::cell::Cell;

/// `SHMEM_THREAD_SINGLE`.
pub const THREAD_SINGLE: i32 = 0;
/// `SHMEM_THREAD_FUNNELED`.
pub const THREAD_FUNNELED: i32 = 1;
/// `SHMEM_THREAD_SERIALIZED`.
pub const THREAD_SERIALIZED: i32 = 2;
/// `SHMEM_THREAD_MULTIPLE`.
pub const THREAD_MULTIPLE: i32 = 3;

static LEVEL: AtomicI32 = AtomicI32::new(THREAD_SINGLE);

// How many library calls a PE makes at a time: `Job::calls`.
pub(super) const UNKNOWN: u32 = 0;
const ONE: u32 = 1;
const SEVERAL: u32 = 2;

/// A level's name.
pub(super) fn name(level: i32) -> &'static str {
    match level {
        THREAD_SINGLE => "SHMEM_THREAD_SINGLE",
        THREAD_FUNNELED => "SHMEM_THREAD_FUNNELED",
        THREAD_SERIALIZED => "SHMEM_THREAD_SERIALIZED",
        _ => "SHMEM_THREAD_MULTIPLE",
    }
}

thread_local! {
    /// Its address is that of a thread, as long as the thread lives.
    static HERE: Cell<u8> = const { Cell::new(0) };
}

/// The thread that began the current lifetime.
static FIRST: AtomicUsize = AtomicUsize::new(0);

/// A number of this thread, as long as it lives.
pub(super) fn here() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// Whether this thread must not call the library: it did not initialise it, and the level is that of
/// one thread only.
pub(super) fn is_stranger() -> bool {
    level() < THREAD_SERIALIZED && FIRST.load(Ordering::Relaxed) != here()
}

/// The level of the current lifetime.
pub(crate) fn level() -> i32 {
    LEVEL.load(Ordering::Relaxed)
}

impl Job {
    /// Sets this PE's level, at initialisation.
    pub(super) fn set_thread_level(&self, level: i32) {
        LEVEL.store(level, Ordering::Relaxed);
        FIRST.store(here(), Ordering::Relaxed);
        self.control.pe(self.pe).thread_level.store(level, Ordering::Relaxed);
        self.calls.store(UNKNOWN, Ordering::Relaxed);
    }

    /// Whether each PE makes one library call at a time: all PEs are on this node, and none has
    /// `SHMEM_THREAD_MULTIPLE`. All PEs get the same answer. The first call in a lifetime waits until
    /// all PEs have initialised.
    #[inline]
    pub(crate) fn has_one_call_at_a_time(&self) -> bool {
        match self.calls.load(Ordering::Relaxed) {
            UNKNOWN => self.compare_levels(),
            calls => calls == ONE,
        }
    }

    #[cold]
    fn compare_levels(&self) -> bool {
        let is_multiple = |pe| {
            self.await_begun(pe);
            self.control.pe(pe).thread_level.load(Ordering::Relaxed) == THREAD_MULTIPLE
        };
        let one = self.engine.is_none() && !(0..self.npes).any(is_multiple);
        self.calls.store(if one { ONE } else { SEVERAL }, Ordering::Relaxed);
        one
    }
}
