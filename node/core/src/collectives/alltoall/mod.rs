//! All-to-all, plain and strided: block `l` of member `k`'s source becomes block `k` of member
//! `l`'s dest. Both use the same algorithms, over [`BlockLayout`].

pub mod coloured;
pub mod direct;
pub mod pairwise;
pub mod shift;
pub mod small;
mod strided;
pub mod xor;

use super::algorithm::{ANY, POWER_OF_TWO, SMALL_TOGETHER, algorithms};
use super::group::{CollectiveGroup, Outcome, Reach};
use super::range::{Readable, Writable};
use pairwise::Completion;
use shift::SHIFT;
pub use strided::StridedLayout;
use xor::XOR;

/// The layout of the blocks in the arrays.
#[derive(Clone, Copy, Debug)]
pub enum BlockLayout {
    /// Contiguous blocks of this many bytes: alltoall.
    Dense(usize),
    /// Blocks of elements some distance apart: alltoalls.
    Strided(StridedLayout),
}

/// A call of all-to-all. The memory is this PE's.
#[derive(Clone, Copy, Debug)]
pub struct Alltoall<'m> {
    /// Where the blocks go.
    pub dest: Writable<'m>,
    /// Where they come from.
    pub source: Readable<'m>,
    /// Their layout.
    pub blocks: BlockLayout,
}

impl Alltoall<'_> {
    /// The bytes of all members' arrays.
    fn together(&self, group: &impl Reach) -> usize {
        (self.source.bytes() + self.dest.bytes()).saturating_mul(group.size())
    }

    /// Copies this PE's block out of the source of `member`, which has announced it and does not
    /// reuse it yet.
    ///
    /// # Errors
    /// Those of the group.
    fn take<G: CollectiveGroup>(&self, group: &G, member: usize) -> Outcome<G> {
        let me = group.index();
        let source = group.source(self.source, member)?;
        let together = self.together(group);
        match self.blocks {
            BlockLayout::Dense(bytes) => {
                let (from, to) =
                    (source.part(me * bytes, bytes), self.dest.part(member * bytes, bytes));
                group.copy_of_many(from, to, together);
            }
            BlockLayout::Strided(shape) => {
                shape.copy(group, (source, me), (self.dest, member), together);
            }
        }
        Ok(())
    }
}

algorithms! {
    /// Algorithms of alltoall.
    Algorithm of Alltoall, |group, call: Alltoall<'m>, degree| {
        /// All members copy from all.
        direct, ANY => direct::run(group, call);
        /// In rounds, from members further away in each. Ends with a barrier.
        shift, ANY => pairwise::run(group, call, SHIFT, Completion::Barrier);
        /// As `shift`, but ends by counting.
        shift_counter, ANY => pairwise::run(group, call, SHIFT, Completion::Counter);
        /// Partners by exclusive or. Ends with a barrier.
        xor, POWER_OF_TWO => pairwise::run(group, call, XOR, Completion::Barrier);
        /// As `xor`, but ends by counting.
        xor_counter, POWER_OF_TWO => pairwise::run(group, call, XOR, Completion::Counter);
        /// Partners by edge colouring. Ends with a barrier.
        coloured, ANY => coloured::run(group, call, Completion::Barrier);
        /// As `coloured`, but ends by counting.
        coloured_counter, ANY => coloured::run(group, call, Completion::Counter);
        /// Blocks travel beside control words.
        small, SMALL_TOGETHER => small::run(group, call);
    }
}

algorithms! {
    /// Algorithms of alltoalls.
    StridedAlgorithm of Alltoalls, |group, call: Alltoall<'m>, degree| {
        /// All members copy from all.
        direct, ANY => direct::run(group, call);
        /// In rounds, from members further away in each. Ends with a barrier.
        shift, ANY => pairwise::run(group, call, SHIFT, Completion::Barrier);
        /// As `shift`, but ends by counting.
        shift_counter, ANY => pairwise::run(group, call, SHIFT, Completion::Counter);
        /// Partners by exclusive or. Ends with a barrier.
        xor, POWER_OF_TWO => pairwise::run(group, call, XOR, Completion::Barrier);
        /// As `xor`, but ends by counting.
        xor_counter, POWER_OF_TWO => pairwise::run(group, call, XOR, Completion::Counter);
        /// Partners by edge colouring. Ends with a barrier.
        coloured, ANY => coloured::run(group, call, Completion::Barrier);
        /// As `coloured`, but ends by counting.
        coloured_counter, ANY => coloured::run(group, call, Completion::Counter);
    }
}
