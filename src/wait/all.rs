//! Waits for, or tests, all elements of an array.

use super::elements::{Ivars, Values};
use super::{Waitable, backoff};
use crate::error::Routine;
use crate::stats::{For, Wait};
use std::ffi::c_int;

impl<T: Waitable, V: Values<T>> Ivars<'_, T, V> {
    /// Waits for one element after the other. Returns immediately for an empty set.
    pub(super) fn wait_all(self, routine: Routine) {
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

    /// 1 if all elements satisfy the comparison, which also holds for an empty set.
    pub(super) fn test_all(self) -> c_int {
        backoff::tested(self.counting().all(|i| self.satisfied(i))) as c_int
    }
}
