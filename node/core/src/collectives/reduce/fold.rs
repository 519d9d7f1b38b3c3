//! Lets algorithms for a power of two of members serve any number: neighbours fold into groups of
//! one or two, as evenly as possible, and the first member of each group represents it.
//!
//! ```text
//!  members   0   1 2   3   4 5        6 into 4 groups
//!  groups    0    1    2    3
//! ```

use super::Reduce;
use crate::collectives::group::{Outcome, Stepped, Steps};
use crate::collectives::range::Writable;
use crate::collectives::scratch::Scratch;

/// The step at which sources are ready.
pub const READY: usize = 1;

/// The groups that `size` members fold into.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    size: usize,
    /// Number of groups: the largest power of two that is at most `size`.
    pub groups: usize,
}

impl Fold {
    /// For `size` members, at least 1.
    pub fn new(size: usize) -> Self {
        Self { size, groups: 1 << size.ilog2() }
    }

    /// The first member of `group`, which represents it.
    pub fn first(self, group: usize) -> usize {
        group * self.size / self.groups
    }

    /// The group of `member`.
    pub fn group(self, member: usize) -> usize {
        (0..self.groups).rfind(|group| self.first(*group) <= member).unwrap_or(0)
    }

    /// The second member of `group`, if it has one.
    pub fn second(self, group: usize) -> Option<usize> {
        let second = self.first(group) + 1;
        (second < self.first(group + 1)).then_some(second)
    }

    /// Runs a reduction among the first members of the groups. Each of them combines the second
    /// member's elements with its own, in scratch memory, and then runs `rounds` on them. `rounds`
    /// leaves the result in dest and announces step `result`; the second member takes the result
    /// from there, one step later.
    ///
    /// # Errors
    /// Those of the group.
    pub fn around<G: Stepped>(
        self,
        group: &G,
        steps: &Steps<'_, G>,
        call: Reduce<'_>,
        result: usize,
        rounds: impl FnOnce(Writable<'_>) -> Outcome<G>,
    ) -> Outcome<G> {
        let (me, bytes, copied) = (group.index(), call.bytes(), result + 1);
        let own = self.group(me);
        let first = self.first(own);
        if me != first {
            steps.announce_to(READY, [first]);
            steps.await_member(result, first)?;
            // The first member waits below, and has read this PE's source.
            call.take_result(group, first)?;
            steps.announce_to(copied, [first]);
            return Ok(());
        }
        let mut sums = Scratch::new(bytes);
        let mine = sums.all();
        group.copy(call.source, mine);
        if let Some(second) = self.second(own) {
            // The second member's source stays ready until the result is there.
            steps.await_member(READY, second)?;
            call.combine(group, mine, true, group.source(call.source, second)?, call.n);
        }
        rounds(mine)?;
        steps.await_each(copied, self.second(own))
    }
}

#[cfg(test)]
#[test]
fn every_member_is_first_or_second_of_its_group() {
    for size in 1..70 {
        let fold = Fold::new(size);
        assert!(fold.groups <= size && size < 2 * fold.groups);
        for member in 0..size {
            let group = fold.group(member);
            assert!(fold.first(group) == member || fold.second(group) == Some(member));
        }
    }
}
