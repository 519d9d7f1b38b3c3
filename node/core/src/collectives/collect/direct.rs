//! The direct algorithm, possible only in shared memory: every member copies every part from where
//! it lies, its successor's first. Two steps; each member moves the bytes of the result once.

use super::Collect;
use crate::collectives::group::{CollectiveGroup, Outcome, others_first};

const READY: usize = 1;
const COPIED: usize = 2;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: &Collect<'_>) -> Outcome<G> {
    let me = group.index();
    group.steps(COPIED, |steps| {
        steps.announce(READY);
        for member in others_first(me, group.size()) {
            if call.bytes_of(member) > 0 {
                steps.await_member(READY, member)?;
                call.fetch(group, member)?; // It waits below.
            }
        }
        steps.finish(COPIED)
    })
}
