//! Private blocks in which elements are combined.
//!
//! The members' elements are read in place, in shared memory, and combined into a block that stays
//! in the first-level cache. A block of the result can then be written as a whole, and to more than
//! one place, without being read from further away again.

use super::op::Kernel;
use crate::collectives::group::{CollectiveGroup, Steps};
use crate::collectives::memory::Memory;
use crate::collectives::range::Readable;
use crate::collectives::scratch::Scratch;

/// Bytes of a block. Relative times of other sizes, for 1 MiB on 2 PEs: 2 KiB 1.05, 4 KiB 1.03,
/// 16 KiB 0.99.
pub const BLOCK_BYTES: usize = 8192;

const READY: usize = 1;

/// An accumulator. Its block is not on the stack, which may be a thread's smallest.
pub struct Accumulator {
    block: Scratch,
    kernel: Kernel,
}

/// Elements `first .. first + n` of an array.
#[derive(Clone, Copy, Debug)]
pub struct ElementRange {
    /// Index of the first one.
    pub first: usize,
    /// Number of elements.
    pub n: usize,
}

impl ElementRange {
    /// All elements of an array of `n`.
    pub fn all(n: usize) -> Self {
        Self { first: 0, n }
    }

    /// Start and length in bytes, for elements of `elem_bytes` bytes.
    #[inline(always)]
    pub fn range(self, elem_bytes: usize) -> (usize, usize) {
        (self.first * elem_bytes, self.n * elem_bytes)
    }

    /// Cuts the part into parts that fit a block.
    pub fn blocks(self, elem_bytes: usize) -> impl Iterator<Item = ElementRange> {
        let most = BLOCK_BYTES / elem_bytes;
        let end = self.first + self.n;
        (self.first..end)
            .step_by(most)
            .map(move |first| ElementRange { first, n: most.min(end - first) })
    }
}

impl Accumulator {
    /// Creates an empty accumulator for `kernel`'s elements.
    pub fn new(kernel: Kernel) -> Self {
        Self { block: Scratch::new(BLOCK_BYTES), kernel }
    }

    /// Combines `part` (at most a block) of the sources of members `0..members`, in their order, so
    /// that the result never depends on timing. The result for no members is zeros. Waits for each
    /// member to announce step 1. Returns the result, `part.n` elements.
    ///
    /// # Errors
    /// Those of the group.
    pub fn accumulate<G: CollectiveGroup>(
        &mut self,
        group: &G,
        steps: &Steps<'_, G>,
        source: Readable<'_>,
        part: ElementRange,
        members: usize,
    ) -> Result<Readable<'_>, G::Stop> {
        let (start, bytes) = part.range(self.kernel.bytes());
        let acc = self.block.all().part(0, bytes);
        let own = source.part(start, bytes);
        let of = |member: usize| {
            steps.await_member(READY, member)?;
            group.source(own, member)
        };
        match members {
            0 => acc.zero(),
            1 => group.copy(of(0)?, acc),
            _ => {
                let memory = group.memory();
                let (mut one, mut other) = (None, None);
                let first = memory.near(of(0)?, &mut one);
                let second = memory.near(of(1)?, &mut other);
                self.kernel.combine(acc, first, second, part.n);
                for member in 2..members {
                    let next = memory.near(of(member)?, &mut other);
                    self.kernel.combine(acc, acc.readable(), next, part.n);
                }
                memory.read(members * bytes);
            }
        }
        Ok(acc.readable())
    }
}
