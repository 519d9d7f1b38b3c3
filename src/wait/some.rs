//! Wait for, or test, some of an array: every call looks at every element.

use super::elements::{Indices, Ivars, Values};
use super::{Waitable, polite};
use crate::error::Routine;
use crate::stats::{For, Wait};

impl<T: Waitable, V: Values<T>> Ivars<T, V> {
    /// Writes the satisfied elements' indices, and returns how many; waits until there is one,
    /// unless the set is empty.
    pub(super) fn wait_some(self, routine: Routine, indices: Indices) -> usize {
        let mut found = self.collect(indices);
        if found == 0
            && let Some(first) = self.counting().next()
        {
            let mut pause = Wait::new(For::Variable, self.about(routine, first));
            while found == 0 {
                pause.step();
                found = self.collect(indices);
            }
        }
        found
    }

    /// As `wait_some`, but does not wait.
    pub(super) fn test_some(self, indices: Indices) -> usize {
        let found = self.collect(indices);
        polite::tested(found != 0);
        found
    }
}
