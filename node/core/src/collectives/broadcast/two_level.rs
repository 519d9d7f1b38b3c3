//! From the root to a head on each node, on a [binomial tree](super::tree), then from the heads to
//! the others on their nodes. The bytes go to each node once.

use super::{Broadcast, tree};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::levels::Levels;
use crate::collectives::tree::{Rooted, Tree};

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Broadcast<'_>) -> Outcome<G> {
    const TREE: Tree = Tree::KNomial(2);
    let levels = Levels::below(group, call.root);
    if !levels.is_head() {
        return tree::down(group, call, Some(levels.head()), std::iter::empty());
    }
    let heads = Rooted { root: levels.number(call.root), size: levels.nodes() };
    let node = heads.node(levels.number(group.index()));
    let head = |node: usize| levels.head_of(heads.member(node));
    let parent = (node != 0).then(|| head(TREE.parent(node)));
    // Those on other nodes first.
    let children = TREE.children(node, heads.size).map(head).chain(levels.others());
    tree::down(group, call, parent, children)
}
