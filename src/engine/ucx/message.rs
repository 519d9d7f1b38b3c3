//! A message of few bytes: an operation, or an answer.
#![allow(unsafe_code)]

use super::messages::{ADD, AND, HEAD, MOST, OR, STORE, Target, XOR, head};
use crate::atomics::{AtomicU32, AtomicU64, Ordering, fence};
use crate::engine::{Action, Amo};
use onenode_core::copy;
use std::mem::MaybeUninit;
use std::slice;

/// An operation on memory of an agent, an answer, or what PEs tell each other.
pub struct Message {
    /// The bytes of the extent are initialised, and the head once the message is complete. The rest is
    /// not, so that a small message does not pay for a large one's room.
    bytes: MaybeUninit<[u8; HEAD + MOST]>,
    /// The kind, or what else is the head's second word.
    second: u64,
    /// The bytes behind the head.
    extent: usize,
}

impl Message {
    fn new(second: u64) -> Self {
        Self { bytes: MaybeUninit::uninit(), second, extent: 0 }
    }

    /// An answer without bytes.
    pub fn answer() -> Self {
        Self::new(0)
    }

    fn start(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().cast()
    }

    /// The bytes behind the head, so many from now on.
    ///
    /// # Panics
    /// If there are more than [`MOST`].
    fn room(&mut self, bytes: usize) -> &mut [u8] {
        assert!(bytes <= MOST, "{bytes} bytes in a message");
        self.extent = bytes;
        let start = self.start().wrapping_add(HEAD);
        // SAFETY: there is room for them, as just checked, and all are written here.
        unsafe {
            start.write_bytes(0, bytes);
            slice::from_raw_parts_mut(start, bytes)
        }
    }

    /// Stores bytes. Aligned words of 8 bytes, and one of 4, are stored as a whole.
    ///
    /// # Panics
    /// If there are more than [`MOST`] bytes.
    ///
    /// # Safety
    /// `from` is readable for `bytes` bytes.
    pub unsafe fn store(from: *const u8, bytes: usize) -> Self {
        let mut message = Self::new(STORE);
        // SAFETY: the caller guarantees that the source is readable; the room has as many bytes.
        unsafe { copy::bytes(message.room(bytes).as_mut_ptr(), from, bytes) };
        message
    }

    /// Makes an answer one with the bytes at an address of this process. Aligned words of 8 bytes, and
    /// one of 4, are loaded as a whole.
    ///
    /// # Panics
    /// If there are more than [`MOST`] bytes.
    ///
    /// # Safety
    /// The memory is readable for `bytes` bytes, and others write it only by atomics and raw copies.
    pub unsafe fn load(&mut self, from: *const u8, bytes: usize) {
        let room = self.room(bytes);
        let aligned = |to: usize| from.addr() % to == 0;
        if bytes % 8 == 0 && aligned(8) {
            for (i, place) in room.chunks_exact_mut(8).enumerate() {
                // SAFETY: an aligned word among those that the caller guarantees are readable.
                let word = unsafe { &*from.cast::<AtomicU64>().add(i) };
                place.copy_from_slice(&word.load(Ordering::Acquire).to_le_bytes());
            }
        } else if bytes == 4 && aligned(4) {
            // SAFETY: as above.
            let word = unsafe { &*from.cast::<AtomicU32>() };
            room.copy_from_slice(&word.load(Ordering::Acquire).to_le_bytes());
        } else {
            // SAFETY: the caller guarantees that the source is readable; the room has as many bytes.
            unsafe { copy::bytes(room.as_mut_ptr(), from, bytes) };
            // Before what later messages load.
            fence(Ordering::Acquire);
        }
    }

    /// Words, as many as [`MOST`] bytes have room for. `second`: the kind, or what the receiver expects as
    /// the head's second word.
    pub fn words(second: u64, words: &[u64]) -> Self {
        let mut message = Self::new(second);
        for (place, word) in message.room(size_of_val(words)).chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        message
    }

    /// Changes a word; `None` if only a fetching operation does that.
    pub fn update(amo: Amo) -> Option<Self> {
        let kind = match amo.action {
            Action::Add => ADD,
            Action::And => AND,
            Action::Or => OR,
            Action::Xor => XOR,
            Action::Swap => STORE,
            Action::CompareSwap(_) => return None,
        };
        let mut message = Self::new(kind);
        message.room(amo.bytes).copy_from_slice(&amo.operand.to_le_bytes()[..amo.bytes]);
        Some(message)
    }

    /// The bytes behind the head.
    pub fn extent(&self) -> usize {
        self.extent
    }

    /// The message about this memory.
    pub fn to(&mut self, target: Target) -> &[u8] {
        self.with(target.words(self.second))
    }

    /// The message with this number, or what else is the head's first word.
    pub fn numbered(&mut self, number: u64) -> &[u8] {
        self.with([number, self.second])
    }

    fn with(&mut self, words: [u64; 2]) -> &[u8] {
        let start = self.start();
        // SAFETY: the room has more bytes than a head; those of the extent are initialised.
        unsafe {
            start.cast::<[u8; HEAD]>().write(head(words));
            slice::from_raw_parts(start, HEAD + self.extent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::messages::word;
    use super::*;

    #[test]
    fn answers_have_the_bytes_and_nothing_else() {
        let from: Vec<u64> = (1..=200).map(|i| i * 0x0101_0203_0405).collect();
        let bytes = |at: usize, length: usize| {
            let all: Vec<u8> = from.iter().flat_map(|word| word.to_le_bytes()).collect();
            all[at..at + length].to_vec()
        };
        for (at, length) in [(0, 0), (0, 8), (8, MOST), (4, 4), (3, 4), (5, 8), (16, 24), (1, 1000)]
        {
            let start = from.as_ptr().cast::<u8>().wrapping_add(at);
            let mut answer = Message::answer();
            // SAFETY: bytes of the vector.
            unsafe { answer.load(start, length) };
            let message = answer.numbered(5);
            assert_eq!(word(&message[..8]), 5);
            assert_eq!(message[HEAD..], bytes(at, length), "{length} bytes at {at}");
        }
    }
}
