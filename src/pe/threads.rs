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
pub(crate) const UNKNOWN: u32 = 0;
pub(crate) const ONE: u32 = 1;
pub(crate) const SEVERAL: u32 = 2;

/// A level's name.
pub(crate) fn name(level: i32) -> &'static str {
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
pub(crate) fn here() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// Whether this thread must not call the library: it did not initialise it, and the level is that of
/// one thread only.
pub(crate) fn is_stranger() -> bool {
    level() < THREAD_SERIALIZED && FIRST.load(Ordering::Relaxed) != here()
}

/// The level of the current lifetime.
pub(crate) fn level() -> i32 {
    LEVEL.load(Ordering::Relaxed)
}

impl Job {
    /// Sets this PE's level, at initialisation.
    pub(crate) fn set_thread_level(&self, level: i32) {
        LEVEL.store(level, Ordering::Relaxed);
        FIRST.store(here(), Ordering::Relaxed);
        self.control.pe(self.pe).thread_level.store(level, Ordering::Relaxed);
        self.calls.store(UNKNOWN, Ordering::Relaxed);
    }
}

/// Comparisons of the levels of PEs on several nodes: at most one in a lifetime of the library.
#[derive(Debug, Default)]
pub(crate) struct Comparisons {
    /// How many there have been.
    pub(crate) made: u64,
    /// In how many of them other nodes had a PE with `SHMEM_THREAD_MULTIPLE`, each node counted.
    pub(crate) multiple: u64,
}
