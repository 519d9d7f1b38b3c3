//! Scan of what fits a message beside the control words.
#![allow(unsafe_code)]

use super::{Scan, direct};
use crate::collectives::group::{Group, Outcome};
use crate::collectives::message::{Room, words_of};

/// Every member tells its summands beside its control word, and adds those of the members before
/// it, in their order. One exchange; nobody reads another's source. As [`direct`] where the
/// group's messages have less room.
///
/// # Safety
/// As [`super::direct::run`].
pub unsafe fn run<G: Group>(group: &G, call: Scan) -> Outcome<G> {
    let Scan { dest, source, n, kernel, inclusive } = call;
    let words = words_of(call.bytes());
    if words > group.room() {
        // SAFETY: the caller's promise.
        return unsafe { direct::run(group, call) };
    }
    let before = group.index() + usize::from(inclusive);
    let (mut room, mut room_for_result) = (Room::new(), Room::new());
    // SAFETY: the caller's promise.
    let mine = unsafe { room.blocks(group, source, call.bytes(), 1) };
    let acc = room_for_result.zeros(words);
    group.exchange_words(mine, 0..words, |member, theirs| {
        if member == 0 && before > 0 {
            acc.copy_from_slice(theirs);
        } else if member < before {
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
