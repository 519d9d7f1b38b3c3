//! The head of each node gathers its node's parts, the heads exchange them by
//! [Bruck's algorithm](super::bruck), and the others copy the result from their head. Each part
//! goes to each node once.

use super::{Collect, Parts, Whole, bruck};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::levels::Levels;

const READY: usize = 1;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: &Collect<'_>) -> Outcome<G> {
    let (levels, whole) = (Levels::new(group), call.whole());
    let there = READY + levels.steps() + 1;
    let copied = there + 1;
    let all = whole.parts.bytes(0, group.size());
    group.steps(copied, |steps| {
        if !levels.is_head() {
            steps.announce(READY);
            steps.await_member(there, levels.head())?;
            if all > 0 {
                // The head waits below until this PE has the result.
                whole.take(group, levels.head(), 0, group.size())?;
            }
            steps.announce(copied);
            return Ok(());
        }
        // Nobody reads this PE's dest yet, and the others wait for the result before they reuse
        // their sources.
        call.serve_self(group);
        for member in levels.others() {
            steps.await_member(READY, member)?;
            if call.bytes_of(member) > 0 {
                call.fetch(group, member)?;
            }
        }
        if levels.nodes() > 1 && all > 0 {
            let starts = levels.starts().iter().map(|at| whole.parts.start(*at)).collect();
            let of_nodes = Whole { dest: whole.dest, parts: Parts::Varying(starts) };
            bruck::exchange(&levels.heads(steps, READY), &of_nodes)?;
        }
        steps.announce_near(there);
        steps.await_each(copied, levels.others())
    })
}
