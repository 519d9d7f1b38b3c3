//! Bruck's algorithm (Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all
//! communications in multiport message-passing systems", 1997): in round `r` each member takes the
//! parts that the member `2^r` after it has. It then has twice as many parts, its own and those
//! after it. `ceil(log2 size)` rounds for any number of members; each member moves the bytes of the
//! result once.
//!
//! ```text
//!  5 members, member 3      has 3      takes 4 from 4, 0 1 from 0, 2 from 2
//!  as published             3 4 0 1 2  in its dest, rotated at the end
//!  without rotation         0 1 2 3 4  each part goes to its place at once, in two pieces
//!                                      where the parts wrap around
//! ```

use super::{Collect, CollectResult, Parts};
use crate::collectives::group::{CollectiveGroup, Outcome, Stepped, Steps};
use crate::collectives::scratch::Scratch;

/// Runs the rounds. `take(from, first, count)` copies the parts `first .. first + count` (modulo
/// the number of members) from member `from`, which has them.
fn rounds<G: Stepped>(
    group: &G,
    steps: &Steps<'_, G>,
    take: impl Fn(usize, usize, usize) -> Outcome<G>,
) -> Outcome<G> {
    let (me, size) = (group.index(), group.size());
    let spans = || std::iter::successors(Some(1), |have| Some(have * 2)).take_while(|h| *h < size);
    for (round, have) in spans().enumerate() {
        let from = (me + have) % size;
        steps.await_member(round + 1, from)?;
        take(from, from, have.min(size - have))?;
        // `from` waits for this announcement below; the other member waits for the parts.
        steps.announce_to(round + 2, [from, (me + size - 2 * have % size) % size]);
    }
    for (round, have) in spans().enumerate() {
        steps.await_member(round + 2, (me + size - have) % size)?;
    }
    Ok(())
}

fn steps_for(size: usize) -> usize {
    size.next_power_of_two().ilog2() as usize + 2
}

/// Bruck's algorithm without rotation, for parts of any length.
pub fn in_place<G: Stepped>(group: &G, call: &Collect<'_>) -> Outcome<G> {
    call.serve_self(group);
    exchange(group, call.whole())
}

/// As [`in_place`], where each member's own part is in its place in dest already.
pub fn exchange<G: Stepped>(group: &G, whole: &CollectResult<'_>) -> Outcome<G> {
    let size = group.size();
    group.steps(steps_for(size), |steps| {
        steps.announce_to(1, [(group.index() + size - 1) % size]);
        rounds(group, steps, |from, first, count| {
            let end = (first + count).min(size);
            // `from` waits for this PE.
            whole.take(group, from, first, end)?;
            whole.take(group, from, 0, first + count - end)
        })
    })
}

/// Bruck's algorithm as published, for parts of equal length. Each member moves the result twice
/// more, for the rotation.
pub fn rotated<G: CollectiveGroup>(group: &G, call: &Collect<'_>) -> Outcome<G> {
    let CollectResult { dest, parts: Parts::Equal(each) } = *call.whole() else {
        unreachable!("the selector does not give it parts of different lengths")
    };
    let (me, size) = (group.index(), group.size());
    group.steps(steps_for(size), |steps| {
        group.copy(call.own(), dest.part(0, each));
        steps.announce_to(1, [(me + size - 1) % size]);
        rounds(group, steps, |from, first, count| {
            // Every member has its own part at the front of its dest.
            let at = (first + size - me) % size * each;
            let theirs = group.dest(dest, from)?.part(0, count * each);
            // `from` waits for this PE.
            group.copy(theirs, dest.part(at, count * each));
            Ok(())
        })?;
        // Nobody reads this PE's dest any more.
        let mut scratch = Scratch::new(size * each);
        let rotated = scratch.all();
        let (front, back) = ((size - me) * each, me * each);
        group.copy(dest.part(0, size * each), rotated);
        group.copy(rotated.part(0, front), dest.part(back, front));
        group.copy(rotated.part(front, back), dest.part(0, back));
        Ok(())
    })
}
