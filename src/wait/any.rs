//! Wait for, or test, any one of an array, fairly.
#![allow(unsafe_code)]

use super::elements::{Ivars, Values};
use super::{Waitable, polite};
use crate::error::Routine;
use crate::stats::{For, Wait};
use std::cell::Cell;
use std::ffi::c_int;

/// "No element": the empty set, or none satisfied.
const NONE: usize = usize::MAX;

/// Where this thread's next search starts. Repeated calls on one array go round it,
/// so each satisfied element comes up in turn. A call on another array than the
/// last starts at random, so that no pattern of alternating arrays keeps an
/// element from coming up for ever.
#[derive(Clone, Copy)]
struct Cursor {
    array: usize,
    next: usize,
    random: u64,
}

thread_local! {
    static CURSOR: Cell<Cursor> =
        const { Cell::new(Cursor { array: 0, next: 0, random: 0x9e37_79b9_7f4a_7c15 }) };
}

impl Cursor {
    /// Where to start in `array` of `len` elements, at least one.
    fn start(&mut self, array: usize, len: usize) -> usize {
        if self.array != array {
            // Marsaglia's xorshift64 (Journal of Statistical Software 8/14, 2003).
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            self.array = array;
            self.next = self.random as usize;
        }
        self.next % len
    }
}

impl<T: Waitable, V: Values<T>> Ivars<T, V> {
    /// A satisfied element, or `None`.
    fn find(&self) -> Option<usize> {
        if self.len() == 0 {
            return None;
        }
        let mut cursor = CURSOR.get();
        let start = cursor.start(self.address(), self.len());
        let found = self.counting_from(start).find(|i| self.satisfied(*i));
        if let Some(i) = found {
            cursor.next = i + 1;
        }
        CURSOR.set(cursor);
        found
    }

    fn wait_any(self, routine: Routine) -> usize {
        if let Some(i) = self.find() {
            return i;
        }
        let Some(first) = self.counting().next() else { return NONE };
        let mut pause = Wait::new(For::Variable, self.about(routine, first));
        loop {
            pause.step();
            if let Some(i) = self.find() {
                return i;
            }
        }
    }

    fn test_any(self) -> usize {
        let found = self.find();
        polite::tested(found.is_some());
        found.unwrap_or(NONE)
    }
}

/// Waits until an element that `status` does not mask compares to its value; returns
/// its index, or `usize::MAX` at once if all are masked.
///
/// # Safety
/// As for [`super::wait_until_all`].
#[inline]
pub unsafe fn wait_until_any<T: Waitable>(
    routine: Routine,
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    values: impl Values<T>,
) -> usize {
    // SAFETY: the caller's promise, passed on.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, values) }.wait_any(routine)
}

/// The index of an element that `status` does not mask and that compares to
/// its value, or `usize::MAX`.
///
/// # Safety
/// As for [`super::wait_until_all`].
#[inline]
pub unsafe fn test_any<T: Waitable>(
    routine: Routine,
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    values: impl Values<T>,
) -> usize {
    // SAFETY: the caller's promise, passed on.
    unsafe { Ivars::new(routine, ivars, nelems, status, cmp, values) }.test_any()
}
