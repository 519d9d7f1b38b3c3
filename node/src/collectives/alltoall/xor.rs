//! XOR pairwise: in round `r` the partners are those whose numbers differ in the bits of
//! `r`, so they copy from each other.

use super::pairwise::Schedule;

/// For a power of two of members.
pub const XOR: Schedule =
    Schedule { rounds: |size| size - 1, partner: |round, me, _| Some(me ^ (round + 1)) };

#[cfg(test)]
#[test]
fn everyone_meets_everyone() {
    (0..6).for_each(|log| super::pairwise::check(XOR, 1 << log));
}
