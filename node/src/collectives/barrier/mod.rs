//! Barriers: nobody leaves before all have arrived. `direct` is the group's own.

pub mod dissemination;
pub mod tree;
pub mod two_level;

use super::algorithm::{ANY, algorithms};
use super::group::Reach;
use super::tree::Tree;
use crate::sys::process;

algorithms! {
    /// Algorithms of barrier and sync.
    Algorithm of Barrier, |group, _call: (), degree| {
        /// Each member reads the words of all.
        direct, ANY => group.sync();
        /// All report to one member, which releases all.
        linear, ANY => tree::sync(group, Tree::Flat);
        /// On a k-ary tree.
        kary, ANY => tree::sync(group, Tree::KAry(degree()));
        /// On a k-nomial tree.
        knomial, ANY => tree::sync(group, Tree::KNomial(degree()));
        /// On a tree that groups processes that share a cache.
        grouped, ANY => tree::sync(group, Tree::Grouped(group_size(group)));
        /// In rounds, with members twice as far away in each.
        dissemination, ANY => dissemination::sync(group);
        /// Within each node, and among the first member of each.
        two_level, ANY => two_level::sync(group);
    }
}

/// How large the groups of [`Tree::Grouped`] are: no larger than a cache's, and about as large as
/// there are groups, so that no member waits for many.
fn group_size(group: &impl Reach) -> usize {
    // Nodes may have other caches than this one, but all members must use the same tree.
    const ON_SEVERAL_NODES: usize = 8;
    let neighbours = group.neighbours().unwrap_or_else(|| match group.nodes().len() {
        1 => process::cpus_of_a_cache(),
        _ => ON_SEVERAL_NODES,
    });
    group.size().isqrt().next_power_of_two().clamp(2, neighbours.max(2))
}
