//! Private blocks that elements are combined in.
//!
//! The members' elements are read where they lie, in shared memory, and combined into a
//! block that stays in the first cache level, so that a block of the result can be written
//! as a whole, and to more than one place, without being read from further away again.
#![allow(unsafe_code)]

use super::op::Kernel;
use crate::collectives::group::{Group, Steps};
use crate::collectives::memory::Memory;
use crate::collectives::range::{Readable, Writable};
use std::mem::MaybeUninit;

/// Bytes of a block. Of 1 MiB on 2 PEs with 2 KiB: 1.05, with 4 KiB: 1.03, with 16 KiB: 0.99 of
/// the time.
pub const BLOCK_BYTES: usize = 8192;

const READY: usize = 1;

#[repr(C, align(64))]
struct Block(MaybeUninit<[u8; BLOCK_BYTES]>);

/// An accumulator.
pub struct Blocks {
    acc: Block,
    kernel: Kernel,
}

/// Elements `first .. first + n` of an array.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The first one.
    pub first: usize,
    /// How many.
    pub n: usize,
}

impl Part {
    /// All of so many.
    pub fn all(n: usize) -> Self {
        Self { first: 0, n }
    }

    /// Where it starts in an array of elements of so many bytes, and how many bytes it has.
    #[inline(always)]
    pub fn range(self, elem_bytes: usize) -> (usize, usize) {
        (self.first * elem_bytes, self.n * elem_bytes)
    }

    /// Cuts into parts that fit a block.
    pub fn blocks(self, elem_bytes: usize) -> impl Iterator<Item = Part> {
        let most = BLOCK_BYTES / elem_bytes;
        let end = self.first + self.n;
        (self.first..end).step_by(most).map(move |first| Part { first, n: most.min(end - first) })
    }
}

impl Blocks {
    /// Empty, for `kernel`'s elements.
    pub fn new(kernel: Kernel) -> Self {
        Self { acc: Block(MaybeUninit::uninit()), kernel }
    }

    /// Combines `part` (at most a block) of the sources of members `0..members`, in
    /// their order, so that the result never depends on timing; zeros of no members. Waits for each
    /// member to have announced step 1. Returns the result, `part.n` elements.
    ///
    /// # Errors
    /// The group's.
    pub fn accumulate<G: Group>(
        &mut self,
        group: &G,
        steps: &Steps<'_, G>,
        source: Readable<'_>,
        part: Part,
        members: usize,
    ) -> Result<Readable<'_>, G::Stop> {
        let (start, bytes) = part.range(self.kernel.bytes());
        assert!(bytes <= BLOCK_BYTES);
        // SAFETY: private memory, long enough by the assertion. It has no value at first, and is
        // written in whole here before it is read.
        let acc = unsafe { Writable::new(self.acc.0.as_mut_ptr().cast(), bytes) };
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
