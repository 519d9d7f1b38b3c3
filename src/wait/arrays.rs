//! The routines that wait for, or test, arrays of variables: all, any (fairly) or some of the elements that
//! `status` does not mask.

use super::elements::{Element, Ivars};
use super::{Waitable, backoff};
use crate::argument::memory::Out;
use crate::pause::Wait;
use oneshmem_job::stats::For;
use std::cell::Cell;
use std::ffi::c_int;

/// Waits until every element that `status` does not mask satisfies the comparison with its value.
#[inline]
pub fn wait_until_all<T: Waitable>(ivars: Ivars<'_, T>) {
    for i in ivars.counting() {
        if !ivars.satisfied(i) {
            let mut pause = Wait::new(For::Variable, ivars.about(i));
            while {
                pause.step();
                !ivars.satisfied(i)
            } {}
        }
    }
}

/// 1 if every element that `status` does not mask satisfies the comparison with its value, else 0.
#[inline]
pub fn test_all<T: Waitable>(ivars: Ivars<'_, T>) -> c_int {
    backoff::tested(ivars.counting().all(|i| ivars.satisfied(i))) as c_int
}

/// Waits until an element that `status` does not mask satisfies the comparison with its value.
/// Returns its index, or `usize::MAX` immediately if all are masked.
#[inline]
pub fn wait_until_any<T: Waitable>(ivars: Ivars<'_, T>) -> usize {
    if let Some(i) = find(&ivars) {
        return i;
    }
    let Some(first) = ivars.counting().next() else { return NONE };
    let mut pause = Wait::new(For::Variable, ivars.about(first));
    loop {
        pause.step();
        if let Some(i) = find(&ivars) {
            return i;
        }
    }
}

/// The index of an element that `status` does not mask and that satisfies the comparison with its
/// value, or `usize::MAX`.
#[inline]
pub fn test_any<T: Waitable>(ivars: Ivars<'_, T>) -> usize {
    let found = find(&ivars);
    backoff::tested(found.is_some());
    found.unwrap_or(NONE)
}

/// Waits until elements that `status` does not mask satisfy the comparison with their values.
/// Writes their indices and returns their number, or 0 immediately if all are masked.
#[inline]
pub fn wait_until_some<T: Waitable>(ivars: Ivars<'_, T>, indices: Option<Out<'_, usize>>) -> usize {
    let indices = ivars.indices(indices);
    let mut found = ivars.collect(indices);
    if found > 0 {
        return found;
    }
    let Some(first) = ivars.counting().next() else { return 0 };
    let mut pause = Wait::new(For::Variable, ivars.about(first));
    while found == 0 {
        pause.step();
        found = ivars.collect(indices);
    }
    found
}

/// Writes the indices of the elements that `status` does not mask and that satisfy the comparison
/// with their values. Returns their number.
#[inline]
pub fn test_some<T: Waitable>(ivars: Ivars<'_, T>, indices: Option<Out<'_, usize>>) -> usize {
    let indices = ivars.indices(indices);
    let found = ivars.collect(indices);
    backoff::tested(found != 0);
    found
}

/// "No element": the set is empty, or no element satisfies the comparison.
const NONE: usize = usize::MAX;

/// Where this thread's next search starts. Repeated calls on one array cycle through it, so each
/// satisfied element comes up in turn. A call on a different array than the last one starts at
/// random, so that no pattern of alternating arrays can keep an element from ever coming up.
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
    /// Where to start in `array`, which has `len` elements, at least one.
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

/// The number of a satisfied element, if any.
fn find<T: Waitable>(ivars: &Ivars<'_, T>) -> Option<usize> {
    if ivars.len() == 0 {
        return None;
    }
    let mut cursor = CURSOR.get();
    let start = cursor.start(ivars.address(), ivars.len());
    let found = ivars.counting_from(start).find(|i| ivars.satisfied(*i)).map(Element::number);
    if let Some(i) = found {
        cursor.next = i + 1;
    }
    CURSOR.set(cursor);
    found
}
