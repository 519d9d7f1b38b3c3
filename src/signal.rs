//! Signalling operations (specification, section 9.8): data, then a signal that
//! says it is there.
#![allow(unsafe_code)]

use crate::amo::{self, Word};
use crate::atomics::Ordering;
use crate::error::Routine;
use crate::failure;
use crate::operand;
use crate::rma;
use crate::translate::{Numbering, PeArg};
use crate::wait;
use std::ffi::c_int;

/// `SHMEM_SIGNAL_SET`: the signal is overwritten.
pub const SIGNAL_SET: c_int = 1;
/// `SHMEM_SIGNAL_ADD`: the signal is added to.
pub const SIGNAL_ADD: c_int = 2;

/// Copies `nelems` elements to `dest` on `pe`, then updates the signal there. The
/// signal is updated also when there are no elements.
///
/// # Safety
/// As for [`rma::put`]; concurrent accesses to the signal are atomic.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn put_signal<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    sig_addr: *mut u64,
    signal: u64,
    sig_op: c_int,
    pe: PeArg,
) {
    if sig_op != SIGNAL_SET && sig_op != SIGNAL_ADD {
        bad_operator(routine, sig_op);
    }
    // SAFETY: the caller's promise, passed on. The copy comes first in program
    // order, and both updates release it.
    unsafe {
        rma::put(routine, ctx, dest, source, nelems, pe);
        if sig_op == SIGNAL_SET {
            set(routine, ctx, sig_addr, signal, pe);
        } else {
            add(routine, ctx, sig_addr, signal, pe);
        }
    }
}

#[cold]
#[inline(never)]
fn bad_operator(routine: Routine, sig_op: c_int) -> ! {
    failure::misuse(
        routine,
        format_args!("sig_op = {sig_op}"),
        format_args!("expected SHMEM_SIGNAL_SET ({SIGNAL_SET}) or SHMEM_SIGNAL_ADD ({SIGNAL_ADD})"),
    )
}

/// Adds `signal` to the signal on `pe`.
///
/// # Safety
/// Concurrent accesses to the signal are atomic.
#[inline(always)]
pub unsafe fn add<C: Numbering>(
    routine: Routine,
    ctx: C,
    sig_addr: *mut u64,
    signal: u64,
    pe: PeArg,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe { amo::signal_add(routine, ctx, sig_addr, signal, pe) }
}

/// Sets the signal on `pe`.
///
/// # Safety
/// Concurrent accesses to the signal are atomic.
#[inline(always)]
pub unsafe fn set<C: Numbering>(
    routine: Routine,
    ctx: C,
    sig_addr: *mut u64,
    signal: u64,
    pe: PeArg,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe { amo::signal_set(routine, ctx, sig_addr, signal, pe) }
}

/// The value of this PE's own signal.
///
/// # Safety
/// Concurrent accesses to the signal are atomic.
#[inline(always)]
pub unsafe fn fetch(routine: Routine, sig_addr: *const u64) -> u64 {
    operand::check_loadable::<u64>(routine, "sig_addr", sig_addr as usize);
    // SAFETY: symmetric and aligned, as just checked.
    unsafe { u64::at(sig_addr as usize) }.load(Ordering::Acquire)
}

/// Waits until this PE's own signal compares to `value` as asked; returns the
/// value that did.
///
/// # Safety
/// Concurrent accesses to the signal are atomic.
#[inline]
pub unsafe fn wait_until(routine: Routine, sig_addr: *mut u64, cmp: c_int, value: u64) -> u64 {
    // SAFETY: the caller's promise, passed on.
    unsafe { wait::until(routine, "sig_addr", sig_addr, cmp, value) }
}

#[cfg(test)]
mod tests;
