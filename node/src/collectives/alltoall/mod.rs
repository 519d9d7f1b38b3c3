//! All-to-all, plain and strided: block `l` of member `k`'s source becomes block `k` of
//! member `l`'s dest. The algorithms are the same for both, over [`Blocks`].

pub mod coloured;
pub mod direct;
pub mod pairwise;
pub mod shift;
pub mod small;
mod strided;
pub mod xor;

use super::algorithm::{ANY, POWER_OF_TWO, SMALL_TOGETHER, algorithms};
use super::group::{Group, Outcome};
use super::range::{Readable, Writable};
use coloured::COLOURED;
use pairwise::Completion;
use shift::SHIFT;
pub use strided::Shape;
use xor::XOR;

/// How blocks lie in the arrays.
#[derive(Clone, Copy, Debug)]
pub enum Blocks {
    /// One after the other, of this many bytes: alltoall.
    Dense(usize),
    /// Of elements some distance apart: alltoalls.
    Strided(Shape),
}

/// A call of all-to-all. The memory is this PE's.
#[derive(Clone, Copy, Debug)]
pub struct Alltoall<'m> {
    /// Where the blocks go.
    pub dest: Writable<'m>,
    /// Where they come from.
    pub source: Readable<'m>,
    /// What they are.
    pub blocks: Blocks,
}

impl Alltoall<'_> {
    /// Copies this PE's block out of `member`'s source, which that has announced and does not reuse
    /// yet.
    ///
    /// # Errors
    /// The group's.
    fn take<G: Group>(&self, group: &G, member: usize) -> Outcome<G> {
        let me = group.index();
        let source = group.source(self.source, member)?;
        match self.blocks {
            Blocks::Dense(bytes) => {
                group.copy(source.part(me * bytes, bytes), self.dest.part(member * bytes, bytes));
            }
            Blocks::Strided(shape) => shape.copy(group, (source, me), (self.dest, member)),
        }
        Ok(())
    }
}

algorithms! {
    /// Algorithms of alltoall.
    Algorithm of Alltoall, |group, call: Alltoall<'m>, degree| {
        /// All copy from all.
        direct, ANY => direct::run(group, call);
        /// In rounds, from members further away in each; a barrier ends it.
        shift, ANY => pairwise::run(group, call, SHIFT, Completion::Barrier);
        /// As `shift`, ended by counting.
        shift_counter, ANY => pairwise::run(group, call, SHIFT, Completion::Counter);
        /// Partners by exclusive or; a barrier ends it.
        xor, POWER_OF_TWO => pairwise::run(group, call, XOR, Completion::Barrier);
        /// As `xor`, ended by counting.
        xor_counter, POWER_OF_TWO => pairwise::run(group, call, XOR, Completion::Counter);
        /// Partners by edge colouring; a barrier ends it.
        coloured, ANY => pairwise::run(group, call, COLOURED, Completion::Barrier);
        /// As `coloured`, ended by counting.
        coloured_counter, ANY => pairwise::run(group, call, COLOURED, Completion::Counter);
        /// Blocks travel beside control words.
        small, SMALL_TOGETHER => small::run(group, call);
    }
}

algorithms! {
    /// Algorithms of alltoalls.
    StridedAlgorithm of Alltoalls, |group, call: Alltoall<'m>, degree| {
        /// All copy from all.
        direct, ANY => direct::run(group, call);
        /// In rounds, from members further away in each; a barrier ends it.
        shift, ANY => pairwise::run(group, call, SHIFT, Completion::Barrier);
        /// As `shift`, ended by counting.
        shift_counter, ANY => pairwise::run(group, call, SHIFT, Completion::Counter);
        /// Partners by exclusive or; a barrier ends it.
        xor, POWER_OF_TWO => pairwise::run(group, call, XOR, Completion::Barrier);
        /// As `xor`, ended by counting.
        xor_counter, POWER_OF_TWO => pairwise::run(group, call, XOR, Completion::Counter);
        /// Partners by edge colouring; a barrier ends it.
        coloured, ANY => pairwise::run(group, call, COLOURED, Completion::Barrier);
        /// As `coloured`, ended by counting.
        coloured_counter, ANY => pairwise::run(group, call, COLOURED, Completion::Counter);
    }
}
