//! The direct algorithm, possible only in shared memory: every member copies from the root's source.
//!
//! ```text
//!  root      ready ──────────────────────── waits ── returns
//!               ╲ ╲                         ╱  ╱
//!  member 1      ╲ reads the source ─ copied  ╱   returns at once
//!  member 2       ╲ reads the source ── copied    returns at once
//! ```

use super::Broadcast;
use crate::collectives::group::{CollectiveGroup, Outcome};

const READY: usize = 1;
const COPIED: usize = 2;

/// All members copy at once, while the root fills its own dest. Each member moves the bytes once.
pub fn run<G: CollectiveGroup>(group: &G, call: Broadcast<'_>) -> Outcome<G> {
    group.steps(COPIED, |steps| {
        if group.index() == call.root {
            steps.announce(READY);
            call.serve_root(group);
            steps.await_each(COPIED, (0..group.size()).filter(|member| *member != call.root))?;
        } else {
            steps.await_member(READY, call.root)?;
            call.take(group, call.root)?;
        }
        steps.announce(COPIED);
        Ok(())
    })
}
