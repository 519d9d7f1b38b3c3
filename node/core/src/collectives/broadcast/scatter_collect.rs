//! Scatter, then collect on a ring (van de Geijn and others, "Interprocessor collective
//! communication library", 1994): the data is cut into as many parts as there are
//! members; a binomial tree spreads the parts, and a ring passes them on.
//!
//! ```text
//!  4 members   scatter: node 2 gets parts 2 3, node 1 gets 1, node 3 gets 3
//!              ring:    everyone takes from its left neighbour what that one got last
//! ```
//!
//! Each member but the root moves the bytes once; `log2 size + size - 1` rounds.

use super::Broadcast;
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::tree::Tree;

/// Parts are whole cache-line pairs, so that no two members write to the same pair.
const PART_ALIGN: usize = 128;

const SCATTERED: usize = 1;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Broadcast<'_>) -> Outcome<G> {
    let rooted = call.rooted(group);
    let (node, size) = (rooted.node(group.index()), rooted.size);
    let each = call.bytes().div_ceil(size).next_multiple_of(PART_ALIGN);
    let start = |part: usize| each.saturating_mul(part).min(call.bytes());
    let tree = Tree::KNomial(2);
    // Copies parts `first .. end` from a member that has announced them, and that waits until this
    // PE has continued. Nobody reads them here before this PE announces them.
    let take = |from: usize, first: usize, end: usize| {
        let (at, bytes) = (start(first), start(end) - start(first));
        group.copy(call.at(group, from)?.part(at, bytes), call.dest.part(at, bytes));
        Ok(())
    };
    let left = rooted.member((node + size - 1) % size);
    let right = rooted.member((node + 1) % size);
    group.steps(SCATTERED + size, |steps| {
        if node == 0 {
            // The root has all parts from the start.
            steps.announce(SCATTERED + size);
            call.serve_root(group);
        } else {
            let own = node..node + tree.span(node, size);
            let parent = rooted.member(tree.parent(node));
            steps.await_member(SCATTERED, parent)?;
            take(parent, own.start, own.end)?;
            steps.announce(SCATTERED);
            for round in 1..size {
                let part = (node + size - round) % size;
                steps.await_member(SCATTERED + round - 1, left)?;
                if !own.contains(&part) {
                    take(left, part, part + 1)?;
                }
                steps.announce(SCATTERED + round);
            }
            steps.announce(SCATTERED + size);
        }
        steps.await_each(SCATTERED, tree.children(node, size).map(|child| rooted.member(child)))?;
        steps.await_member(SCATTERED + size - 1, right)
    })
}
