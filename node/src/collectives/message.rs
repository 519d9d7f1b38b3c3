//! Private memory for a message that travels beside control words: whole 64-bit words.
#![allow(unsafe_code)]

use super::group::Reach;
use super::range::{Readable, Writable};
use super::words::MOST_WORDS;
use std::mem::MaybeUninit;

/// Most bytes of a message.
pub const MOST_BYTES: usize = MOST_WORDS * size_of::<u64>();

/// Words that so many bytes fill, or begin.
pub const fn words_of(bytes: usize) -> usize {
    bytes.div_ceil(size_of::<u64>())
}

/// So many bytes that a message, or a part of one, begins with.
#[inline(always)]
pub fn content(words: &[u64], bytes: usize) -> Readable<'_> {
    Readable::from(words).part(0, bytes)
}

/// Room for a message, aligned for any element. It has no value at first: a small message must not
/// pay for a large one's room.
#[repr(C, align(64))]
pub struct Room(MaybeUninit<[u64; MOST_WORDS]>);

impl Room {
    /// With nothing in it.
    #[inline(always)]
    pub const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// So many zeros.
    #[inline(always)]
    pub fn zeros(&mut self, words: usize) -> &mut [u64] {
        assert!(words <= MOST_WORDS);
        let start: *mut u64 = self.0.as_mut_ptr().cast();
        // SAFETY: there is room for as many words, and they are written here.
        unsafe {
            (0..words).for_each(|i| start.add(i).write(0));
            std::slice::from_raw_parts_mut(start, words)
        }
    }

    /// So many blocks of `bytes` bytes, which follow each other in `from`; each begins
    /// with a word of its own, and ends with zeros up to the end of a word.
    #[inline(always)]
    pub fn blocks(
        &mut self,
        group: &impl Reach,
        from: Readable<'_>,
        bytes: usize,
        blocks: usize,
    ) -> &mut [u64] {
        let words = words_of(bytes);
        assert!(words * blocks <= MOST_WORDS);
        let start: *mut u64 = self.0.as_mut_ptr().cast();
        for block in 0..blocks {
            let to = start.wrapping_add(block * words);
            // SAFETY: each block has its words within the room. The last one has a value before
            // the block's bytes are written, which begin in all of them.
            unsafe {
                if words > 0 {
                    to.add(words - 1).write(0);
                }
                group.copy(from.part(block * bytes, bytes), Writable::new(to.cast(), bytes));
            }
        }
        // SAFETY: as many words were written here, block by block.
        unsafe { std::slice::from_raw_parts_mut(start, words * blocks) }
    }
}

impl Default for Room {
    fn default() -> Self {
        Self::new()
    }
}
