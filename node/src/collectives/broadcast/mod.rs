//! Broadcast: the root's source goes to every member's dest.
#![allow(unsafe_code)]

pub mod direct;
pub mod linear;
pub mod scatter_collect;
pub mod small;
pub mod tree;

use super::group::Group;
use super::tree::Rooted;

/// A call of broadcast. The addresses are this PE's.
#[derive(Clone, Copy, Debug)]
pub struct Broadcast {
    /// Where the data goes.
    pub dest: *mut u8,
    /// Where it comes from, at the root.
    pub source: *const u8,
    /// How much.
    pub bytes: usize,
    /// The root's member number.
    pub root: usize,
    /// Whether the root's own dest is written: it is in a team, not in an active set.
    pub root_too: bool,
}

impl Broadcast {
    fn rooted(&self, group: &impl Group) -> Rooted {
        Rooted { root: self.root, size: group.size() }
    }

    /// Fills the root's own dest, at the root.
    ///
    /// # Safety
    /// As for the broadcast.
    unsafe fn serve_root(&self, group: &impl Group) {
        if self.root_too && !std::ptr::eq(self.dest, self.source) {
            // SAFETY: the caller's promise.
            unsafe { group.copy(self.source, self.dest, self.bytes) }
        }
    }

    /// Where `member` has the data, or will: the root in its source.
    fn at(&self, group: &impl Group, member: usize) -> *const u8 {
        if member == self.root {
            group.of("source", self.source, member)
        } else {
            group.of("dest", self.dest, member)
        }
    }
}
