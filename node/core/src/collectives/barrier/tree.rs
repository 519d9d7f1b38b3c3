//! Barriers on a tree: arrivals are reported up to the root, and the release comes down (Yew, Tzeng
//! and Lawrie, "Distributing hot-spot addressing in large-scale multiprocessors", 1987). Linear on
//! a flat tree. With groups of PEs that share a cache, most words are read within the cache. Two
//! steps per level, one up and one down; each member writes two words.

use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::tree::Tree;

const ARRIVED: usize = 1;
const RELEASED: usize = 2;

/// Waits until all members have called it.
pub fn sync<G: CollectiveGroup>(group: &G, tree: Tree) -> Outcome<G> {
    let (me, size) = (group.index(), group.size());
    group.steps(RELEASED, |steps| {
        steps.await_each(ARRIVED, tree.children(me, size))?;
        if me != 0 {
            steps.announce(ARRIVED);
            steps.await_member(RELEASED, tree.parent(me))?;
        }
        steps.announce(RELEASED);
        Ok(())
    })
}
