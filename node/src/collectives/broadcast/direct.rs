//! ```text
//!  root      ready ──────────────────────── waits ── returns
//!               ╲ ╲                         ╱  ╱
//!  member 1      ╲ reads the source ─ copied  ╱   returns at once
//!  member 2       ╲ reads the source ── copied    returns at once
//! ```
#![allow(unsafe_code)]

use super::Broadcast;
use crate::collectives::group::{Group, Outcome};

const READY: usize = 1;
const COPIED: usize = 2;

/// What only shared memory allows: every member copies from the root's source where it
/// lies, all at once, while the root fills its own dest. Each member moves the bytes once.
///
/// # Safety
/// `source` at the root is readable and `dest` writable for the bytes, not
/// overlapping, and no PE accesses them in conflict with the call.
pub unsafe fn run<G: Group>(group: &G, call: Broadcast) -> Outcome<G> {
    group.steps(COPIED, |steps| {
        if group.index() == call.root {
            steps.announce(READY);
            // SAFETY: the caller's promise.
            unsafe { call.serve_root(group) };
            steps.await_each(COPIED, (0..group.size()).filter(|member| *member != call.root))?;
        } else {
            steps.await_member(READY, call.root)?;
            // SAFETY: the root is ready and waits above; the rest is the caller's promise.
            unsafe { group.copy(call.at(group, call.root)?, call.dest, call.bytes) };
        }
        steps.announce(COPIED);
        Ok(())
    })
}
