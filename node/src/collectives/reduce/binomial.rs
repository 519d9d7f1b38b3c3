//! Up a binomial tree, and down again (folklore; see Thakur, Rabenseifner and Gropp,
//! "Optimization of collective communication operations in MPICH", 2005): each member
//! combines what its children have, in the members' order, then copies the result from
//! its parent. `2 log2 size` rounds one after the other; each member moves the bytes
//! once a child and two or three times more.
#![allow(unsafe_code)]

use super::Reduce;
use crate::collectives::group::{Buffer, Group, Outcome};
use crate::collectives::scratch::Scratch;
use crate::collectives::tree::Tree;

const COMBINED: usize = 1;
const RESULT: usize = 2;

/// # Safety
/// As [`super::sliced::run`].
pub unsafe fn run<G: Group>(group: &G, call: Reduce) -> Outcome<G> {
    let (me, size, bytes) = (group.index(), group.size(), call.bytes());
    let tree = Tree::KNomial(2);
    group.steps(RESULT, |steps| {
        let sums = Scratch::new(bytes);
        let mine = sums.start();
        // SAFETY: scratch memory is private and long enough. A child's dest stays as it is
        // until it takes the result, which is there after this PE has read; this PE's
        // likewise, and its result until its children have taken it.
        unsafe {
            group.copy(call.source, mine, bytes);
            for child in tree.children(me, size) {
                steps.await_member(COMBINED, child)?;
                let theirs = group.of(Buffer::Dest, call.dest, child)?;
                call.combine(group, mine, true, theirs, call.n);
            }
            group.copy(mine, call.dest, bytes);
            if me != 0 {
                steps.announce(COMBINED);
                let parent = tree.parent(me);
                steps.await_member(RESULT, parent)?;
                call.take_result(group, parent)?;
            }
        }
        steps.announce(RESULT);
        steps.await_each(RESULT, tree.children(me, size))
    })
}
