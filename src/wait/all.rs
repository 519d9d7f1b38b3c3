//! Wait for, or test, all of an array.
#![allow(unsafe_code)]

use super::elements::{Each, Ivars, Same, Values};
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

/// Waits until every element that `status` does not mask compares to `value`.
///
/// # Safety
/// `ivars`, and `status` unless null, have `nelems` elements; concurrent accesses
/// to `ivars` are atomic and of this type.
#[inline]
pub unsafe fn wait_until_all<T: Waitable>(
    routine: Routine,
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    value: T,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, Same(value)) }.wait_all(routine);
}

/// [`wait_until_all`] with a value for each element.
///
/// # Safety
/// As for [`wait_until_all`]; `values` has `nelems` elements too.
#[inline]
pub unsafe fn wait_until_all_vector<T: Waitable>(
    routine: Routine,
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    values: *const T,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, Each(values)) }.wait_all(routine);
}

/// 1 if every element that `status` does not mask compares to `value`, else 0.
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
    value: T,
) -> c_int {
    // SAFETY: the caller's promise, passed on.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, Same(value)) }.test_all()
}

/// [`test_all`] with a value for each element.
///
/// # Safety
/// As for [`wait_until_all_vector`].
#[inline]
pub unsafe fn test_all_vector<T: Waitable>(
    routine: Routine,
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    values: *const T,
) -> c_int {
    // SAFETY: the caller's promise, passed on.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, Each(values)) }.test_all()
}
