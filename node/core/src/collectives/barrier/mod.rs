//! Barriers: nobody leaves before all have arrived. `direct` and `central` are the group's own.

pub mod dissemination;
pub mod tree;
pub mod two_level;

use super::algorithm::{ANY, algorithms};
use super::group::Reach;
use super::tree::Tree;
use crate::sys::caches;

algorithms! {
    /// Algorithms of barrier and sync.
    Algorithm of Barrier, |group, _call: (), degree| {
        /// Each member reads the words of all.
        direct, ANY => group.sync();
        /// As direct, until the first member that finds all here says so.
        central, ANY => group.sync_by_one_word();
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

/// How large the groups of [`Tree::Grouped`] are.
fn group_size(group: &impl Reach) -> usize {
    // Nodes may have other caches than this one, but all members must use the same tree.
    const ON_SEVERAL_NODES: usize = 8;
    let neighbours = group.neighbours().unwrap_or_else(|| match group.nodes().len() {
        1 => caches::cores_of_a_cache(),
        _ => ON_SEVERAL_NODES,
    });
    size_of_groups(group.size(), neighbours)
}

/// About as many members as there are groups, so that no member waits for many. It divides
/// `neighbours`, the number of consecutive members that share a cache, so no group spans two caches.
fn size_of_groups(members: usize, neighbours: usize) -> usize {
    let most = members.isqrt().next_power_of_two().min(neighbours);
    (2..=most).rev().find(|size| neighbours % size == 0).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::size_of_groups;
    use crate::sys::caches::tests::MACHINES;

    /// Members fill the caches one after the other, as `oshrun --bind-to core` places PEs.
    #[test]
    fn groups_share_a_cache_on_all_machines() {
        for machine in MACHINES {
            for members in 4..=256 {
                let size = size_of_groups(members, machine.cores);
                assert!(size >= 2 && size <= machine.cores, "{members} on {machine:?}");
                let cache = |member: usize| member / machine.cores;
                let leader = |member: usize| member - member % size;
                let together = (0..members).all(|member| cache(member) == cache(leader(member)));
                assert!(together, "{members} in groups of {size} on {machine:?}");
            }
        }
    }

    #[test]
    fn there_are_about_as_many_groups_as_members_in_each() {
        let sizes = [16, 64, 128, 256].map(|members| size_of_groups(members, 64));
        assert_eq!(sizes, [4, 8, 16, 16]);
        assert_eq!([16, 64, 128].map(|members| size_of_groups(members, 6)), [3, 6, 6]);
        // Seven have no smaller groups that are equal.
        assert_eq!([16, 64].map(|members| size_of_groups(members, 7)), [2, 7]);
    }
}
