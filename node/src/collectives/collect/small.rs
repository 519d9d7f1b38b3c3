//! Parts that fit a message travel in one, beside the control words. One step; each
//! member moves the result once.
#![allow(unsafe_code)]

use super::{Collect, Parts, direct};
use crate::collectives::group::{Buffer, Group, Outcome, SMALL_BYTES, Small};
use crate::collectives::message::{Room, words_of};

/// Most bytes of a part whose length goes with it.
const BESIDE_LENGTH: usize = SMALL_BYTES - size_of::<u64>();

/// Fcollect. As [`direct`] where the group's messages have less room.
///
/// # Safety
/// As [`super::direct::run`].
pub unsafe fn run<G: Group>(group: &G, call: &Collect) -> Outcome<G> {
    let bytes = call.parts.bytes(0, 1);
    let words = words_of(bytes);
    if words > group.room() {
        // SAFETY: the caller's promise.
        return unsafe { direct::run(group, call) };
    }
    let mut room = Room::new();
    // SAFETY: the caller's promise.
    let mine = unsafe { room.blocks(group, call.source, bytes, 1) };
    group.exchange_words(mine, 0..words, |member, theirs| {
        let to = call.dest.wrapping_add(call.parts.start(member));
        // SAFETY: as above.
        unsafe { group.copy(theirs.as_ptr().cast(), to, bytes) };
        Ok(())
    })
}

/// Exchanges the lengths of the parts of a collect, and what fits beside them: this
/// PE's part has `bytes`. If all fitted, dest is complete. That dest has room is known only here.
///
/// # Errors
/// The group's.
///
/// # Safety
/// As [`super::direct::run`].
pub unsafe fn exchange_lengths<G: Group>(
    group: &G,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) -> Result<Parts, G::Stop> {
    let mut starts = Vec::with_capacity(group.size() + 1);
    starts.push(0usize);
    let mut all_fitted = true;
    let mut mine = Small::default();
    mine[0] = bytes as u64;
    if bytes <= BESIDE_LENGTH {
        // SAFETY: the caller's promise; it fits behind the length.
        unsafe { group.copy(source, mine[1..].as_mut_ptr().cast(), bytes) };
    }
    group.exchange(&mine, |member, theirs| {
        let (start, length) = (starts[member], theirs[0] as usize);
        let end = start + length;
        if length > 0 {
            group.check(Buffer::Dest, dest as usize, end)?;
        }
        all_fitted &= length <= BESIDE_LENGTH;
        if all_fitted {
            let to = dest.wrapping_add(start);
            // SAFETY: the caller's promise: dest has room for all parts.
            unsafe { group.copy(theirs[1..].as_ptr().cast(), to, length) };
        }
        starts.push(end);
        Ok(())
    })?;
    Ok(Parts::Varying { starts, all_fitted })
}
