//! The first method: a helper process seizes all threads.
//!
//! `PTRACE_SEIZE` and `PTRACE_INTERRUPT` (ptrace(2)) stop a thread whatever signals it blocks, and
//! let it resume unaffected. An interrupted system call restarts, except those that signal(7) lists
//! under "Interruption of system calls and library functions by stop signals" (`epoll_wait` is
//! one), which fail with `EINTR`.
#![allow(unsafe_code)]

use super::{Block, Free, RUNNING, Reason};
use crate::arch;
use crate::atomics::Ordering;
use crate::sys::raw;
use crate::sys::threads::State;
use std::ffi::c_void;
use std::time::Duration;

/// The thread is stopped. The number of a signal that it was about to receive is added.
const STOPPED: u32 = 1 << 8;

/// Moves the memory in a helper process, which stores the outcome in the block.
///
/// # Safety
/// As for [`super::relocate`]. All signals are blocked.
pub(super) unsafe fn relocate(block: *mut Block) {
    // SAFETY: the block has a stack, and it outlives the helper: this call waits for the helper to
    // end.
    unsafe {
        let meeting = &raw mut (*block).meeting;
        let child = arch::in_helper(Block::top(block), helper, block.cast(), meeting);
        if child > 0 {
            // No other wait reaps a child that sends no signal when it ends.
            raw::syscall(libc::SYS_wait4, [child as usize, 0, libc::__WALL as usize, 0]);
        }
    }
}

fn request(request: libc::c_uint, thread: u32, data: u32) -> isize {
    // SAFETY: these requests do not access memory.
    unsafe { raw::syscall(libc::SYS_ptrace, [request as usize, thread as usize, 0, data as usize]) }
}

/// The helper process. Its caller is parked.
unsafe extern "C" fn helper(block: *mut c_void) -> ! {
    prepare();
    // SAFETY: the helper owns the block until it ends. When `hold_all` has succeeded, all other threads are
    // stopped; the caller waits in the kernel.
    let block = unsafe {
        let block = &mut *block.cast::<Block>();
        let held = block.hold_all(seize, wait);
        block.conclude(held);
        block
    };
    for held in block.table() {
        let (thread, state) = (&held.thread, &held.state);
        let signal = state.load(Ordering::Relaxed) & (STOPPED - 1);
        request(libc::PTRACE_DETACH, thread.load(Ordering::Relaxed), signal);
    }
    raw::exit()
}

/// Prepares the helper's signals. Stops raise `SIGCHLD`, which is blocked and so stays pending. The
/// helper dies with its process.
fn prepare() {
    let default = raw::Action::default();
    // SAFETY: a complete action for the helper's own table, and a call that accesses no memory.
    unsafe {
        raw::action(libc::SIGCHLD, Some(&default));
        raw::syscall(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize]);
    }
}

/// Tells a thread to stop. Returns false if it has ended.
fn seize(block: &Block, thread: u32) -> Result<bool, Reason> {
    match -request(libc::PTRACE_SEIZE, thread, 0) as i32 {
        0 => {}
        libc::ESRCH => return Ok(true), // It has ended since it was listed: list again.
        _ if block.list.state(thread) == State::Dead => return Ok(false),
        error => return Err(Reason::Refused(error)),
    }
    block.add(thread).ok_or(Reason::Unlisted)?;
    request(libc::PTRACE_INTERRUPT, thread, 0);
    Ok(true)
}

/// Waits until all seized threads have stopped or ended.
fn wait(block: &Block, until: Duration) -> Result<(), Free> {
    let running = || {
        block.table().iter().find(|held| {
            held.state.load(Ordering::Relaxed) == RUNNING
                && held.thread.load(Ordering::Relaxed) != 0
        })
    };
    let mut status = 0i32;
    while let Some(late) = running() {
        let (any, how) = (usize::MAX, (libc::__WALL | libc::WNOHANG) as usize);
        // SAFETY: the call writes only the local variable.
        let thread =
            unsafe { raw::syscall(libc::SYS_wait4, [any, &raw mut status as usize, how, 0]) };
        let changed = u32::try_from(thread).ok().filter(|thread| *thread != 0);
        if let Some(held) = changed.and_then(|thread| block.find(thread)) {
            // wait(2): a stop has 0x7f in the low byte, then the signal, then the ptrace event.
            if status & 0xff == 0x7f {
                let signal = if status >> 16 == 0 { status >> 8 & 0xff } else { 0 };
                held.state.store(STOPPED | signal as u32, Ordering::Relaxed);
            } else {
                held.thread.store(0, Ordering::Relaxed);
            }
            continue;
        }
        let left = until.saturating_sub(raw::now());
        if left.is_zero() {
            return Err((late.thread.load(Ordering::Relaxed), Reason::Late));
        }
        raw::await_signal(libc::SIGCHLD, left);
    }
    Ok(())
}
