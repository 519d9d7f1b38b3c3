//! Private blocks that elements are combined in.
//!
//! The members' elements are read where they lie, in shared memory, and combined into a
//! block that stays in the first cache level, so that a block of the result can be written
//! as a whole, and to more than one place, without being read from further away again.
#![allow(unsafe_code)]

use super::op::Kernel;
use crate::collectives::group::{Buffer, Group, Steps};
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
    /// their order, so that the result never depends on timing. Waits for each
    /// member to have announced step 1. Returns the result, `part.n` elements.
    ///
    /// # Errors
    /// The group's.
    ///
    /// # Safety
    /// Every such member's `source` is readable at `part` once it has announced
    /// step 1, until it knows that this PE has read it.
    pub unsafe fn accumulate<G: Group>(
        &mut self,
        group: &G,
        steps: &Steps<'_, G>,
        source: *const u8,
        part: Part,
        members: usize,
    ) -> Result<*const u8, G::Stop> {
        let size = self.kernel.bytes();
        let (offset, bytes) = (part.first * size, part.n * size);
        assert!(bytes <= BLOCK_BYTES);
        let acc: *mut u8 = self.acc.0.as_mut_ptr().cast();
        let of = |member: usize| {
            steps.await_member(READY, member)?;
            Ok(group.of(Buffer::Source, source, member)?.wrapping_add(offset))
        };
        // SAFETY: the caller's promise for the sources; the block is private, large enough by
        // the assertion, and filled before it is combined further.
        unsafe {
            match members {
                0 => (),
                1 => group.copy(of(0)?, acc, bytes),
                _ => {
                    let (mut one, mut other) = (None, None);
                    let first = group.near(of(0)?, bytes, &mut one);
                    let second = group.near(of(1)?, bytes, &mut other);
                    self.kernel.combine(acc, first, second, part.n);
                    for member in 2..members {
                        let next = group.near(of(member)?, bytes, &mut other);
                        self.kernel.combine(acc, acc, next, part.n);
                    }
                    group.read(members * bytes);
                }
            }
        }
        Ok(acc)
    }
}
