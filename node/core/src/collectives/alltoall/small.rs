//! Blocks that together fit a message travel in one, beside the control words. One step; each
//! member writes its blocks once, and reads the blocks meant for it.

use super::{Alltoall, BlockLayout, direct};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::message::{Room, content, words_of};

/// Runs the algorithm, or [`direct`] if the group's messages have less room.
pub fn run<G: CollectiveGroup>(group: &G, call: Alltoall<'_>) -> Outcome<G> {
    let BlockLayout::Dense(bytes) = call.blocks else {
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
