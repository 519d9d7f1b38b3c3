//! Reductions: elementwise combination of all members' sources, to all members.
//!
//! In which order elements are combined depends on the algorithm and the number of
//! members alone, never on timing: floating-point results are the same bits from run to
//! run and on every member. The direct algorithms and the linear one combine in the
//! members' order; the others combine neighbouring groups of members, in their order.

pub mod binomial;
mod block;
mod fold;
pub mod linear;
pub mod op;
pub mod rabenseifner;
pub mod recursive_doubling;
pub mod sliced;
pub mod small;
pub mod two_level;
pub mod whole;

pub use block::{BLOCK_BYTES, Blocks, Part};
pub use op::{And, Element, Kernel, Max, Min, Or, Prod, ReduceOp, Sum, Xor};

use super::algorithm::{ANY, Need, SMALL, algorithms};
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
    /// What they are and how they are combined.
    pub kernel: Kernel,
}

impl Reduce<'_> {
    fn bytes(&self) -> usize {
        self.n * self.kernel.bytes()
    }

    /// Combines elements of a member, `theirs`, with as many in `mine`, which come `first` or last.
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

    /// Copies the finished result from `member`, which has announced it and waits before it reuses
    /// it. Nobody reads this PE's dest.
    ///
    /// # Errors
    /// The group's.
    fn take_result<G: Reach>(&self, group: &G, member: usize) -> Outcome<G> {
        group.copy(group.dest(self.dest, member)?, self.dest);
        Ok(())
    }
}

/// What fits a block.
const BLOCK: Need = Need { words: "at most 8192 bytes", met: |_, bytes| bytes <= BLOCK_BYTES };
// As the text says.
const _: () = assert!(BLOCK_BYTES == 8192);

algorithms! {
    /// Algorithms of reductions.
    Algorithm of Reduce, |group, call: Reduce<'m>, degree| {
        /// Each member combines a slice, all gather.
        sliced, ANY => sliced::run(group, call);
        /// Each member combines everything.
        whole, BLOCK => whole::run(group, call);
        /// Elements travel beside control words.
        small, SMALL => small::run(group, call);
        /// One combines everything.
        linear, ANY => linear::run(group, call);
        /// Up and down a binomial tree.
        binomial, ANY => binomial::run(group, call);
        /// Partners combine all they have, twice as far away in each round.
        recursive_doubling, ANY => recursive_doubling::run(group, call);
        /// Recursive halving, then doubling.
        rabenseifner, ANY => rabenseifner::run(group, call);
        /// Within each node, and among the first of each.
        two_level, ANY => two_level::run(group, call);
    }
}
