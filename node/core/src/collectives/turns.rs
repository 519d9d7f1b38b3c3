//! Pairs of members take turns: the edges of the complete graph of all members are coloured so that no two
//! edges of a colour meet, as in a round-robin tournament. In each round, the partners are the members whose
//! edge has the round's colour.
//!
//! The edge of `i` and `j` has the colour `i + j` modulo `m`, which is the odd one of the number of
//! members and the number below it. If the number of members is even, a member that would meet
//! itself meets the last member.

/// How many rounds all pairs of `size` members take.
pub fn rounds(size: usize) -> usize {
    if size == 1 { 0 } else { modulus(size) }
}

/// The partner of member `me` in a round, if it has one.
pub fn partner(round: usize, me: usize, size: usize) -> Option<usize> {
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

/// The other members, in the order in which member `me` meets them.
pub fn partners(me: usize, size: usize) -> impl Iterator<Item = usize> {
    (0..rounds(size)).filter_map(move |round| partner(round, me, size))
}

fn modulus(size: usize) -> usize {
    (size - 1) | 1
}
