//! Scan of summands that fit a message beside the control words.

use super::{Scan, direct};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::message::{Room, content, words_of};
use crate::collectives::range::Writable;

/// Every member sends its summands beside its control word, and adds those of the members before
/// it, in their order. One exchange; nobody reads another's source. Runs [`direct`] if the group's
/// messages have less room.
pub fn run<G: CollectiveGroup>(group: &G, call: Scan<'_>) -> Outcome<G> {
    let (bytes, words) = (call.bytes(), words_of(call.bytes()));
    if words > group.room() {
        return direct::run(group, call);
    }
    let before = group.index() + usize::from(call.inclusive);
    let (mut room, mut room_for_result) = (Room::new(), Room::new());
    let mine = room.blocks(group, call.source, bytes, 1);
    let sums = room_for_result.zeros(words);
    group.exchange_words(mine, 0..words, |member, theirs| {
        if member == 0 && before > 0 {
            sums.copy_from_slice(theirs);
        } else if member < before {
            let sums = Writable::from(&mut *sums).part(0, bytes);
            call.kernel.combine(sums, sums.readable(), content(theirs, bytes), call.n);
        }
        Ok(())
    })?;
    group.copy(content(sums, bytes), call.dest);
    Ok(())
}
