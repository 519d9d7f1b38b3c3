//! Private memory for a message that travels beside control words, in whole 64-bit words.
#![allow(unsafe_code)]

use super::group::Reach;
use super::range::{Readable, Writable};
use super::words::MOST_WORDS;
use std::mem::MaybeUninit;

/// Most bytes of a message.
pub const MOST_BYTES: usize = MOST_WORDS * size_of::<u64>();

/// The number of words that hold `bytes` bytes.
pub const fn words_of(bytes: usize) -> usize {
    bytes.div_ceil(size_of::<u64>())
}

/// The first `bytes` bytes of a message, or of a part of one.
#[inline(always)]
pub fn content(words: &[u64], bytes: usize) -> Readable<'_> {
    Readable::from(words).part(0, bytes)
}

/// Room for a message, aligned for any element. It starts uninitialised, so that a small message
/// does not pay for a large one's room.
#[repr(C, align(64))]
pub struct Room(MaybeUninit<[u64; MOST_WORDS]>);

impl Room {
    /// Creates an empty room.
    #[inline(always)]
    pub const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// The first `words` words, set to zero.
    #[inline(always)]
    pub fn zeros(&mut self, words: usize) -> &mut [u64] {
        assert!(words <= MOST_WORDS);
        let start: *mut u64 = self.0.as_mut_ptr().cast();
        // SAFETY: there is room for `words` words, as just checked, and all of them are written
        // here.
        unsafe {
            (0..words).for_each(|i| start.add(i).write(0));
            std::slice::from_raw_parts_mut(start, words)
        }
    }

    /// Copies `blocks` blocks of `bytes` bytes, contiguous in `from`. Each block starts in a word
    /// of its own and is padded with zeros to the end of its last word.
    #[inline(always)]
    pub fn blocks(
        &mut self,
        group: &impl Reach,
        from: Readable<'_>,
        bytes: usize,
        blocks: usize,
    ) -> &mut [u64] {
        // Blocks of whole words need no padding: they are one.
        let whole = bytes % size_of::<u64>() == 0;
        let (bytes, blocks) = if whole { (bytes * blocks, 1) } else { (bytes, blocks) };
        let words = words_of(bytes);
        assert!(words * blocks <= MOST_WORDS);
        let start: *mut u64 = self.0.as_mut_ptr().cast();
        for block in 0..blocks {
            let to = start.wrapping_add(block * words);
            // SAFETY: each block's words are within the room. Its last word is written first; then
            // the block's bytes fill all words before it.
            unsafe {
                if words > 0 {
                    to.add(words - 1).write(0);
                }
                group.copy(from.part(block * bytes, bytes), Writable::new(to.cast(), bytes));
            }
        }
        // SAFETY: all these words were written above, block by block.
        unsafe { std::slice::from_raw_parts_mut(start, words * blocks) }
    }
}

impl Default for Room {
    fn default() -> Self {
        Self::new()
    }
}
