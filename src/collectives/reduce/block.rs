//! Private blocks that elements are combined in.
//!
//! The members' arrays are shared memory, which no Rust reference may point to. So
//! a block of each source is copied into private memory that stays in the first
//! cache levels, and combined there, where the compiler may vectorise.
#![allow(unsafe_code)]

use super::op::Kernel;
use crate::collectives::group::{Group, Steps};
use std::mem::MaybeUninit;

/// Bytes of a block: two fit a 32 KiB first-level cache with room to spare.
pub const BLOCK_BYTES: usize = 8192;

const READY: usize = 1;

#[repr(C, align(64))]
struct Block(MaybeUninit<[u8; BLOCK_BYTES]>);

/// An accumulator and room for what is combined into it.
pub struct Blocks {
    acc: Block,
    next: Block,
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
    /// Empty blocks for `kernel`'s elements.
    pub fn new(kernel: Kernel) -> Self {
        Self { acc: Block(MaybeUninit::uninit()), next: Block(MaybeUninit::uninit()), kernel }
    }

    /// Combines `part` (at most a block) of the sources of members `0..members`, in
    /// their order, so that the result never depends on timing. Waits for each
    /// member to have announced step 1. Returns the result, `part.n` elements.
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
    ) -> *const u8 {
        let size = self.kernel.bytes();
        let (offset, bytes) = (part.first * size, part.n * size);
        assert!(bytes <= BLOCK_BYTES);
        let acc: *mut u8 = self.acc.0.as_mut_ptr().cast();
        let next: *mut u8 = self.next.0.as_mut_ptr().cast();
        for member in 0..members {
            steps.await_member(READY, member);
            // SAFETY: the caller's promise for the source; the blocks are private,
            // large enough by the assertion, aligned for any element, and each is
            // filled before it is combined.
            unsafe {
                let from = group.of("source", source, member).add(offset);
                if member == 0 {
                    group.copy(from, acc, bytes);
                } else {
                    group.copy(from, next, bytes);
                    self.kernel.combine(acc, next, part.n);
                }
            }
        }
        acc
    }
}
