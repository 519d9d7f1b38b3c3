//! Broadcast: the root's source goes to every member's dest.

pub mod direct;
pub mod linear;
pub mod scatter_collect;
pub mod small;
pub mod tree;
pub mod two_level;

use super::algorithm::{ANY, SMALL, algorithms};
use super::group::{Outcome, Reach};
use super::range::{Readable, Remote, Writable};
use super::tree::{Rooted, Tree};

/// A call of broadcast. The memory is this PE's.
#[derive(Clone, Copy, Debug)]
pub struct Broadcast<'m> {
    /// Where the data goes.
    pub dest: Writable<'m>,
    /// Where the data comes from, at the root. It is as long as `dest`.
    pub source: Readable<'m>,
    /// The root's member number.
    pub root: usize,
    /// Whether the root's own dest is written: in a team it is, in an active set it is not.
    pub root_too: bool,
}

impl<'m> Broadcast<'m> {
    fn bytes(&self) -> usize {
        self.source.bytes()
    }

    fn rooted(&self, group: &impl Reach) -> Rooted {
        Rooted { root: self.root, size: group.size() }
    }

    /// Fills the root's own dest. For the root only.
    fn serve_root(&self, group: &impl Reach) {
        if self.root_too && !self.dest.is_at(self.source) {
            group.copy(self.source, self.dest);
        }
    }

    /// Where `member` has the data or will have it: the root in its source, the others in their
    /// dest.
    ///
    /// # Errors
    /// Those of the group.
    fn at<G: Reach>(&self, group: &G, member: usize) -> Result<Remote<Readable<'m>>, G::Stop> {
        if member == self.root {
            group.source(self.source, member)
        } else {
            group.dest(self.dest, member).map(Into::into)
        }
    }

    /// Copies the data from `member`, which has it, and waits before it reuses the memory.
    ///
    /// # Errors
    /// Those of the group.
    fn take<G: Reach>(&self, group: &G, member: usize) -> Outcome<G> {
        group.copy(self.at(group, member)?, self.dest);
        Ok(())
    }
}

algorithms! {
    /// Algorithms of broadcast.
    Algorithm of Broadcast, |group, call: Broadcast<'m>, degree| {
        /// All members copy from the root.
        direct, ANY => direct::run(group, call);
        /// The root writes to all members.
        linear, ANY => linear::run(group, call);
        /// On a k-ary tree.
        kary, ANY => tree::run(group, call, Tree::KAry(degree()));
        /// On a k-nomial tree.
        knomial, ANY => tree::run(group, call, Tree::KNomial(degree()));
        /// On a binomial tree.
        binomial, ANY => tree::run(group, call, Tree::KNomial(2));
        /// Parts are scattered, then collected on a ring.
        scatter_collect, ANY => scatter_collect::run(group, call);
        /// Bytes travel beside control words.
        small, SMALL => small::run(group, call);
        /// To one member on each node, and from there to the others.
        two_level, ANY => two_level::run(group, call);
    }
}
