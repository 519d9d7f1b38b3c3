//! Reduction of elements that fit a message beside the control words.

use super::{Reduce, sliced};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::message::{Room, content, words_of};
use crate::collectives::range::Writable;

/// Every member sends its elements beside its control word, and combines everyone's in the members'
/// order. One exchange, no wait for readers; sources are read by their owners only. Runs [`sliced`]
/// if the group's messages have less room.
pub fn run<G: CollectiveGroup>(group: &G, call: Reduce<'_>) -> Outcome<G> {
    match words_of(call.bytes()) > group.room() {
        true => sliced::run(group, call),
        false => of_first(group, call, group.size()),
    }
}

/// As [`run`], of the elements of the first `members` members; zeros if there are none.
pub fn of_first<G: CollectiveGroup>(group: &G, call: Reduce<'_>, members: usize) -> Outcome<G> {
    let (bytes, words) = (call.bytes(), words_of(call.bytes()));
    let (mut room, mut room_for_result) = (Room::new(), Room::new());
    let mine = room.blocks(group, call.source, bytes, 1);
    let sums = room_for_result.zeros(words);
    group.exchange_words(mine, 0..words, |member, theirs| {
        if member == 0 && members > 0 {
            sums.copy_from_slice(theirs);
        } else if member < members {
            let sums = Writable::from(&mut *sums).part(0, bytes);
            call.kernel.combine(sums, sums.readable(), content(theirs, bytes), call.n);
        }
        Ok(())
    })?;
    group.copy(content(sums, bytes), call.dest);
    Ok(())
}
