//! Rabenseifner's algorithm ("Optimization of collective reduction operations", 2004):
//! recursive halving leaves each member with one part of the result, recursive doubling
//! collects the parts.
//!
//! ```text
//!  4 members   halving:   0 and 2, 1 and 3 take half of what the other has and combine it,
//!                         then 0 and 1, 2 and 3 a quarter
//!              doubling:  0 and 1, 2 and 3 take the other's quarter, then the far pairs
//!                         the other's half
//! ```
//!
//! `2 log2` rounds; each member moves the bytes five times at most, whatever the number of members.
//! If that is not a power of two, neighbours fold first ([`super::fold`]).

use super::Reduce;
use super::block::ElementRange;
use super::fold::{Fold, READY};
use crate::collectives::group::{CollectiveGroup, Outcome};

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Reduce<'_>) -> Outcome<G> {
    let (me, elem) = (group.index(), call.kernel.bytes());
    let fold = Fold::new(group.size());
    let rounds = fold.groups.ilog2() as usize;
    let own = fold.group(me);
    let result = READY + 2 * rounds + 1;
    // The part that group `of` still has after `rounds_done` rounds of halving.
    let part = |of: usize, rounds_done: usize| {
        (0..rounds_done).fold(ElementRange::all(call.n), |part, round| {
            let low = part.n / 2;
            if of & fold.groups >> (round + 1) == 0 {
                ElementRange { first: part.first, n: low }
            } else {
                ElementRange { first: part.first + low, n: part.n - low }
            }
        })
    };
    group.steps(result + 1, |steps| {
        let partner = |round: usize| fold.first(own ^ fold.groups >> (round + 1));
        // A partner takes the half of this PE's dest that this PE gives up. This PE writes that
        // half again only when the partner has its result. Partners wait in the same way.
        fold.around(group, steps, call, result, |mine| {
            group.copy(mine, call.dest);
            for round in 0..rounds {
                steps.announce(READY + round + 1);
                let keep = part(own, round + 1);
                let (at, length) = keep.range(elem);
                steps.await_member(READY + round + 1, partner(round))?;
                let theirs = group.dest(call.dest, partner(round))?.part(at, length);
                let mine = mine.part(at, length);
                let lower = own & fold.groups >> (round + 1) == 0;
                call.combine(group, mine, lower, theirs.into(), keep.n);
                group.copy(mine, call.dest.part(at, length));
            }
            for round in (0..rounds).rev() {
                let step = READY + 2 * rounds - round;
                steps.announce(step);
                let (at, length) = part(own ^ fold.groups >> (round + 1), round + 1).range(elem);
                steps.await_member(step, partner(round))?;
                let theirs = group.dest(call.dest, partner(round))?.part(at, length);
                group.copy(theirs, call.dest.part(at, length));
            }
            steps.announce(result);
            steps.await_each(result, (0..rounds).map(partner))
        })
    })
}
