//! Broadcast down a tree: every member copies from its parent. Each member moves the bytes once,
//! and as many moves follow each other as the tree is deep. The tree is k-ary, k-nomial or binomial
//! (folklore; analysed for messages by Johnsson and Ho, "Optimum broadcasting and personalized
//! communication in hypercubes", 1989).

use super::Broadcast;
use crate::collectives::group::{Outcome, Stepped};
use crate::collectives::tree::Tree;

const THERE: usize = 1;

/// Runs the algorithm.
pub fn run<G: Stepped>(group: &G, call: Broadcast<'_>, tree: Tree) -> Outcome<G> {
    let rooted = call.rooted(group);
    let node = rooted.node(group.index());
    let parent = (node != 0).then(|| rooted.member(tree.parent(node)));
    let children = tree.children(node, rooted.size).map(|child| rooted.member(child));
    down(group, call, parent, children)
}

/// Copies from the parent, for the children. The root has none.
pub fn down<G: Stepped>(
    group: &G,
    call: Broadcast<'_>,
    parent: Option<usize>,
    children: impl Iterator<Item = usize> + Clone,
) -> Outcome<G> {
    group.steps(THERE, |steps| {
        if let Some(parent) = parent {
            steps.await_member(THERE, parent)?;
            call.take(group, parent)?; // Which waits below until this PE has it.
            steps.announce_to(THERE, children.clone().chain([parent]));
        } else {
            steps.announce_to(THERE, children.clone());
            call.serve_root(group);
        }
        steps.await_each(THERE, children)
    })
}
