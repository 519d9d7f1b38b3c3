//! Member 0 gathers all parts, then the others copy the whole result from it. Each member moves the
//! bytes of the result once, member 0 before all others.

use super::Collect;
use crate::collectives::group::{CollectiveGroup, Outcome};

const READY: usize = 1;
const GATHERED: usize = 2;
const COPIED: usize = 3;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: &Collect<'_>) -> Outcome<G> {
    let size = group.size();
    group.steps(COPIED, |steps| {
        steps.announce(READY);
        if group.index() == 0 {
            for member in 0..size {
                steps.await_member(READY, member)?;
                call.fetch(group, member)?; // It waits for the next step.
            }
            steps.announce(GATHERED);
            steps.await_each(COPIED, 1..size)?;
        } else {
            steps.await_member(GATHERED, 0)?;
            call.whole().take(group, 0, 0, size)?; // It waits above.
        }
        steps.announce(COPIED);
        Ok(())
    })
}
