//! The direct algorithm, possible only in shared memory: every member copies its block out of every
//! source, its successor's first. Two steps; each member moves `size` blocks.

use super::Alltoall;
use crate::collectives::group::{CollectiveGroup, Outcome, others_first};

const READY: usize = 1;
const COPIED: usize = 2;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Alltoall<'_>) -> Outcome<G> {
    let (me, size) = (group.index(), group.size());
    group.steps(COPIED, |steps| {
        steps.announce(READY);
        for member in others_first(me, size) {
            steps.await_member(READY, member)?;
            call.take(group, member)?; // Which waits below.
        }
        steps.finish(COPIED)
    })
}
