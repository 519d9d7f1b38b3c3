//! Wait for, or test, one variable.
#![allow(unsafe_code)]

use super::{Comparison, Waitable, polite};
use crate::atomics::{Ordering, fence};
use crate::error::Routine;
use crate::job::about::About;
use crate::operand;
use crate::stats::{For, Wait};
use std::ffi::c_int;

/// Waits until `ivar` compares to `value` as `cmp` says.
///
/// # Safety
/// Concurrent accesses to `ivar` are atomic and of this type.
#[inline]
pub unsafe fn wait_until<T: Waitable>(routine: Routine, ivar: *mut T, cmp: c_int, value: T) {
    // SAFETY: the caller's promise, passed on.
    unsafe { until(routine, "ivar", ivar, cmp, value) };
}

/// [`wait_until`] for an argument of any name; returns the value that satisfied.
///
/// # Safety
/// As for [`wait_until`].
#[inline]
pub(crate) unsafe fn until<T: Waitable>(
    routine: Routine,
    argument: &'static str,
    ivar: *mut T,
    cmp: c_int,
    value: T,
) -> T {
    let cmp = Comparison::new(routine, cmp);
    if !operand::check_local::<T>(routine, argument, ivar as usize) {
        // SAFETY: as just checked.
        return unsafe { until_on_device(routine, ivar, cmp, value) };
    }
    // SAFETY: symmetric and aligned, as just checked; the rest is the caller's promise.
    let seen = unsafe { T::load(ivar) };
    if cmp.holds(seen, value) {
        return seen;
    }
    // SAFETY: as above.
    unsafe { until_changed(routine, ivar, cmp, value) }
}

/// The wait itself, apart, so that who need not wait saves no registers for it.
///
/// # Safety
/// As for [`wait_until`], and `ivar` is symmetric and aligned.
#[cold]
#[inline(never)]
unsafe fn until_changed<T: Waitable>(
    routine: Routine,
    ivar: *mut T,
    cmp: Comparison,
    value: T,
) -> T {
    let mut pause = Wait::new(For::Variable, About::Variable(routine, ivar.addr()));
    // The word often lies at the place in its page where the one lies that this PE has just written
    // to another PE, and the processor holds loads up by stores whose addresses end alike. So
    // the stores out first: there is time. (Ping-pong of two hardware threads of a core: 51 -> 40
    // ns.)
    fence(Ordering::SeqCst);
    loop {
        pause.step();
        // SAFETY: the caller's promise.
        let seen = unsafe { T::load(ivar) };
        if cmp.holds(seen, value) {
            return seen;
        }
    }
}

/// The wait for a word on a device: each look is a copy of the driver's.
///
/// # Safety
/// `ivar` is a word of this PE's partition on a device.
#[cold]
#[inline(never)]
unsafe fn until_on_device<T: Waitable>(
    routine: Routine,
    ivar: *mut T,
    cmp: Comparison,
    value: T,
) -> T {
    let mut pause = Wait::new(For::Variable, About::Variable(routine, ivar.addr()));
    loop {
        // SAFETY: the caller's promise.
        let seen = unsafe { operand::load_from_device(routine, ivar.addr()) };
        if cmp.holds(seen, value) {
            return seen;
        }
        pause.step();
    }
}

/// Whether `ivar` compares to `value` as `cmp` says, 1 or 0.
///
/// # Safety
/// As for [`wait_until`].
#[inline]
pub unsafe fn test<T: Waitable>(routine: Routine, ivar: *mut T, cmp: c_int, value: T) -> c_int {
    let cmp = Comparison::new(routine, cmp);
    if !operand::is_here::<T>(ivar as usize) {
        // SAFETY: the caller's promise, passed on.
        return unsafe { test_slow(routine, ivar, cmp, value) };
    }
    // SAFETY: symmetric and aligned, as just checked; the rest is the caller's promise.
    let seen = unsafe { T::load(ivar) };
    polite::tested(cmp.holds(seen, value)) as c_int
}

/// [`test()`], apart, so that the hot path keeps nothing for it.
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
unsafe fn test_slow<T: Waitable>(
    routine: Routine,
    ivar: *mut T,
    cmp: Comparison,
    value: T,
) -> c_int {
    // SAFETY: symmetric and aligned, as checked here; the rest is the caller's promise.
    let seen = unsafe {
        match operand::check_local::<T>(routine, "ivar", ivar as usize) {
            true => T::load(ivar),
            false => operand::load_from_device(routine, ivar.addr()),
        }
    };
    polite::tested(cmp.holds(seen, value)) as c_int
}
