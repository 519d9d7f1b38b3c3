//! Coloured pairwise: the edges of the complete graph of all members are coloured so that no two
//! edges of a colour meet, as in a round-robin tournament. In each round, the partners are the
//! members whose edge has the round's colour, and they copy from each other. Unlike XOR, this works
//! for any number of members; if it is odd, one member sits out each round.
//!
//! The edge of `i` and `j` has the colour `i + j` modulo `m`, which is the odd one of the number of
//! members and the number below it. If the number of members is even, a member that would meet
//! itself meets the last member.

use super::pairwise::Schedule;

/// For any number of members.
pub const COLOURED: Schedule =
    Schedule { rounds: |size| if size == 1 { 0 } else { modulus(size) }, partner };

fn modulus(size: usize) -> usize {
    (size - 1) | 1
}

fn partner(round: usize, me: usize, size: usize) -> Option<usize> {
    let m = modulus(size);
    // The member with 2 * alone = round (modulo m): half of m + 1 is the inverse of 2.
    let alone = round * m.div_ceil(2) % m;
    let last = (size % 2 == 0).then_some(size - 1);
    if Some(me) == last {
        Some(alone)
    } else if me == alone {
        last
    } else {
        Some((round + m - me) % m)
    }
}

#[cfg(test)]
#[test]
fn everyone_meets_everyone() {
    for size in 1..20 {
        super::pairwise::check(COLOURED, size);
        for round in 0..(COLOURED.rounds)(size) {
            for me in 0..size {
                if let Some(other) = partner(round, me, size) {
                    assert_eq!(partner(round, other, size), Some(me), "{round}, {size}");
                }
            }
        }
    }
}
