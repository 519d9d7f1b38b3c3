//! System calls by the processor's instruction, for work that must not touch the C library: its `errno`, its
//! locks, and the functions with which sanitizers replace its own.
#![allow(unsafe_code)]

use crate::arch;
use crate::atomics::AtomicU32;
use std::ffi::c_void;
use std::os::fd::RawFd;
use std::time::Duration;

pub use arch::copy;

/// Makes a system call. A negative result is an error number.
///
/// # Safety
/// The call does not affect memory that its caller does not own.
#[inline(always)]
pub unsafe fn syscall<const N: usize>(number: libc::c_long, args: [usize; N]) -> isize {
    let arg = |i: usize| if i < N { args[i] } else { 0 };
    // SAFETY: the caller owns the memory that the call affects.
    unsafe { arch::syscall(number, [arg(0), arg(1), arg(2), arg(3), arg(4), arg(5)]) }
}

/// System calls that neither read nor write memory.
#[derive(Clone, Copy, Debug)]
#[repr(i64)]
pub enum Plain {
    /// close(2)
    Close = libc::SYS_close,
    /// _exit(2), of the calling thread
    Exit = libc::SYS_exit,
    /// getpid(2)
    GetPid = libc::SYS_getpid,
    /// gettid(2)
    GetTid = libc::SYS_gettid,
    /// prctl(2), with operations that access no memory
    Prctl = libc::SYS_prctl,
    /// sched_yield(2)
    SchedYield = libc::SYS_sched_yield,
    /// tgkill(2)
    Tgkill = libc::SYS_tgkill,
    /// unshare(2)
    Unshare = libc::SYS_unshare,
}

/// Makes a system call that gets only numbers. A negative result is an error number.
#[inline(always)]
pub fn plain<const N: usize>(call: Plain, numbers: [usize; N]) -> isize {
    // SAFETY: none of these calls accesses memory, whatever the numbers.
    unsafe { syscall(call as libc::c_long, numbers) }
}

/// A set of signals to block, in the kernel's format.
pub type Mask = u64;

/// Blocks exactly these signals in this thread. Returns those that were blocked before.
pub fn block_signals(mask: Mask) -> Mask {
    let mut before: Mask = 0;
    // SAFETY: two locals of the size that is passed.
    unsafe {
        let (new, old) = (&raw const mask as usize, &raw mut before as usize);
        syscall(
            libc::SYS_rt_sigprocmask,
            [libc::SIG_SETMASK as usize, new, old, size_of::<Mask>()],
        );
    }
    before
}

/// The time since an arbitrary moment in the past.
pub fn now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the local.
    unsafe {
        let at = &raw mut time as usize;
        syscall(libc::SYS_clock_gettime, [libc::CLOCK_MONOTONIC as usize, at]);
    }
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Reads from a file at an offset, or with `None` from the file's current position.
///
/// # Safety
/// `to` is writable for `len` bytes.
pub unsafe fn read(fd: RawFd, to: *mut u8, len: usize, offset: Option<u64>) -> isize {
    let (fd, to) = (fd as usize, to as usize);
    // SAFETY: the calls write at most `len` bytes, which the caller has at `to`.
    unsafe {
        match offset {
            Some(offset) => syscall(libc::SYS_pread64, [fd, to, len, offset as usize]),
            None => syscall(libc::SYS_read, [fd, to, len]),
        }
    }
}

/// Ends a helper process.
pub fn exit() -> ! {
    loop {
        plain(Plain::Exit, [0]);
    }
}

/// Whether valgrind interprets this program: it does not support helpers.
pub fn on_valgrind() -> bool {
    // valgrind.h: RUNNING_ON_VALGRIND.
    arch::valgrind_request(&[0x1001, 0, 0, 0, 0, 0]) != 0
}

/// The action for a signal, in the kernel's format.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Action {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: Mask,
}

/// A handler's type.
pub type Handler = unsafe extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut c_void);

impl Action {
    /// The action that calls a handler which no other handler can interrupt.
    pub fn handler(handler: Handler) -> Self {
        let flags = (libc::SA_SIGINFO | libc::SA_RESTART) as u64 | arch::SIGNAL_FLAGS;
        Self { handler: handler as usize, flags, restorer: arch::signal_return(), mask: !0 }
    }

    /// Whether the program has left the default action.
    pub fn is_default(&self) -> bool {
        self.handler == libc::SIG_DFL
    }
}

/// Returns the action for a signal and, with `Some`, sets a new one. `None` if there is no such
/// signal.
///
/// # Safety
/// The new handler can run at any time.
pub unsafe fn action(signal: i32, new: Option<&Action>) -> Option<Action> {
    let mut old = Action::default();
    let new = new.map_or(0, |new| &raw const *new as usize);
    // SAFETY: complete records in the kernel's layout, and the caller's promise.
    let error = unsafe {
        let old = &raw mut old as usize;
        syscall(libc::SYS_rt_sigaction, [signal as usize, new, old, size_of::<Mask>()])
    };
    (error == 0).then_some(old)
}

/// Takes a pending signal that this thread blocks, waiting for it for at most `most`.
pub fn await_signal(signal: i32, most: Duration) {
    let mask: Mask = 1 << (signal - 1);
    let time = timespec(most);
    // SAFETY: locals that the call reads.
    unsafe {
        let (mask, time) = (&raw const mask as usize, &raw const time as usize);
        syscall(libc::SYS_rt_sigtimedwait, [mask, 0, time, size_of::<Mask>()]);
    }
}

/// Sleeps while `word` has this value, for at most `most`. Returns false if that time is over.
pub fn futex_wait(word: *const AtomicU32, value: u32, most: Duration) -> bool {
    futex(word, value, Some(timespec(most))) != -libc::ETIMEDOUT as isize
}

/// Wakes all sleepers on `word`.
pub fn futex_wake(word: *const AtomicU32) {
    futex(word, i32::MAX as u32, None);
}

/// Sleeps on `word` for so long while it has this value; without a time, wakes so many sleepers.
fn futex(word: *const AtomicU32, value: u32, time: Option<libc::timespec>) -> isize {
    let how = if time.is_some() { libc::FUTEX_WAIT } else { libc::FUTEX_WAKE };
    let time = time.as_ref().map_or(0, |time| &raw const *time as usize);
    // SAFETY: the kernel only reads the word, or fails if it cannot, and the local time.
    unsafe { syscall(libc::SYS_futex, [word as usize, how as usize, value as usize, time]) }
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: time.subsec_nanos() as libc::c_long,
    }
}
