//! XOR pairwise: in round `r` the partners are the members whose numbers differ in the bits of `r`,
//! so they copy from each other.

use super::pairwise::Schedule;

/// For a number of members that is a power of two.
pub const XOR: Schedule =
    Schedule { rounds: |size| size - 1, partner: |round, me, _| Some(me ^ (round + 1)) };

#[cfg(test)]
#[test]
fn everyone_meets_everyone() {
    (0..6).for_each(|log| super::pairwise::check(XOR, 1 << log));
}
