//! What only shared memory allows: every member copies every part from where it lies,
//! its successor's first. Two steps; each member moves the bytes of the result once.
#![allow(unsafe_code)]

use super::{Collect, Parts};
use crate::collectives::group::{Buffer, Group, Outcome, others_first};

const READY: usize = 1;
const COPIED: usize = 2;

/// # Safety
/// `source` is readable for this PE's part, `dest` is writable for all parts and does
/// not overlap it, and no PE accesses them in conflict with the call.
pub unsafe fn run<G: Group>(group: &G, call: &Collect) -> Outcome<G> {
    if matches!(call.parts, Parts::Varying { all_fitted: true, .. }) {
        return Ok(());
    }
    let me = group.index();
    group.steps(COPIED, |steps| {
        steps.announce(READY);
        for member in others_first(me, group.size()) {
            let (start, bytes) = (call.parts.start(member), call.parts.bytes(member, member + 1));
            if bytes > 0 {
                steps.await_member(READY, member)?;
                let from = group.of(Buffer::Source, call.source, member)?;
                // SAFETY: the member is ready and waits below; the rest is the caller's promise.
                unsafe { group.copy(from, call.dest.add(start), bytes) }
            }
        }
        steps.announce(COPIED);
        steps.await_all(COPIED)
    })
}
