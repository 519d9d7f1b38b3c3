//! Reductions: elementwise combination of all members' sources, to all members.
//!
//! The order in which elements are combined depends only on the algorithm and the number of
//! members, never on timing: floating-point results have the same bits from run to run and on every
//! member. The direct algorithms and the linear one combine in the members' order; the others
//! combine neighbouring groups of members, in their order.

pub mod binomial;
mod block;
pub mod central;
pub mod exchanged;
mod fold;
pub mod linear;
pub mod op;
pub mod rabenseifner;
pub mod recursive_doubling;
pub mod sliced;
pub mod small;
pub mod two_level;
pub mod whole;

pub use block::{Accumulator, BLOCK_BYTES, ElementRange};
pub use op::{And, Element, Kernel, Max, Min, Or, Prod, ReduceOp, Sum, Xor};

use super::algorithm::{ANY, FEW, Need, SMALL, algorithms};
use super::group::{Outcome, Reach};
use super::memory::Memory;
use super::range::{Readable, Remote, Writable};

/// A call of a reduction. The memory is this PE's.
#[derive(Clone, Copy, Debug)]
pub struct Reduce<'m> {
    /// Where the result goes; may be the source.
    pub dest: Writable<'m>,
    /// This PE's elements.
    pub source: Readable<'m>,
    /// Number of elements.
    pub n: usize,
    /// The elements' type, and the operation that combines them.
    pub kernel: Kernel,
}

impl Reduce<'_> {
    fn bytes(&self) -> usize {
        self.n * self.kernel.bytes()
    }

    /// Combines a member's elements, `theirs`, with as many in `mine`, which are the first operands
    /// if `first`.
    fn combine(
        &self,
        group: &impl Reach,
        mine: Writable<'_>,
        first: bool,
        theirs: Remote<Readable<'_>>,
        n: usize,
    ) {
        let (memory, own) = (group.memory(), mine.readable());
        memory.read(mine.bytes());
        let mut room = None;
        let theirs = memory.near(theirs, &mut room);
        let (a, x) = if first { (own, theirs) } else { (theirs, own) };
        self.kernel.combine(mine, a, x, n);
    }

    /// Copies the finished result from `member`, which has announced it, and waits before it reuses
    /// its dest. Nobody reads this PE's dest.
    ///
    /// # Errors
    /// Those of the group.
    fn take_result<G: Reach>(&self, group: &G, member: usize) -> Outcome<G> {
        group.copy(group.dest(self.dest, member)?, self.dest);
        Ok(())
    }
}

/// For elements that fit a block.
const BLOCK: Need = Need { words: "at most 8192 bytes", met: |_, bytes| bytes <= BLOCK_BYTES };
// The text above names this number.
const _: () = assert!(BLOCK_BYTES == 8192);

algorithms! {
    /// Algorithms of reductions.
    Algorithm of Reduce, |group, call: Reduce<'m>, degree| {
        /// Each member combines a slice and writes it to all.
        sliced, ANY => sliced::run(group, call);
        /// Each member combines everything.
        whole, BLOCK => whole::run(group, call);
        /// Elements travel beside control words.
        small, SMALL => small::run(group, call);
        /// As small, until the first member that has combined all publishes the result.
        central, FEW => central::run(group, call);
        /// One member combines everything.
        linear, ANY => linear::run(group, call);
        /// Up and down a binomial tree.
        binomial, ANY => binomial::run(group, call);
        /// Partners combine all they have, and are twice as far apart in each round.
        recursive_doubling, ANY => recursive_doubling::run(group, call);
        /// Recursive halving, then doubling.
        rabenseifner, ANY => rabenseifner::run(group, call);
        /// Within each node, and among the first member of each.
        two_level, ANY => two_level::run(group, call);
    }
}
