//! All-to-all: block `l` of member `k`'s source becomes block `k` of member `l`'s dest.
#![allow(unsafe_code)]

use super::group::{Group, others_first};

/// The direct algorithm: every member copies its block out of every source, its
/// successor's first. Two steps; each member moves `size * bytes` once.
///
/// # Safety
/// `source` is readable and `dest` writable for `bytes` bytes a member, not
/// overlapping, and no PE accesses them in conflict with the call.
pub unsafe fn direct<G: Group>(group: &G, dest: *mut u8, source: *const u8, bytes: usize) {
    let me = group.index();
    let ready = group.announce();
    for member in others_first(me, group.size()) {
        group.await_member(ready, member);
        let to = dest.wrapping_add(member * bytes);
        // SAFETY: the member is ready and waits below; the rest is the caller's promise.
        unsafe { group.copy_from(member, source, me * bytes, to, bytes) }
    }
    let copied = group.announce();
    group.await_all(copied);
}
