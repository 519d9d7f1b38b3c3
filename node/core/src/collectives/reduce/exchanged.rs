//! [Recursive doubling](super::recursive_doubling) over messages, for members that are alone on
//! their nodes: elements that fit a message go to the partner with the step. The order in which
//! they are combined is the same, so the result has the same bits.

use super::Reduce;
use super::fold::{Fold, READY};
use crate::collectives::group::{Outcome, Stepped};
use crate::collectives::message::{Room, content, words_of};
use crate::collectives::range::Writable;

/// Runs the algorithm. The group sends, and the elements fit a message.
pub fn run<G: Stepped>(group: &G, call: Reduce<'_>) -> Outcome<G> {
    let bytes = call.bytes();
    let fold = Fold::new(group.size());
    let rounds = fold.groups.ilog2() as usize;
    let result = READY + rounds + 1;
    let own = fold.group(group.index());
    let first = fold.first(own);
    let (mut room, mut room_for_theirs) = (Room::new(), Room::new());
    let mine = room.blocks(group, call.source, bytes, 1);
    let theirs = room_for_theirs.zeros(words_of(bytes));
    group.steps(result, |steps| {
        if group.index() != first {
            steps.send(READY, first, mine)?;
            return steps.receive(result, first, mine);
        }
        let combine = |theirs: &[u64], mine: &mut [u64], lower: bool| {
            let theirs = content(theirs, bytes);
            let mine = Writable::from(mine).part(0, bytes);
            let own = mine.readable();
            let (a, x) = if lower { (own, theirs) } else { (theirs, own) };
            call.kernel.combine(mine, a, x, call.n);
        };
        if let Some(second) = fold.second(own) {
            steps.receive(READY, second, theirs)?;
            combine(theirs, mine, true);
        }
        for round in 0..rounds {
            let distance = 1 << round;
            let partner = fold.first(own ^ distance);
            steps.send(READY + 1 + round, partner, mine)?;
            steps.receive(READY + 1 + round, partner, theirs)?;
            combine(theirs, mine, own & distance == 0);
        }
        if let Some(second) = fold.second(own) {
            steps.send(result, second, mine)?;
        }
        Ok(())
    })?;
    group.copy(content(mine, bytes), call.dest);
    Ok(())
}
