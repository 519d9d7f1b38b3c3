//! Recursive doubling (Hillis and Steele, "Data parallel algorithms", 1986): after round
//! `r` each member has the sums of the `2^(r+1)` members up to itself.
//!
//! ```text
//!           member 0    1        2          3
//!  before      0        1        2          3
//!  round 0     0        0+1      1+2        2+3
//!  round 1     0        0+1      0+(1+2)    (0+1)+(2+3)
//! ```
//!
//! `ceil(log2 size)` rounds, one more if the scan is exclusive; in each round a member moves the
//! bytes twice.

use super::Scan;
use crate::collectives::group::{Outcome, Stepped};
use crate::collectives::range::Writable;
use crate::collectives::scratch::Scratch;

/// Runs the algorithm.
pub fn run<G: Stepped>(group: &G, call: Scan<'_>) -> Outcome<G> {
    let (me, size, bytes) = (group.index(), group.size(), call.bytes());
    let rounds = size.next_power_of_two().ilog2() as usize;
    group.steps(2 * rounds + 3, |steps| {
        let (mut one, mut other) = (Scratch::new(bytes), Scratch::new(bytes));
        let (mut mine, mut theirs) = (one.all(), other.all());
        // Takes the sums of the member `distance` before this one, if there is one. Returns when
        // the member `distance` after this one has taken this PE's sums, so that dest may be
        // written again.
        let shift = |round: usize, distance: usize, into: Writable<'_>| {
            let (there, taken) = (2 * round + 1, 2 * round + 2);
            let before = me.checked_sub(distance);
            if let Some(before) = before {
                steps.await_member(there, before)?;
                group.copy(group.dest(call.dest, before)?, into);
            }
            steps.announce_to(taken, before);
            steps.await_each(taken, (me + distance..size).take(1))?;
            Ok(before.is_some())
        };
        group.copy(call.source, mine);
        group.copy(mine, call.dest);
        let after = |distance: usize| (me + distance..size).take(1);
        steps.announce_to(1, after(1));
        for round in 0..rounds {
            if shift(round, 1 << round, theirs)? {
                call.kernel.combine(theirs, theirs.readable(), mine.readable(), call.n);
                std::mem::swap(&mut mine, &mut theirs);
                group.copy(mine, call.dest);
            }
            // In an exclusive scan, one more exchange follows.
            let next = if round + 1 < rounds { 2 << round } else { 1 };
            steps.announce_to(2 * round + 3, after(next));
        }
        if !call.inclusive {
            if shift(rounds, 1, theirs)? {
                group.copy(theirs, call.dest);
            } else {
                call.dest.zero();
            }
        }
        Ok(())
    })
}
