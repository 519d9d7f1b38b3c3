//! Broadcast: the root's source goes to every member's dest.
//!
//! ```text
//!  root      ready ──────────────────────── waits ── returns
//!               ╲ ╲                         ╱  ╱
//!  member 1      ╲ reads the source ─ copied  ╱   returns at once
//!  member 2       ╲ reads the source ── copied    returns at once
//! ```
#![allow(unsafe_code)]

use super::group::Group;

/// The direct algorithm, which only shared memory allows: every member copies from
/// the root's source where it lies. Two steps; each member moves `bytes` once.
/// `root_too`: whether the root's own dest is written (it is in a team, it is not in
/// an active set).
///
/// # Safety
/// `source` at the root is readable and `dest` writable for `bytes` bytes, not
/// overlapping, and no PE accesses them in conflict with the call.
pub unsafe fn direct<G: Group>(
    group: &G,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: usize,
    root_too: bool,
) {
    let ready = group.announce();
    let is_root = group.index() == root;
    if !is_root {
        group.await_member(ready, root);
    }
    if !is_root || (root_too && !std::ptr::eq(dest, source)) {
        // SAFETY: the root is ready and waits below; the rest is the caller's promise.
        unsafe { group.copy_from(root, source, 0, dest, bytes) }
    }
    let copied = group.announce();
    if is_root {
        group.await_all(copied);
    }
}
