//! `loom`'s atomics, in place of the processor's.

pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// `loom` takes sequentially consistent accesses for acquire and release.
pub fn in_order() {
    fence(Ordering::SeqCst);
}
