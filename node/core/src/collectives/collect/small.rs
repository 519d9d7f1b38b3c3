//! Parts that fit a message travel in one, beside the control words. One step; each member moves
//! the result once.

use super::{Collect, direct};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::message::{Room, content, words_of};

/// Runs the algorithm, or [`direct`] if the group's messages have less room.
pub fn run<G: CollectiveGroup>(group: &G, call: &Collect<'_>) -> Outcome<G> {
    let (dest, bytes) = (call.whole().dest, call.own().bytes());
    let words = words_of(bytes);
    if words > group.room() {
        return direct::run(group, call);
    }
    let mut room = Room::new();
    let mine = room.blocks(group, call.own(), bytes, 1);
    group.exchange_words(mine, 0..words, |member, theirs| {
        group.copy(content(theirs, bytes), dest.part(member * bytes, bytes));
        Ok(())
    })
}
