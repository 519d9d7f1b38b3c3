//! Collect: the concatenation, in the members' order, of sources of any length.
#![allow(unsafe_code)]

use super::group::{Group, Small, others_first};

/// The direct algorithm: the members exchange their lengths, each sums up where
/// the others' parts go, and copies every part from where it lies. One exchange and
/// one step; each member moves the bytes of the result once.
///
/// # Safety
/// `source` is readable for `bytes` bytes, `dest` is writable for the sum of all
/// members' `bytes` and does not overlap it, and no PE accesses them in conflict
/// with the call.
pub unsafe fn direct<G: Group>(group: &G, dest: *mut u8, source: *const u8, bytes: usize) {
    // Where each part starts; one more than there are parts.
    let mut starts = Vec::with_capacity(group.size() + 1);
    starts.push(0usize);
    let mut mine = Small::default();
    mine[0] = bytes as u64;
    group.exchange(&mine, |member, theirs| starts.push(starts[member] + theirs[0] as usize));
    for member in others_first(group.index(), group.size()) {
        let (start, end) = (starts[member], starts[member + 1]);
        // SAFETY: the exchange told that the member has entered with its source
        // ready, and it waits below; the rest is the caller's promise.
        unsafe { group.copy_from(member, source, 0, dest.wrapping_add(start), end - start) }
    }
    let copied = group.announce();
    group.await_all(copied);
}
