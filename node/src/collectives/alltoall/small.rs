//! Blocks that fit a small message together travel in one, beside the control words. One
//! step; each member moves two cache lines a member.
#![allow(unsafe_code)]

use super::{Alltoall, Blocks};
use crate::collectives::group::{Group, Outcome, SMALL_BYTES, Small};

/// # Safety
/// As [`super::direct::run`].
pub unsafe fn run<G: Group>(group: &G, call: Alltoall) -> Outcome<G> {
    let Blocks::Dense(bytes) = call.blocks else {
        unreachable!("the selector does not give it strided blocks")
    };
    let (me, size) = (group.index(), group.size());
    assert!(size * bytes <= SMALL_BYTES);
    let mut mine = Small::default();
    // SAFETY: the caller's promise; the message is large enough by the assertion.
    unsafe { group.copy(call.source, mine.as_mut_ptr().cast(), size * bytes) };
    group.exchange(&mine, |member, theirs| {
        let from = theirs.as_ptr().cast::<u8>().wrapping_add(me * bytes);
        // SAFETY: as above.
        unsafe { group.copy(from, call.dest.wrapping_add(member * bytes), bytes) };
        Ok(())
    })
}
