//! From the root to a head on each node, on a [binomial tree](super::tree), then from the heads to
//! the others on their nodes. The bytes go to each node once.

use super::{Broadcast, tree};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::levels::Levels;
use crate::collectives::tree::Tree;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Broadcast<'_>) -> Outcome<G> {
    let levels = Levels::below(group, call.root);
    let there = levels.steps() + 1;
    let copied = there + 1;
    group.steps(copied, |steps| {
        if levels.is_head() {
            let among_heads = Broadcast { root: levels.number(call.root), ..call };
            tree::run(&levels.heads(steps, 0), among_heads, Tree::KNomial(2))?;
            steps.announce_near(there);
            steps.await_each(copied, levels.others())
        } else {
            steps.await_member(there, levels.head())?;
            call.take(group, levels.head())?; // Which waits above until this PE has it.
            steps.announce(copied);
            Ok(())
        }
    })
}
