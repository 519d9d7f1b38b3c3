//! Coloured pairwise: in each round, members copy from the partner with whom they [take a
//! turn](crate::collectives::turns). Unlike XOR, this works for any number of members; if it is odd, one
//! member sits out each round.
//!
//! Over nodes, small blocks travel with the steps: nobody waits for a source, or for all at the end. Members
//! that are alone on their nodes send them to each other, others all of them [together](super::small).

use super::pairwise::{self, Completion, Schedule};
use super::{Alltoall, BlockLayout, small};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::message::{Room, content, words_of};
use crate::collectives::sent;
use crate::collectives::turns;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(
    group: &G,
    call: Alltoall<'_>,
    completion: Completion,
) -> Outcome<G> {
    if let (true, BlockLayout::Dense(bytes)) = (group.sends(), call.blocks) {
        let alone = group.nodes().len() == group.size();
        if alone && bytes <= sent::MOST_BYTES {
            return by_messages(group, call, bytes);
        }
        if !alone && words_of(bytes) * group.size() <= group.room() {
            return small::run(group, call);
        }
    }
    pairwise::run(group, call, COLOURED, completion)
}

fn by_messages<G: CollectiveGroup>(group: &G, call: Alltoall<'_>, bytes: usize) -> Outcome<G> {
    call.take(group, group.index())?;
    let (mut mine, mut theirs) = (Room::new(), Room::new());
    // Messages from different members need no different steps.
    group.steps(1, |steps| {
        turns::partners(group.index(), group.size()).try_for_each(|member| {
            let block = member * bytes;
            steps.send(1, member, mine.blocks(group, call.source.part(block, bytes), bytes, 1))?;
            let theirs = theirs.zeros(words_of(bytes));
            steps.receive(1, member, theirs)?;
            group.copy(content(theirs, bytes), call.dest.part(block, bytes));
            Ok(())
        })
    })
}

/// For any number of members.
pub const COLOURED: Schedule = Schedule { rounds: turns::rounds, partner: turns::partner };

#[cfg(test)]
#[test]
fn everyone_meets_everyone() {
    for size in 1..20 {
        super::pairwise::check(COLOURED, size);
        for round in 0..(COLOURED.rounds)(size) {
            for me in 0..size {
                if let Some(other) = turns::partner(round, me, size) {
                    assert_eq!(turns::partner(round, other, size), Some(me), "{round}, {size}");
                }
            }
        }
    }
}
