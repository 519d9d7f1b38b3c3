//! Thread levels (specification, section 9.2): how many threads of this PE may call the library.

use crate::atomics::{AtomicI32, Ordering};

/// `SHMEM_THREAD_SINGLE`.
pub const THREAD_SINGLE: i32 = 0;
/// `SHMEM_THREAD_FUNNELED`.
pub const THREAD_FUNNELED: i32 = 1;
/// `SHMEM_THREAD_SERIALIZED`.
pub const THREAD_SERIALIZED: i32 = 2;
/// `SHMEM_THREAD_MULTIPLE`.
pub const THREAD_MULTIPLE: i32 = 3;

static LEVEL: AtomicI32 = AtomicI32::new(THREAD_SINGLE);

/// The level of the current lifetime.
pub(crate) fn level() -> i32 {
    LEVEL.load(Ordering::Relaxed)
}

/// Sets the level, at initialisation.
pub(super) fn set_level(level: i32) {
    LEVEL.store(level, Ordering::Relaxed);
}
