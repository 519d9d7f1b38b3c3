//! Blocks that fit a message together travel in one, beside the control words. One step; each
//! member writes its blocks once, and reads those for it.
#![allow(unsafe_code)]

use super::{Alltoall, Blocks, direct};
use crate::collectives::group::{Group, Outcome};
use crate::collectives::message::{Room, words_of};

/// As [`direct`] where the group's messages have less room.
///
/// # Safety
/// As [`super::direct::run`].
pub unsafe fn run<G: Group>(group: &G, call: Alltoall) -> Outcome<G> {
    let Blocks::Dense(bytes) = call.blocks else {
        unreachable!("the selector does not give it strided blocks")
    };
    let (me, size, words) = (group.index(), group.size(), words_of(bytes));
    if size * words > group.room() {
        // SAFETY: the caller's promise.
        return unsafe { direct::run(group, call) };
    }
    let mut room = Room::new();
    // SAFETY: the caller's promise.
    let mine = unsafe { room.blocks(group, call.source, bytes, size) };
    group.exchange_words(mine, me * words..(me + 1) * words, |member, theirs| {
        let to = call.dest.wrapping_add(member * bytes);
        // SAFETY: as above.
        unsafe { group.copy(theirs.as_ptr().cast(), to, bytes) };
        Ok(())
    })
}
