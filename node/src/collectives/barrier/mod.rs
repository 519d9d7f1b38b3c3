//! Barriers: nobody leaves before all have come. `direct` is the group's own.

pub mod dissemination;
pub mod tree;
pub mod two_level;

use super::algorithm::{ANY, algorithms};
use super::tree::Tree;
use crate::sys::process;

algorithms! {
    /// Algorithms of barrier and sync.
    Algorithm of Barrier, |group, _call: (), degree| {
        /// Each member reads the words of all.
        direct, ANY => group.sync();
        /// All report to one, which releases all.
        linear, ANY => tree::sync(group, Tree::Flat);
        /// On a k-ary tree.
        kary, ANY => tree::sync(group, Tree::KAry(degree()));
        /// On a k-nomial tree.
        knomial, ANY => tree::sync(group, Tree::KNomial(degree()));
        /// On a tree of processes that share a cache.
        grouped, ANY => tree::sync(group, Tree::Grouped(process::cpus_of_a_cache()));
        /// In rounds, with members twice as far away in each.
        dissemination, ANY => dissemination::sync(group);
        /// Within each node, and among the first of each.
        two_level, ANY => two_level::sync(group);
    }
}
