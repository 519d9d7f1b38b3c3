//! Waits for, or tests, one variable.

use super::{Comparison, Waitable, backoff};
use crate::argument::memory::Object;
use crate::atomics::{Ordering, fence};
use crate::operand::word::{self, DeviceVariable, MappedVariable};
use crate::pause::Wait;
use crate::pe::about::About;
use onenode_core::arch;
use oneshmem_job::error::Routine;
use oneshmem_job::stats::For;
use std::ffi::c_int;

/// Waits until `ivar` satisfies the comparison `cmp` with `value`.
#[inline]
pub fn wait_until<T: Waitable>(routine: Routine, ivar: Object<'_, T>, cmp: c_int, value: T) {
    until(routine, "ivar", ivar, cmp, value);
}

/// As [`wait_until`], for an argument of any name. Returns the value that satisfies the comparison.
#[inline]
pub(crate) fn until<T: Waitable>(
    routine: Routine,
    argument: &'static str,
    ivar: Object<'_, T>,
    cmp: c_int,
    value: T,
) -> T {
    let cmp = Comparison::new(routine, cmp);
    match word::variable(routine, argument, ivar) {
        Ok(variable) => {
            let seen = variable.load();
            if cmp.holds(seen, value) {
                return seen;
            }
            until_changed(routine, variable, cmp, value)
        }
        Err(variable) => until_on_device(routine, variable, cmp, value),
    }
}

/// The wait itself. A separate function, so that calls that need not wait save no registers for it.
#[cold]
#[inline(never)]
fn until_changed<T: Waitable>(
    routine: Routine,
    variable: MappedVariable<'_, T>,
    cmp: Comparison,
    value: T,
) -> T {
    let mut pause = Wait::new(For::Variable, About::Variable(routine, variable.address()));
    // The word often has the same offset in its page as the word that this PE has just written to
    // another PE, and x86 processors delay loads behind stores whose addresses end in the same
    // bits. So drain the stores first: there is time. (Ping-pong between two hardware threads of a
    // core: 51 -> 40 ns.)
    if arch::DELAYS_LOADS_BEHIND_STORES {
        fence(Ordering::SeqCst);
    }
    loop {
        pause.step();
        let seen = variable.load();
        if cmp.holds(seen, value) {
            return seen;
        }
    }
}

/// Waits for a word on a device. The driver copies the word for each test.
#[cold]
#[inline(never)]
fn until_on_device<T: Waitable>(
    routine: Routine,
    variable: DeviceVariable<'_, T>,
    cmp: Comparison,
    value: T,
) -> T {
    let mut pause = Wait::new(For::Variable, About::Variable(routine, variable.address()));
    loop {
        let seen = variable.load();
        if cmp.holds(seen, value) {
            return seen;
        }
        pause.step();
    }
}

/// 1 if `ivar` satisfies the comparison `cmp` with `value`, else 0.
#[inline]
pub fn test<T: Waitable>(routine: Routine, ivar: Object<'_, T>, cmp: c_int, value: T) -> c_int {
    let cmp = Comparison::new(routine, cmp);
    let Some(variable) = MappedVariable::surely(ivar) else {
        return test_slow(routine, ivar, cmp, value);
    };
    backoff::tested(cmp.holds(variable.load(), value)) as c_int
}

/// The slow path of [`test()`], separate so that the hot path reserves nothing for it.
#[cold]
#[inline(never)]
fn test_slow<T: Waitable>(
    routine: Routine,
    ivar: Object<'_, T>,
    cmp: Comparison,
    value: T,
) -> c_int {
    let seen = match word::variable(routine, "ivar", ivar) {
        Ok(variable) => variable.load(),
        Err(variable) => variable.load(),
    };
    backoff::tested(cmp.holds(seen, value)) as c_int
}
