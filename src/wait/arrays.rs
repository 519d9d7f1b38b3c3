//! The routines that wait for, or test, arrays of variables: their arguments, checked and made what
//! [`all`](super::all), [`any`](super::any) and [`some`](super::some) work on.
#![allow(unsafe_code)]

use super::Waitable;
use super::elements::{Indices, Ivars, Values};
use crate::error::Routine;
use std::ffi::c_int;

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
    // SAFETY: this routine asks the same of its callers.
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
    // SAFETY: this routine asks the same of its callers.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, values) }.test_all()
}

/// Waits until an element that `status` does not mask compares to its value; returns
/// its index, or `usize::MAX` at once if all are masked.
///
/// # Safety
/// As for [`wait_until_all`].
#[inline]
pub unsafe fn wait_until_any<T: Waitable>(
    routine: Routine,
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    values: impl Values<T>,
) -> usize {
    // SAFETY: this routine asks the same of its callers.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, values) }.wait_any(routine)
}

/// The index of an element that `status` does not mask and that compares to
/// its value, or `usize::MAX`.
///
/// # Safety
/// As for [`wait_until_all`].
#[inline]
pub unsafe fn test_any<T: Waitable>(
    routine: Routine,
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    values: impl Values<T>,
) -> usize {
    // SAFETY: this routine asks the same of its callers.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, values) }.test_any()
}

/// Waits until elements that `status` does not mask compare to their values; writes their
/// indices and returns how many, 0 at once if all are masked.
///
/// # Safety
/// As for [`wait_until_all`]; `indices` has room for `nelems` indices.
#[inline]
pub unsafe fn wait_until_some<T: Waitable>(
    routine: Routine,
    ivars: *mut T,
    nelems: usize,
    indices: *mut usize,
    status: *const c_int,
    cmp: c_int,
    values: impl Values<T>,
) -> usize {
    // SAFETY: this routine asks the same of its callers.
    let (ivars, indices) = unsafe {
        let indices = Indices::new(routine, indices, nelems);
        (Ivars::new(routine, ivars, nelems, status, cmp, values), indices)
    };
    ivars.wait_some(routine, indices)
}

/// Writes the indices of the elements that `status` does not mask and that compare
/// to their values; returns how many.
///
/// # Safety
/// As for [`wait_until_some`].
#[inline]
pub unsafe fn test_some<T: Waitable>(
    routine: Routine,
    ivars: *mut T,
    nelems: usize,
    indices: *mut usize,
    status: *const c_int,
    cmp: c_int,
    values: impl Values<T>,
) -> usize {
    // SAFETY: this routine asks the same of its callers.
    let (ivars, indices) = unsafe {
        let indices = Indices::new(routine, indices, nelems);
        (Ivars::new(routine, ivars, nelems, status, cmp, values), indices)
    };
    ivars.test_some(indices)
}
