//! The head of each node combines its node's elements in place, the heads combine theirs by
//! [recursive doubling](super::recursive_doubling), by [messages](super::exchanged) if the elements
//! fit one, and the others copy the result. One member's bytes leave each node `log2` of the number
//! of nodes times, and enter it as often.

use super::{Reduce, exchanged, recursive_doubling};
use crate::collectives::group::{CollectiveGroup, Outcome, Stepped};
use crate::collectives::levels::Levels;
use crate::collectives::sent;

const READY: usize = 1;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Reduce<'_>) -> Outcome<G> {
    let levels = Levels::new(group);
    let there = READY + levels.steps() + 1;
    let copied = there + 1;
    group.steps(copied, |steps| {
        if !levels.is_head() {
            steps.announce(READY);
            steps.await_member(there, levels.head())?;
            // The head waits below, and has read this PE's source.
            call.take_result(group, levels.head())?;
            steps.announce(copied);
            return Ok(());
        }
        // Nobody reads this PE's dest yet. The others' sources are ready, and stay so until the
        // result is there.
        if !call.dest.is_at(call.source) {
            group.copy(call.source, call.dest);
        }
        for member in levels.others() {
            steps.await_member(READY, member)?;
            let theirs = group.source(call.source, member)?;
            call.combine(group, call.dest, true, theirs, call.n);
        }
        if levels.nodes() > 1 {
            let among_heads = Reduce { source: call.dest.readable(), ..call };
            let heads = levels.heads(steps, READY);
            if heads.sends() && call.bytes() <= sent::MOST_BYTES {
                exchanged::run(&heads, among_heads)?;
            } else {
                recursive_doubling::run(&heads, among_heads)?;
            }
        }
        steps.announce_near(there);
        steps.await_each(copied, levels.others())
    })
}
