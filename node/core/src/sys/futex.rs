//! Sleeping on a word in memory that processes share (`futex(2)`). The word must lie in memory of a
//! file; XPMEM attachments do not (EFAULT).

use super::raw;
use crate::atomics::AtomicU32;
use std::time::Duration;

/// The half of a 64-bit number that changes when it counts up: the kernel compares this half.
fn low_half(place: *const u64) -> *const AtomicU32 {
    place.cast::<AtomicU32>().wrapping_add(usize::from(cfg!(target_endian = "big")))
}

/// Sleeps until woken on the number at `place`, at most for `most`. Does not sleep if the number's
/// low half differs from that of `seen`. Returns false if the time is over.
pub fn sleep(place: *const u64, seen: u64, most: Duration) -> bool {
    raw::futex_wait(low_half(place), seen as u32, most)
}

/// Wakes all processes that sleep on the number at `place`.
pub fn wake_all(place: *const u64) {
    raw::futex_wake(low_half(place));
}
