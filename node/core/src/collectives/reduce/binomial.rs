//! Up a binomial tree and down again (folklore; see Thakur, Rabenseifner and Gropp, "Optimization
//! of collective communication operations in MPICH", 2005): each member combines its children's
//! elements with its own, in the members' order, then copies the result from its parent.
//! `2 log2 size` rounds one after the other; each member moves the bytes once per child and two or
//! three times more.

use super::Reduce;
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::scratch::Scratch;
use crate::collectives::tree::Tree;

const COMBINED: usize = 1;
const RESULT: usize = 2;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Reduce<'_>) -> Outcome<G> {
    let (me, size, bytes) = (group.index(), group.size(), call.bytes());
    let tree = Tree::KNomial(2);
    group.steps(RESULT, |steps| {
        let mut sums = Scratch::new(bytes);
        let mine = sums.all();
        // A child does not write its dest again until it takes the result, which is there only
        // after this PE has read that dest. The same holds for this PE's dest; its result stays
        // until its children have taken it.
        group.copy(call.source, mine);
        for child in tree.children(me, size) {
            steps.await_member(COMBINED, child)?;
            let theirs = group.dest(call.dest, child)?;
            call.combine(group, mine, true, theirs.into(), call.n);
        }
        group.copy(mine, call.dest);
        if me != 0 {
            steps.announce(COMBINED);
            let parent = tree.parent(me);
            steps.await_member(RESULT, parent)?;
            call.take_result(group, parent)?;
        }
        steps.announce(RESULT);
        steps.await_each(RESULT, tree.children(me, size))
    })
}
