//! Waits for, or tests, some elements of an array. Every call tests every element.

use super::elements::{Indices, Ivars, Values};
use super::{Waitable, backoff};
use crate::error::Routine;
use crate::stats::{For, Wait};

impl<T: Waitable, V: Values<T>> Ivars<'_, T, V> {
    /// Writes the indices of the satisfied elements and returns their number. Waits until there is
    /// one, unless the set is empty.
    pub(super) fn wait_some(self, routine: Routine, indices: Indices<'_>) -> usize {
        let mut found = self.collect(indices);
        if found > 0 {
            return found;
        }
        let Some(first) = self.counting().next() else { return 0 };
        let mut pause = Wait::new(For::Variable, self.about(routine, first));
        while found == 0 {
            pause.step();
            found = self.collect(indices);
        }
        found
    }

    /// As `wait_some`, without waiting.
    pub(super) fn test_some(self, indices: Indices<'_>) -> usize {
        let found = self.collect(indices);
        backoff::tested(found != 0);
        found
    }
}
