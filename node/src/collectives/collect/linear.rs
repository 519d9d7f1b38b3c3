//! Member 0 gathers all parts, then everyone copies the whole from there. Each member
//! moves the bytes of the result once, all others' after member 0's.

use super::Collect;
use crate::collectives::group::{Group, Outcome};

const READY: usize = 1;
const GATHERED: usize = 2;
const COPIED: usize = 3;

/// Carries it out.
pub fn run<G: Group>(group: &G, call: &Collect<'_>) -> Outcome<G> {
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
