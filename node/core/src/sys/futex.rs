//! Sleeping on a word in memory that processes share (`futex(2)`). The word must lie in memory of a
//! file; XPMEM attachments do not (EFAULT).
#![allow(unsafe_code)]

use std::time::Duration;

/// The half of a 64-bit number that changes when it counts up: the kernel compares this half.
fn low_half(place: *const u64) -> *const u32 {
    place.cast::<u32>().wrapping_add(usize::from(cfg!(target_endian = "big")))
}

/// Sleeps until woken on the number at `place`, at most for `most`. Does not sleep if the number's
/// low half differs from that of `seen`.
pub fn sleep(place: *const u64, seen: u64, most: Duration) {
    let timeout = libc::timespec {
        tv_sec: most.as_secs() as libc::time_t,
        tv_nsec: most.subsec_nanos() as libc::c_long,
    };
    // SAFETY: the kernel reads the word, or fails if it cannot, and the local timeout.
    unsafe {
        libc::syscall(libc::SYS_futex, low_half(place), libc::FUTEX_WAIT, seen as u32, &timeout);
    }
}

/// Wakes all processes that sleep on the number at `place`.
pub fn wake_all(place: *const u64) {
    // SAFETY: the kernel only uses the address to find sleepers.
    unsafe {
        libc::syscall(libc::SYS_futex, low_half(place), libc::FUTEX_WAKE, i32::MAX);
    }
}
