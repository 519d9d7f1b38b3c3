//! Blocks that fit a message together travel in one, beside the control words. One step; each
//! member writes its blocks once, and reads those for it.

use super::{Alltoall, Blocks, direct};
use crate::collectives::group::{Group, Outcome};
use crate::collectives::message::{Room, content, words_of};

/// As [`direct`] where the group's messages have less room.
pub fn run<G: Group>(group: &G, call: Alltoall<'_>) -> Outcome<G> {
    let Blocks::Dense(bytes) = call.blocks else {
        unreachable!("the selector does not give it strided blocks")
    };
    let (me, size, words) = (group.index(), group.size(), words_of(bytes));
    if size * words > group.room() {
        return direct::run(group, call);
    }
    let mut room = Room::new();
    let mine = room.blocks(group, call.source, bytes, size);
    group.exchange_words(mine, me * words..(me + 1) * words, |member, theirs| {
        group.copy(content(theirs, bytes), call.dest.part(member * bytes, bytes));
        Ok(())
    })
}
