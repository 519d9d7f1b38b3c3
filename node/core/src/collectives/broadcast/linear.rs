//! The root writes to one member after the other. It moves the bytes once for each dest, the others
//! move nothing.

use super::Broadcast;
use crate::collectives::group::{CollectiveGroup, Outcome, others_first};

const ENTERED: usize = 1;
const WRITTEN: usize = 2;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Broadcast<'_>) -> Outcome<G> {
    let me = group.index();
    group.steps(WRITTEN, |steps| {
        steps.announce(ENTERED);
        if me == call.root {
            for member in others_first(me, group.size()).filter(|member| *member != me) {
                steps.await_member(ENTERED, member)?;
                group.copy(call.source, group.dest(call.dest, member)?);
            }
            call.serve_root(group);
            steps.announce(WRITTEN);
        } else {
            steps.await_member(WRITTEN, call.root)?;
        }
        Ok(())
    })
}
