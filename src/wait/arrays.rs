//! The routines that wait for, or test, arrays of variables. They check the arguments and pass them
//! to [`all`](super::all), [`any`](super::any) and [`some`](super::some).

use super::Waitable;
use super::elements::{Ivars, Values};
use crate::argument::memory::{In, Object, Out};
use crate::error::Routine;
use std::ffi::c_int;

/// Waits until every element that `status` does not mask satisfies the comparison with its value.
#[inline]
pub fn wait_until_all<T: Waitable>(
    routine: Routine,
    ivars: Object<'_, T>,
    status: Option<In<'_, c_int>>,
    cmp: c_int,
    values: impl Values<T>,
) {
    Ivars::new(routine, ivars, status, cmp, values).wait_all(routine);
}

/// 1 if every element that `status` does not mask satisfies the comparison with its value, else 0.
#[inline]
pub fn test_all<T: Waitable>(
    routine: Routine,
    ivars: Object<'_, T>,
    status: Option<In<'_, c_int>>,
    cmp: c_int,
    values: impl Values<T>,
) -> c_int {
    Ivars::new(routine, ivars, status, cmp, values).test_all()
}

/// Waits until an element that `status` does not mask satisfies the comparison with its value.
/// Returns its index, or `usize::MAX` immediately if all are masked.
#[inline]
pub fn wait_until_any<T: Waitable>(
    routine: Routine,
    ivars: Object<'_, T>,
    status: Option<In<'_, c_int>>,
    cmp: c_int,
    values: impl Values<T>,
) -> usize {
    Ivars::new(routine, ivars, status, cmp, values).wait_any(routine)
}

/// The index of an element that `status` does not mask and that satisfies the comparison with its
/// value, or `usize::MAX`.
#[inline]
pub fn test_any<T: Waitable>(
    routine: Routine,
    ivars: Object<'_, T>,
    status: Option<In<'_, c_int>>,
    cmp: c_int,
    values: impl Values<T>,
) -> usize {
    Ivars::new(routine, ivars, status, cmp, values).test_any()
}

/// Waits until elements that `status` does not mask satisfy the comparison with their values.
/// Writes their indices and returns their number, or 0 immediately if all are masked.
#[inline]
pub fn wait_until_some<T: Waitable>(
    routine: Routine,
    ivars: Object<'_, T>,
    indices: Option<Out<'_, usize>>,
    status: Option<In<'_, c_int>>,
    cmp: c_int,
    values: impl Values<T>,
) -> usize {
    let (ivars, indices) = Ivars::new(routine, ivars, status, cmp, values).with(routine, indices);
    ivars.wait_some(routine, indices)
}

/// Writes the indices of the elements that `status` does not mask and that satisfy the comparison
/// with their values. Returns their number.
#[inline]
pub fn test_some<T: Waitable>(
    routine: Routine,
    ivars: Object<'_, T>,
    indices: Option<Out<'_, usize>>,
    status: Option<In<'_, c_int>>,
    cmp: c_int,
    values: impl Values<T>,
) -> usize {
    let (ivars, indices) = Ivars::new(routine, ivars, status, cmp, values).with(routine, indices);
    ivars.test_some(indices)
}
