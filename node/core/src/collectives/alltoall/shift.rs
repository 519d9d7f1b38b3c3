//! Shift: in round `r` each member copies from the member `r` after it.

use super::pairwise::Schedule;

/// For any number of members.
pub const SHIFT: Schedule =
    Schedule { rounds: |size| size - 1, partner: |round, me, size| Some((me + round + 1) % size) };

#[cfg(test)]
#[test]
fn everyone_meets_everyone() {
    (1..20).for_each(|size| super::pairwise::check(SHIFT, size));
}
