//! The root writes to one member after the other. It moves `size - 1` times the bytes,
//! the others nothing.
#![allow(unsafe_code)]

use super::Broadcast;
use crate::collectives::group::{Buffer, Group, Outcome, others_first};

const ENTERED: usize = 1;
const WRITTEN: usize = 2;

/// # Safety
/// As [`super::direct::run`].
pub unsafe fn run<G: Group>(group: &G, call: Broadcast) -> Outcome<G> {
    let me = group.index();
    group.steps(WRITTEN, |steps| {
        steps.announce(ENTERED);
        if me == call.root {
            for member in others_first(me, group.size()).filter(|member| *member != me) {
                steps.await_member(ENTERED, member)?;
                let to = group.of(Buffer::Dest, call.dest, member)?.cast_mut();
                // SAFETY: the member has entered the call with its dest ready.
                unsafe { group.copy(call.source, to, call.bytes) };
            }
            // SAFETY: the caller's promise.
            unsafe { call.serve_root(group) };
            steps.announce(WRITTEN);
        } else {
            steps.await_member(WRITTEN, call.root)?;
        }
        Ok(())
    })
}
