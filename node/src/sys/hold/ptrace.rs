//! The first way: a helper seizes all threads.
//!
//! `PTRACE_SEIZE` and `PTRACE_INTERRUPT` (ptrace(2)) stop a thread whatever signals it blocks,
//! and let it go on as if nothing had been: an interrupted system call begins again, with the
//! exceptions that signal(7) lists under "Interruption of system calls and library functions by
//! stop signals" (`epoll_wait` is one), which fail with `EINTR`.

use super::{Block, Free, RUNNING, Reason, stacks};
use crate::atomics::Ordering;
use crate::sys::raw;
use crate::sys::threads::State;
use std::ffi::c_void;
use std::time::Duration;

/// A thread is stopped; a signal that it was about to take is added to this.
const STOPPED: u32 = 1 << 8;

/// Moves the memory, in a helper; what came of it is in the block.
///
/// # Safety
/// As for [`super::relocate`]; all signals are blocked.
pub(super) unsafe fn relocate(block: *mut Block) {
    // SAFETY: the block has a stack, and outlives the helper, whose end this call waits for.
    unsafe {
        let meeting = &raw mut (*block).meeting;
        let child = stacks::in_helper(Block::top(block), helper, block.cast(), meeting);
        if child > 0 {
            // Nobody else waits for a child that announces its end by no signal.
            raw::syscall(libc::SYS_wait4, [child as usize, 0, libc::__WALL as usize, 0]);
        }
    }
}

fn request(request: libc::c_uint, thread: u32, data: u32) -> isize {
    // SAFETY: these requests do not touch memory.
    unsafe { raw::syscall(libc::SYS_ptrace, [request as usize, thread as usize, 0, data as usize]) }
}

/// The helper. Its caller is parked.
unsafe extern "C" fn helper(block: *mut c_void) -> ! {
    // SAFETY: the block is the helper's until it ends.
    let block = unsafe { &mut *block.cast::<Block>() };
    prepare();
    let held = block.hold_all(seize, wait);
    // SAFETY: all other threads are stopped, and the caller waits in the kernel.
    unsafe { block.conclude(held) };
    for held in block.table() {
        let (thread, state) = (&held.thread, &held.state);
        let signal = state.load(Ordering::Relaxed) & (STOPPED - 1);
        request(libc::PTRACE_DETACH, thread.load(Ordering::Relaxed), signal);
    }
    raw::exit()
}

/// Stops are announced by `SIGCHLD`, which is blocked and so stays pending; and without its
/// process the helper has nothing to do.
fn prepare() {
    let default = raw::Action::default();
    // SAFETY: a complete action for the helper's own table, and a call without memory.
    unsafe {
        raw::action(libc::SIGCHLD, Some(&default));
        raw::syscall(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize]);
    }
}

/// Has a thread stop; false if it has ended.
unsafe fn seize(block: &Block, thread: u32) -> Result<bool, Reason> {
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
unsafe fn wait(block: &Block, until: Duration) -> Result<(), Free> {
    let running = || {
        block.table().iter().find(|held| {
            held.state.load(Ordering::Relaxed) == RUNNING
                && held.thread.load(Ordering::Relaxed) != 0
        })
    };
    let mut status = 0i32;
    while let Some(late) = running() {
        let (any, how) = (usize::MAX, (libc::__WALL | libc::WNOHANG) as usize);
        // SAFETY: the call fills the local.
        let thread =
            unsafe { raw::syscall(libc::SYS_wait4, [any, &raw mut status as usize, how, 0]) };
        if let Some(held) = u32::try_from(thread).ok().and_then(|thread| block.find(thread))
            && thread != 0
        {
            // wait(2): the low byte of a stop is 0x7f, then signal, then ptrace's event.
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
