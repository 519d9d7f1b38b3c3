//! System calls in machine code, for work that must not touch the C library: its `errno`, its
//! locks, and the functions with which sanitizers replace its own.
#![allow(unsafe_code)]

use crate::atomics::AtomicU32;
use std::arch::asm;
use std::ffi::c_void;
use std::os::fd::RawFd;
use std::time::Duration;

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the machine code of this file is for x86-64");

/// Makes a system call. A negative result is an error number.
///
/// # Safety
/// The call does not affect memory that its caller does not own.
#[inline(always)]
pub unsafe fn syscall<const N: usize>(number: libc::c_long, args: [usize; N]) -> isize {
    let arg = |i: usize| if i < N { args[i] } else { 0 };
    let result;
    // SAFETY: the kernel's convention: six registers in, one out, two clobbered; the caller is
    // responsible for the effects of the call.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arg(0), in("rsi") arg(1), in("rdx") arg(2),
            in("r10") arg(3), in("r8") arg(4), in("r9") arg(5),
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
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
    // SAFETY: the caller's promise.
    unsafe {
        match offset {
            Some(offset) => syscall(libc::SYS_pread64, [fd, to, len, offset as usize]),
            None => syscall(libc::SYS_read, [fd, to, len]),
        }
    }
}

/// Copies bytes without the C library and without the checks of sanitizers.
///
/// # Safety
/// `from` is readable and `to` is writable for `len` bytes, and they do not overlap.
pub unsafe fn copy(from: usize, to: usize, len: usize) {
    // SAFETY: the caller's promise; the direction flag is clear, as the convention has it.
    unsafe {
        asm!(
            "rep movsb",
            inout("rsi") from => _, inout("rdi") to => _, inout("rcx") len => _,
            options(nostack, preserves_flags),
        );
    }
}

/// Ends a helper process.
pub fn exit() -> ! {
    loop {
        // SAFETY: ends this thread, which is the whole helper.
        unsafe { syscall(libc::SYS_exit, [0]) };
    }
}

/// Whether valgrind interprets this program: it does not support helpers.
pub fn on_valgrind() -> bool {
    // valgrind.h: a client request, RUNNING_ON_VALGRIND, with its default answer.
    let request = [0x1001usize, 0, 0, 0, 0, 0];
    let answer: usize;
    // SAFETY: rotations that add up to none, and an exchange of a register with itself.
    unsafe {
        asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51",
            "xchg rbx, rbx",
            inout("rdi") 0usize => _,
            in("rax") request.as_ptr(),
            inlateout("rdx") 0usize => answer,
            options(nostack),
        );
    }
    answer != 0
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
        const SA_RESTORER: u64 = 0x0400_0000;
        let flags = (libc::SA_SIGINFO | libc::SA_RESTART) as u64 | SA_RESTORER;
        Self { handler: handler as usize, flags, restorer: leave_handler(), mask: !0 }
    }

    /// Whether the program has left the default action.
    pub fn is_default(&self) -> bool {
        self.handler == libc::SIG_DFL
    }
}

/// The address of the code to which a handler returns. That code is jumped over here.
fn leave_handler() -> usize {
    let at;
    // SAFETY: computes an address and jumps over the code there.
    unsafe {
        asm!(
            "lea {at}, [rip + 2f]",
            "jmp 3f",
            "2:",
            "mov eax, {call}",
            "syscall",
            "3:",
            at = out(reg) at,
            call = const libc::SYS_rt_sigreturn,
            options(nomem, nostack, preserves_flags),
        );
    }
    at
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

/// Sleeps while `word` has this value, for at most `most`.
pub fn futex_wait(word: &AtomicU32, value: u32, most: Duration) {
    let time = timespec(most);
    let (word, wait) = (word.as_ptr() as usize, libc::FUTEX_WAIT as usize);
    // SAFETY: the kernel reads the word and the local.
    unsafe { syscall(libc::SYS_futex, [word, wait, value as usize, &raw const time as usize]) };
}

/// Wakes all sleepers on `word`.
pub fn futex_wake(word: &AtomicU32) {
    let (word, wake) = (word.as_ptr() as usize, libc::FUTEX_WAKE as usize);
    // SAFETY: the kernel only uses the address to find sleepers.
    unsafe { syscall(libc::SYS_futex, [word, wake, i32::MAX as usize]) };
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: time.subsec_nanos() as libc::c_long,
    }
}
