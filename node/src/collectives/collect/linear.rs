//! Member 0 gathers all parts, then everyone copies the whole from there. Each member
//! moves the bytes of the result once, all others' after member 0's.
#![allow(unsafe_code)]

use super::Collect;
use crate::collectives::group::{Buffer, Group, Outcome};

const READY: usize = 1;
const GATHERED: usize = 2;
const COPIED: usize = 3;

/// # Safety
/// As [`super::direct::run`].
pub unsafe fn run<G: Group>(group: &G, call: &Collect) -> Outcome<G> {
    let size = group.size();
    group.steps(COPIED, |steps| {
        steps.announce(READY);
        if group.index() == 0 {
            for member in 0..size {
                steps.await_member(READY, member)?;
                let from = group.of(Buffer::Source, call.source, member)?;
                let (start, bytes) =
                    (call.parts.start(member), call.parts.bytes(member, member + 1));
                // SAFETY: the member is ready and waits for the next step.
                unsafe { group.copy(from, call.dest.add(start), bytes) }
            }
            steps.announce(GATHERED);
            steps.await_each(COPIED, 1..size)?;
        } else {
            steps.await_member(GATHERED, 0)?;
            // SAFETY: member 0 has all and waits above.
            unsafe { call.take(group, 0, 0, size)? };
        }
        steps.announce(COPIED);
        Ok(())
    })
}
