//! What only shared memory allows: every member copies its block out of every source,
//! its successor's first. Two steps; each member moves `size` blocks.
#![allow(unsafe_code)]

use super::Alltoall;
use crate::collectives::group::{Group, Outcome, others_first};

const READY: usize = 1;
const COPIED: usize = 2;

/// # Safety
/// `source` is readable and `dest` writable for all members' blocks, not overlapping,
/// and no PE accesses them in conflict with the call.
pub unsafe fn run<G: Group>(group: &G, call: Alltoall) -> Outcome<G> {
    let (me, size) = (group.index(), group.size());
    group.steps(COPIED, |steps| {
        steps.announce(READY);
        for member in others_first(me, size) {
            steps.await_member(READY, member)?;
            // SAFETY: the member is ready and waits below; the rest is the caller's promise.
            unsafe { call.take(group, member)? };
        }
        steps.announce(COPIED);
        steps.await_all(COPIED)
    })
}
