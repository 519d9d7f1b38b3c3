//! Fcollect: the concatenation, in the members' order, of sources of one length.
#![allow(unsafe_code)]

use super::group::{Group, others_first};

/// The direct algorithm: every member copies every part from where it lies, its
/// successor's first. Two steps; each member moves `size * bytes` once.
///
/// # Safety
/// `source` is readable for `bytes` bytes, `dest` is writable for that of all
/// members and does not overlap it, and no PE accesses them in conflict with the call.
pub unsafe fn direct<G: Group>(group: &G, dest: *mut u8, source: *const u8, bytes: usize) {
    let ready = group.announce();
    for member in others_first(group.index(), group.size()) {
        group.await_member(ready, member);
        // SAFETY: the member is ready and waits below; the rest is the caller's promise.
        unsafe { group.copy_from(member, source, 0, dest.wrapping_add(member * bytes), bytes) }
    }
    let copied = group.announce();
    group.await_all(copied);
}
