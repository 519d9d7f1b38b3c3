//! Broadcast: the root's source goes to every member's dest.
#![allow(unsafe_code)]

pub mod direct;
pub mod linear;
pub mod scatter_collect;
pub mod small;
pub mod tree;
pub mod two_level;

use super::algorithm::{ANY, SMALL, algorithms};
use super::group::{Buffer, Reach};
use super::tree::{Rooted, Tree};

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
    fn rooted(&self, group: &impl Reach) -> Rooted {
        Rooted { root: self.root, size: group.size() }
    }

    /// Fills the root's own dest, at the root.
    ///
    /// # Safety
    /// As for the broadcast.
    unsafe fn serve_root(&self, group: &impl Reach) {
        if self.root_too && !std::ptr::eq(self.dest, self.source) {
            // SAFETY: the caller's promise.
            unsafe { group.copy(self.source, self.dest, self.bytes) }
        }
    }

    /// Where `member` has the data, or will: the root in its source.
    ///
    /// # Errors
    /// The group's.
    fn at<G: Reach>(&self, group: &G, member: usize) -> Result<*const u8, G::Stop> {
        if member == self.root {
            group.of(Buffer::Source, self.source, member)
        } else {
            group.of(Buffer::Dest, self.dest, member)
        }
    }
}

algorithms! {
    /// Algorithms of broadcast.
    Algorithm of Broadcast, |group, call: Broadcast, degree| {
        /// All copy from the root.
        direct, ANY => direct::run(group, call);
        /// The root writes to all.
        linear, ANY => linear::run(group, call);
        /// On a k-ary tree.
        kary, ANY => tree::run(group, call, Tree::KAry(degree()));
        /// On a binomial tree.
        binomial, ANY => tree::run(group, call, Tree::KNomial(2));
        /// Parts are scattered, then collected on a ring.
        scatter_collect, ANY => scatter_collect::run(group, call);
        /// Bytes travel beside control words.
        small, SMALL => small::run(group, call);
        /// To one on each node, and from there to the others.
        two_level, ANY => two_level::run(group, call);
    }
}
