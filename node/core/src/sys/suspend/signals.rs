//! Where ptrace is refused: each thread gets a signal whose handler holds it.
//!
//! The signal is a real-time signal that the program does not use. A thread that blocks it cannot
//! be held. System calls that never restart after a handler (signal(7)) fail with `EINTR`.
#![allow(unsafe_code)]

use super::{Block, Error, Free, Outcome, RUNNING, Reason};
use crate::arch;
use crate::atomics::{AtomicPtr, Ordering};
use crate::sys::raw;
use crate::sys::threads::{self, State};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::Duration;

/// The thread is in the handler.
const PARKED: u32 = 1;
/// How often to check whether a thread that does not arrive has ended.
const LOOK: Duration = Duration::from_millis(10);
/// How often to look at a thread that blocks the signal, and how long that may last: the system's
/// library starts threads with all signals blocked, and lets them unblock these themselves.
const LOOK_AT_START: Duration = Duration::from_millis(1);
const LOOKS_AT_START: u32 = 100;

/// The block, for the handler.
static BLOCK: AtomicPtr<Block> = AtomicPtr::new(null_mut());

/// The signal: the last one that the program does not use.
pub fn signal() -> Option<i32> {
    let free = |signal: &i32| {
        // SAFETY: only reads the action.
        unsafe { raw::action(*signal, None) }.is_some_and(|action| action.is_default())
    };
    (libc::SIGRTMIN()..=libc::SIGRTMAX()).rev().find(free)
}

/// Moves the memory and returns the outcome. The block is never freed, because handlers may still
/// be leaving it.
///
/// # Safety
/// As for [`super::relocate`]. All signals are blocked.
pub(super) unsafe fn relocate(block: *mut Block) -> Result<Outcome, Error> {
    let signal = signal().ok_or_else(|| {
        Error::NoWay(
            "ptrace is not allowed here, and the program uses all real-time signals".into(),
        )
    })?;
    // SAFETY: the handler is part of this library, and nobody else uses the signal. The block has a
    // stack that nobody uses.
    unsafe {
        (*block).known.store(0, Ordering::Relaxed);
        (*block).signal = signal;
        (*block).hold.store(1, Ordering::Relaxed);
        BLOCK.store(block, Ordering::Release);
        raw::action(signal, Some(&raw::Action::handler(park)));
        arch::on_other(Block::top(block), with_threads_parked, block.cast());
        // The handler stays if a thread could not be held: a late thread enters it and is released
        // immediately.
        if !matches!((*block).outcome, Outcome::Free(..)) {
            raw::action(signal, Some(&raw::Action::default()));
        }
        (*block).list.close();
        Ok((*block).outcome)
    }
}

unsafe extern "C" fn with_threads_parked(block: *mut c_void) {
    // SAFETY: the block belongs to the caller. Handlers use only its atomics.
    unsafe {
        let block = &mut *block.cast::<Block>();
        let held = block.hold_all(seize, wait);
        block.conclude(held);
        block.hold.store(0, Ordering::Release);
        raw::futex_wake(&block.hold);
    }
}

/// Sends the signal. Returns false if the thread has ended.
fn seize(block: &Block, thread: u32) -> Result<bool, Reason> {
    let list = &block.list;
    let mut looks = 0;
    loop {
        if list.state(thread) == State::Dead {
            return Ok(false);
        }
        // valgrind's threads block all signals, and valgrind delivers them itself.
        let blocked = if raw::on_valgrind() { None } else { list.blocked(thread) };
        if blocked.is_none_or(|mask| mask >> (block.signal - 1) & 1 == 0) {
            break;
        }
        looks += 1;
        if looks > LOOKS_AT_START {
            return Err(Reason::Blocks(block.signal));
        }
        raw::futex_wait(&block.hold, 1, LOOK_AT_START);
    }
    let held = block.add(thread).ok_or(Reason::Unlisted)?;
    if !threads::signal(list.process(), thread, block.signal) {
        held.thread.store(0, Ordering::Relaxed);
    }
    Ok(true)
}

/// Waits until all threads that got the signal are parked or have ended.
fn wait(block: &Block, until: Duration) -> Result<(), Free> {
    for held in block.table() {
        loop {
            let thread = held.thread.load(Ordering::Relaxed);
            if thread == 0 || held.state.load(Ordering::Acquire) != RUNNING {
                break;
            }
            if block.list.state(thread) == State::Dead {
                held.thread.store(0, Ordering::Relaxed);
            } else if raw::now() > until {
                return Err((thread, Reason::Late));
            } else {
                raw::futex_wait(&held.state, RUNNING, LOOK);
            }
        }
    }
    Ok(())
}

/// The handler: holds its thread until it is released.
unsafe extern "C" fn park(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    let block = BLOCK.load(Ordering::Acquire);
    // SAFETY: the kernel passes a valid `info`. A block, once it exists, is never freed, and only
    // its atomics are used.
    unsafe {
        if (*info).si_code != libc::SI_TKILL {
            return;
        }
        if let Some(held) = block.as_ref().and_then(|block| block.find(threads::current())) {
            arch::announce_and_wait(held.state.as_ptr(), PARKED, (*block).hold.as_ptr());
        }
    }
}
