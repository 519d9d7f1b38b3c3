//! Parts that fit a small message travel in one, beside the control words. One step; each
//! member moves two cache lines a member, and the result once.
#![allow(unsafe_code)]

use super::{Collect, Parts};
use crate::collectives::group::{Buffer, Group, Outcome, SMALL_BYTES, Small};

/// Most bytes of a part whose length goes with it.
const BESIDE_LENGTH: usize = SMALL_BYTES - size_of::<u64>();

/// Fcollect of at most [`SMALL_BYTES`] of each member.
///
/// # Safety
/// As [`super::direct::run`].
pub unsafe fn run<G: Group>(group: &G, call: &Collect) -> Outcome<G> {
    let bytes = call.parts.bytes(0, 1);
    assert!(bytes <= SMALL_BYTES);
    let mut mine = Small::default();
    // SAFETY: the caller's promise; the message is large enough by the assertion.
    unsafe { group.copy(call.source, mine.as_mut_ptr().cast(), bytes) };
    group.exchange(&mine, |member, theirs| {
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
