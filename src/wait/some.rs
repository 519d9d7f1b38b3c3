//! Wait for, or test, some of an array: every call looks at every element.
#![allow(unsafe_code)]

use super::elements::{Ivars, Values};
use super::{Waitable, polite};
use crate::argument;
use crate::error::Routine;
use crate::stats::{For, Wait};
use std::ffi::c_int;

impl<T: Waitable, V: Values<T>> Ivars<T, V> {
    /// Writes the satisfied elements' indices; returns how many.
    ///
    /// # Safety
    /// `indices` has room for all elements.
    unsafe fn collect(&self, indices: *mut usize) -> usize {
        let mut found = 0;
        for i in self.counting().filter(|i| self.satisfied(*i)) {
            // SAFETY: `found` is at most the number of elements seen.
            unsafe { indices.add(found).write(i) };
            found += 1;
        }
        found
    }

    /// As `collect`, but waits until there is one, unless the set is empty.
    ///
    /// # Safety
    /// As for `collect`.
    unsafe fn wait_some(self, routine: Routine, indices: *mut usize) -> usize {
        // SAFETY: the caller's promise, here and below.
        let mut found = unsafe { self.collect(indices) };
        if found == 0
            && let Some(first) = self.counting().next()
        {
            let mut pause = Wait::new(For::Variable, self.about(routine, first));
            while found == 0 {
                pause.step();
                // SAFETY: as above.
                found = unsafe { self.collect(indices) };
            }
        }
        found
    }

    /// As `collect`, politely.
    ///
    /// # Safety
    /// As for `collect`.
    unsafe fn test_some(self, indices: *mut usize) -> usize {
        // SAFETY: the caller's promise.
        let found = unsafe { self.collect(indices) };
        polite::tested(found != 0);
        found
    }
}

#[inline]
fn check_indices(routine: Routine, indices: *mut usize, nelems: usize) {
    if nelems != 0 {
        argument::not_null(routine, "indices", indices);
    }
}

/// Waits until elements that `status` does not mask compare to their values; writes their
/// indices and returns how many, 0 at once if all are masked.
///
/// # Safety
/// As for [`super::wait_until_all`]; `indices` has room for `nelems` indices.
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
    check_indices(routine, indices, nelems);
    // SAFETY: the caller's promise, passed on.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, values).wait_some(routine, indices) }
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
    check_indices(routine, indices, nelems);
    // SAFETY: the caller's promise, passed on.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, values).test_some(indices) }
}
