//! Waits for, or tests, any one element of an array, fairly.

use super::elements::{Element, Ivars, Values};
use super::{Waitable, backoff};
use crate::error::Routine;
use crate::stats::{For, Wait};
use std::cell::Cell;

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

impl<T: Waitable, V: Values<T>> Ivars<'_, T, V> {
    /// The number of a satisfied element, if any.
    fn find(&self) -> Option<usize> {
        if self.len() == 0 {
            return None;
        }
        let mut cursor = CURSOR.get();
        let start = cursor.start(self.address(), self.len());
        let found = self.counting_from(start).find(|i| self.satisfied(*i)).map(Element::number);
        if let Some(i) = found {
            cursor.next = i + 1;
        }
        CURSOR.set(cursor);
        found
    }

    pub(super) fn wait_any(self, routine: Routine) -> usize {
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

    pub(super) fn test_any(self) -> usize {
        let found = self.find();
        backoff::tested(found.is_some());
        found.unwrap_or(NONE)
    }
}
