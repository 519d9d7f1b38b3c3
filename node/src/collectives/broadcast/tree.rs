//! Broadcast down a tree: every member copies from its parent. Each member moves the bytes once,
//! and as many moves follow each other as the tree is deep. The tree is k-ary or binomial
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
    let children = || tree.children(node, rooted.size).map(|child| rooted.member(child));
    group.steps(THERE, |steps| {
        if node == 0 {
            steps.announce_to(THERE, children());
            call.serve_root(group);
        } else {
            let parent = rooted.member(tree.parent(node));
            steps.await_member(THERE, parent)?;
            call.take(group, parent)?; // Which waits below until this PE has it.
            steps.announce_to(THERE, children().chain([parent]));
        }
        steps.await_each(THERE, children())
    })
}
