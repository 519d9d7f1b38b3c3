//! Signals: to other processes, and kept from threads.
#![allow(unsafe_code)]

use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill};
use nix::unistd::Pid;
use onenode_core::sys::{raw, suspend};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Sends a signal to the process `pid` if `is_meant` confirms, once a descriptor holds that
/// process, that it is the right one: its number alone may have been reused.
pub fn signal_if(pid: i32, signal: i32, is_meant: impl Fn() -> bool) {
    // SAFETY: no memory is passed, and a descriptor that the kernel returns is ours alone.
    let held = unsafe {
        let held = libc::syscall(libc::SYS_pidfd_open, pid, 0) as libc::c_int;
        (held >= 0).then(|| OwnedFd::from_raw_fd(held))
    };
    let Some(held) = held else {
        // Linux before 5.3 has no descriptors for processes.
        if std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS) && is_meant() {
            let _ = Signal::try_from(signal).map(|signal| kill(Pid::from_raw(pid), signal));
        }
        return;
    };
    if is_meant() {
        let (held, none) = (held.as_raw_fd(), std::ptr::null::<libc::siginfo_t>());
        // SAFETY: with a null `siginfo_t` the kernel fills it as for `kill`.
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, held, signal, none, 0) };
    }
}

/// Calls `call` with all signals blocked in this thread, and so in threads that it starts.
pub fn without_signals<R>(call: impl FnOnce() -> R) -> R {
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK);
    let result = call();
    let _ = before.map(|before| before.thread_set_mask());
    result
}

/// As [`without_signals`], except for the signal by which threads are held while memory is moved.
pub fn without_signals_but_held<R>(call: impl FnOnce() -> R) -> R {
    without_signals(|| {
        let all = raw::block_signals(raw::Mask::MAX);
        let hold = suspend::signal().map_or(0, |signal| 1 << (signal - 1));
        raw::block_signals(all & !hold);
        call()
    })
}
