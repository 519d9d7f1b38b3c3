//! Wait for, or test, all of an array.
#![allow(unsafe_code)]

use super::elements::{Ivars, Values};
use super::{Waitable, polite};
use crate::error::Routine;
use crate::stats::{For, Wait};
use std::ffi::c_int;

impl<T: Waitable, V: Values<T>> Ivars<T, V> {
    /// Waits for one after the other; nothing to do for an empty set.
    fn wait_all(self, routine: Routine) {
        for i in self.counting() {
            if !self.satisfied(i) {
                let mut pause = Wait::new(For::Variable, self.about(routine, i));
                while {
                    pause.step();
                    !self.satisfied(i)
                } {}
            }
        }
    }

    /// 1 if all are satisfied, as all of an empty set are.
    fn test_all(self) -> c_int {
        polite::tested(self.counting().all(|i| self.satisfied(i))) as c_int
    }
}

/// Waits until every element that `status` does not mask compares to its value.
///
/// # Safety
/// `ivars`, `status` unless null, and [`Each`](super::Each) of the values have `nelems` elements;
/// concurrent accesses to `ivars` are atomic and of this type.
#[inline]
pub unsafe fn wait_until_all<T: Waitable>(
    routine: Routine,
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    values: impl Values<T>,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, values) }.wait_all(routine);
}

/// 1 if every element that `status` does not mask compares to its value, else 0.
///
/// # Safety
/// As for [`wait_until_all`].
#[inline]
pub unsafe fn test_all<T: Waitable>(
    routine: Routine,
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    values: impl Values<T>,
) -> c_int {
    // SAFETY: the caller's promise, passed on.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, values) }.test_all()
}
