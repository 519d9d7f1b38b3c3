//! Coloured pairwise: the edges of the complete graph of all members are coloured so that no two
//! edges of a colour meet, as in a round-robin tournament. In each round, the partners are the
//! members whose edge has the round's colour, and they copy from each other. Unlike XOR, this works
//! for any number of members; if it is odd, one member sits out each round.
//!
//! The edge of `i` and `j` has the colour `i + j` modulo `m`, which is the odd one of the number of
//! members and the number below it. If the number of members is even, a member that would meet
//! itself meets the last member.
//!
//! Members that are alone on their nodes send each other blocks that fit a message with the step, since
//! partners exchange: nobody waits for a source, or for all at the end.

use super::pairwise::{self, Completion, Schedule};
use super::{Alltoall, BlockLayout};
use crate::collectives::group::{CollectiveGroup, Outcome, Stepped, Steps};
use crate::collectives::message::{Room, content, words_of};
use crate::collectives::sent;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(
    group: &G,
    call: Alltoall<'_>,
    completion: Completion,
) -> Outcome<G> {
    match call.blocks {
        BlockLayout::Dense(bytes) if bytes <= sent::MOST_BYTES && sends_to_each(group) => {
            by_messages(group, call, bytes)
        }
        _ => pairwise::run(group, call, COLOURED, completion),
    }
}

fn by_messages<G: CollectiveGroup>(group: &G, call: Alltoall<'_>, bytes: usize) -> Outcome<G> {
    call.take(group, group.index())?;
    let (mut mine, mut theirs) = (Room::new(), Room::new());
    in_rounds(group, |steps, step, member| {
        let block = member * bytes;
        steps.send(step, member, mine.blocks(group, call.source.part(block, bytes), bytes, 1));
        let theirs = theirs.zeros(words_of(bytes));
        steps.receive(step, member, theirs)?;
        group.copy(content(theirs, bytes), call.dest.part(block, bytes));
        Ok(())
    })
}

/// Whether each member can send a message to each other one: all are alone on their nodes.
pub fn sends_to_each(group: &impl Stepped) -> bool {
    group.sends() && group.nodes().len() == group.size()
}

/// Sends `mine`, of the same length at all members, to each, and passes each member's (this process's
/// included) to `each`, in the members' order. For a group that [can](sends_to_each). A collective of its
/// own.
///
/// # Errors
/// Those of the group and of `each`.
pub fn exchange<G: Stepped>(
    group: &G,
    mine: &[u64],
    mut each: impl FnMut(usize, &[u64]) -> Outcome<G>,
) -> Outcome<G> {
    let mut all = vec![[0; sent::MOST_WORDS]; group.size()];
    all[group.index()][..mine.len()].copy_from_slice(mine);
    in_rounds(group, |steps, step, member| {
        steps.send(step, member, mine);
        steps.receive(step, member, &mut all[member][..mine.len()])
    })?;
    (0..).zip(&all).try_for_each(|(member, theirs)| each(member, &theirs[..mine.len()]))
}

/// Takes a turn with each other member, in the order of the schedule.
fn in_rounds<G: Stepped>(
    group: &G,
    mut turn: impl FnMut(&Steps<'_, G>, usize, usize) -> Outcome<G>,
) -> Outcome<G> {
    let (me, size) = (group.index(), group.size());
    let rounds = (COLOURED.rounds)(size);
    group.steps(rounds, |steps| {
        let partners = (0..rounds).map(|round| (round + 1, partner(round, me, size)));
        let mut partners = partners.filter_map(|(step, partner)| Some((step, partner?)));
        partners.try_for_each(|(step, member)| turn(steps, step, member))
    })
}

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
