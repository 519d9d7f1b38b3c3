//! Sleeping on a word of the control area until another process changes it.
#![allow(unsafe_code)]

use crate::atomics::AtomicU32;
use std::time::Duration;

/// Sleeps while `word` holds `expected`, until woken or for `limit` at most. May
/// return early; the caller looks again.
pub fn wait(word: &AtomicU32, expected: u32, limit: Duration) {
    let limit = libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: limit.subsec_nanos() as libc::c_long,
    };
    // SAFETY: `word` is a live, aligned 32-bit word and `limit` a local; without
    // FUTEX_PRIVATE the kernel compares it whichever process changes it.
    unsafe {
        libc::syscall(libc::SYS_futex, std::ptr::from_ref(word), libc::FUTEX_WAIT, expected, &limit)
    };
}

/// Wakes all who sleep on `word`.
pub fn wake_all(word: &AtomicU32) {
    // SAFETY: as for `wait`.
    unsafe { libc::syscall(libc::SYS_futex, std::ptr::from_ref(word), libc::FUTEX_WAKE, i32::MAX) };
}
