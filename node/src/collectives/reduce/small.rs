//! Reduction of what fits a message beside the control words.
#![allow(unsafe_code)]

use super::{Reduce, sliced};
use crate::collectives::group::{Group, Outcome};
use crate::collectives::message::{Room, words_of};

/// Every member tells its elements beside its control word, and combines everyone's, in the
/// members' order. One exchange, no wait for readers, sources are read by their owners only. As
/// [`sliced`] where the group's messages have less room.
///
/// # Safety
/// As [`sliced::run`].
pub unsafe fn run<G: Group>(group: &G, call: Reduce) -> Outcome<G> {
    let Reduce { dest, source, n, kernel } = call;
    let words = words_of(call.bytes());
    if words > group.room() {
        // SAFETY: the caller's promise.
        return unsafe { sliced::run(group, call) };
    }
    let (mut room, mut room_for_result) = (Room::new(), Room::new());
    // SAFETY: the caller's promise.
    let mine = unsafe { room.blocks(group, source, call.bytes(), 1) };
    let acc = room_for_result.zeros(words);
    group.exchange_words(mine, 0..words, |member, theirs| {
        if member == 0 {
            acc.copy_from_slice(theirs);
        } else {
            // SAFETY: both are private and initialised for `n` elements.
            unsafe {
                let acc: *mut u8 = acc.as_mut_ptr().cast();
                kernel.combine(acc, acc, theirs.as_ptr().cast(), n);
            }
        }
        Ok(())
    })?;
    // SAFETY: the caller's promise.
    unsafe { group.copy(acc.as_ptr().cast(), dest, call.bytes()) };
    Ok(())
}
