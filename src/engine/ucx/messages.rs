//! Operations as active messages, which the agent carries out. All versions of UCX send them alike;
//! its own puts, gets and atomic operations depend on the version, and puts are answered one by one,
//! which over tcp takes the agent as long as the operation itself.
//!
//! A message without a result has the [`Target`], the kind, and the bytes to store or the operand; it is
//! not answered. One with a result is a question (`question.rs`); its answers have its number, an offset,
//! and the bytes there. Words are little-endian, as in all that nodes exchange. No message has an address
//! of a process: the receiver looks the target up in what it exports.
#![allow(unsafe_code)]

use super::bindings as ucx;
use crate::atomics::{AtomicU32, AtomicU64, Ordering, fence};
use crate::counter::Counter;
use crate::engine::Far;
use crate::engine::exports::life_word;
use onenode_core::copy;
use onenode_core::sys::futex;
use std::ffi::c_void;
use std::ops::Range;
use std::slice;

/// The handler of messages that store or update: [`carry_out`].
pub const STORES: Handler = Handler { id: 1, flags: ucx::AM_EAGER };
/// The handler of questions.
pub const QUESTIONS: Handler = Handler { id: 2, flags: ucx::AM_EAGER | ucx::AM_REPLY };
/// The handler of steps that PEs tell each other.
pub const NOTIFICATIONS: Handler = Handler { id: 3, flags: ucx::AM_EAGER };
/// The handlers of what opens the connections for them.
pub const HELLO: Handler = Handler { id: 4, flags: ucx::AM_EAGER | ucx::AM_REPLY };
pub const WELCOME: Handler = Handler { id: 5, flags: ucx::AM_EAGER };
/// The handler of answers.
pub const ANSWERS: Handler = Handler { id: 6, flags: ucx::AM_EAGER };
/// The most bytes to store in a [`Message`](super::message::Message).
pub const MOST: usize = 1024;
/// The bytes of a part of a larger store: with what UCX adds, UCX sends no more at once over tcp.
const PART: usize = 60 << 10;
/// The bytes of a head.
pub const HEAD: usize = 16;
/// Who carries out a message, and how UCX sends it.
#[derive(Clone, Copy)]
pub struct Handler {
    /// Its number.
    pub id: u32,
    /// Flags of `ucp_am_send_nbx`.
    pub flags: u32,
}

/// What a message is about: memory of a PE in one of its lifetimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The memory.
    pub at: Far,
    /// The programs that the PE has begun, and the lifetimes in the current one.
    pub life: (u32, u32),
}

impl Target {
    /// The PE is in the bits above those of the offset.
    const OFFSET_BITS: u32 = 48;
    /// A kind is in the bits above those of the programs, of which there are not so many
    /// (`JobFile::most_generations`).
    const KIND_BITS: u32 = 8;

    /// As the first two words of a message of this kind.
    pub fn words(self, kind: u64) -> [u64; 2] {
        let place = (self.at.pe as u64) << Self::OFFSET_BITS | self.at.offset;
        [place, kind << (u64::BITS - Self::KIND_BITS) | life_word(self.life)]
    }

    /// The target and the kind.
    pub fn of([place, word]: [u64; 2]) -> (Self, u64) {
        let (pe, offset) = (place >> Self::OFFSET_BITS, place & ((1 << Self::OFFSET_BITS) - 1));
        let programs = (word << Self::KIND_BITS) >> (32 + Self::KIND_BITS);
        let at = Far { pe: pe as usize, offset };
        (Self { at, life: (programs as u32, word as u32) }, word >> (u64::BITS - Self::KIND_BITS))
    }
}

/// The kinds of messages that store or update.
pub const STORE: u64 = 0;
pub const ADD: u64 = 1;
pub const AND: u64 = 2;
pub const OR: u64 = 3;
pub const XOR: u64 = 4;
/// Raises a [`Counter`], on which PEs may sleep.
pub const RAISE: u64 = 5;
/// Reports the job's end with its abort word.
pub const END: u64 = 9;

/// The heads of the messages that store many bytes, which are sent from where they are.
pub struct Parts {
    heads: Vec<[u8; HEAD]>,
    bytes: usize,
}

impl Parts {
    /// Stores bytes.
    pub fn to(target: Target, bytes: usize) -> Self {
        let part = |start| Target { at: target.at.plus(start), ..target };
        let starts = (0..bytes).step_by(PART);
        Self { heads: starts.map(|start| head(part(start).words(STORE))).collect(), bytes }
    }

    /// Answers a question with bytes.
    pub fn answer(number: u64, bytes: usize) -> Self {
        let starts = (0..bytes as u64).step_by(PART);
        Self { heads: starts.map(|start| head([number, start])).collect(), bytes }
    }

    /// Each head, and which bytes follow it.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Range<usize>)> {
        let starts = (0..self.bytes).step_by(PART);
        let parts = starts.map(|start| start..self.bytes.min(start + PART));
        self.heads.iter().map(|head| &head[..]).zip(parts)
    }
}

/// A head: the words of a target, or a number and an offset.
pub(super) fn head([first, second]: [u64; 2]) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&first.to_le_bytes());
    head[8..].copy_from_slice(&second.to_le_bytes());
    head
}

/// The two words of a message's head, and what follows. The head is sent apart from bytes that are sent
/// from where they are. `None` if there is no head.
///
/// # Safety
/// `header` and `data` are readable for as many bytes as their lengths say, and do not change.
pub unsafe fn split<'m>(
    header: *const c_void,
    header_length: usize,
    data: *mut c_void,
    length: usize,
) -> Option<([u64; 2], &'m [u8])> {
    // SAFETY: the caller guarantees that the data is readable. Nothing else uses it meanwhile.
    let data = unsafe { slice::from_raw_parts(data.cast::<u8>(), length) };
    let (head, rest) = match header_length {
        0 => data.split_at_checked(HEAD)?,
        // SAFETY: the caller guarantees that the header is readable.
        HEAD => (unsafe { slice::from_raw_parts(header.cast(), HEAD) }, data),
        _ => return None,
    };
    Some(([word(&head[..8]), word(&head[8..])], rest))
}

/// The value of up to 8 bytes.
pub fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The bytes of memory that a message of this kind accesses.
pub fn extent(kind: u64, operand: &[u8]) -> usize {
    if kind == RAISE { size_of::<Counter>() } else { operand.len() }
}

/// Carries out a message that stores or updates. Returns false if there is no such operation.
///
/// # Safety
/// `at` is writable for the [`extent`] of the message, which others access only by atomics and raw
/// copies.
pub unsafe fn change(at: *mut u8, kind: u64, operand: &[u8]) -> bool {
    if kind == STORE {
        // SAFETY: the caller guarantees that as many bytes are writable.
        unsafe { store(at, operand) };
        return true;
    }
    if kind == RAISE && operand.len() == 8 && at.cast::<Counter>().is_aligned() {
        // SAFETY: aligned, and the caller guarantees its bytes. It consists of atomics, for which all
        // bytes are valid.
        let counter = unsafe { &*at.cast::<Counter>() };
        counter.raise(word(operand), |counter| futex::wake_all(counter.place()));
        return true;
    }
    macro_rules! change {
        ($atomic:ty, $operand:expr) => {{
            // SAFETY: aligned by the check below; the caller guarantees that its bytes may be changed,
            // and that others access them only by atomics and raw copies.
            let word = unsafe { &*at.cast::<$atomic>() };
            match kind {
                ADD => word.fetch_add($operand, Ordering::AcqRel),
                AND => word.fetch_and($operand, Ordering::AcqRel),
                OR => word.fetch_or($operand, Ordering::AcqRel),
                XOR => word.fetch_xor($operand, Ordering::AcqRel),
                _ => return false,
            };
        }};
    }
    match operand.len() {
        8 if at.addr() % 8 == 0 => change!(AtomicU64, word(operand)),
        4 if at.addr() % 4 == 0 => change!(AtomicU32, word(operand) as u32),
        _ => return false,
    }
    true
}

/// Stores bytes. Aligned words of 8 bytes, and one of 4, are stored as a whole.
///
/// # Safety
/// `at` is writable for as many bytes, which others access only by atomics and raw copies.
pub unsafe fn store(at: *mut u8, bytes: &[u8]) {
    let aligned = |to: usize| at.addr() % to == 0;
    if bytes.len() % 8 == 0 && bytes.len() <= MOST && aligned(8) {
        for (i, bytes) in bytes.chunks_exact(8).enumerate() {
            // SAFETY: an aligned word among those that the caller guarantees are writable.
            let place = unsafe { &*at.cast::<AtomicU64>().add(i) };
            place.store(word(bytes), Ordering::Release);
        }
    } else if bytes.len() == 4 && aligned(4) {
        // SAFETY: as above.
        let place = unsafe { &*at.cast::<AtomicU32>() };
        place.store(word(bytes) as u32, Ordering::Release);
    } else {
        // Not before what earlier messages have stored.
        fence(Ordering::Release);
        // SAFETY: the caller guarantees that the bytes are writable.
        unsafe { copy::bytes(at, bytes.as_ptr(), bytes.len()) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::Message;
    use super::*;
    use crate::engine::{Action, Amo};

    const TARGET: Target = Target { at: Far { pe: 5, offset: 7 }, life: (1, 2) };

    fn send(mut message: Message, at: *mut u8) {
        let bytes = message.to(TARGET);
        let (head, operand) = bytes.split_at(HEAD);
        let (target, kind) = Target::of([word(&head[..8]), word(&head[8..])]);
        assert_eq!(target, TARGET);
        // SAFETY: memory of this test.
        assert!(unsafe { change(at, kind, operand) });
    }

    #[test]
    fn a_target_survives_its_words() {
        for (pe, offset, life) in
            [(0, 0, (0, 0)), (4095, (1 << 43) - 1, (0xff_ffff, u32::MAX)), (65535, 1, (1, 0))]
        {
            let target = Target { at: Far { pe, offset }, life };
            for kind in [STORE, RAISE, END, 255] {
                assert_eq!(Target::of(target.words(kind)), (target, kind));
            }
        }
    }

    #[test]
    fn bytes_arrive_where_they_belong_and_nowhere_else() {
        let from: Vec<u8> = (1..=255).cycle().take(MOST).collect();
        for length in [1, 2, 3, 4, 5, 7, 8, 9, 16, 24, 100, MOST] {
            for offset in [0, 1, 2, 4, 6, 8] {
                let mut words = [0u64; MOST / 8 + 4];
                let to = words.as_mut_ptr().cast::<u8>();
                // SAFETY: the source has `MOST` bytes.
                let message = unsafe { Message::store(from.as_ptr(), length) };
                assert_eq!(message.extent(), length);
                send(message, to.wrapping_add(8 + offset));
                // SAFETY: all bytes of the words.
                let bytes = unsafe { slice::from_raw_parts(to, size_of_val(&words)) };
                let (before, rest) = bytes.split_at(8 + offset);
                assert_eq!(rest[..length], from[..length], "{length} bytes at {offset}");
                assert!(before.iter().chain(&rest[length..]).all(|byte| *byte == 0));
            }
        }
    }

    #[test]
    fn words_change_alone() {
        const STANDS: u64 = 0x7_ffff_ffff;
        type Model = fn(u64) -> u64;
        let models: [(Action, Model); 5] = [
            (Action::Add, |word| word + 3),
            (Action::And, |word| word & 3),
            (Action::Or, |word| word | 3),
            (Action::Xor, |word| word ^ 3),
            (Action::Swap, |_| 3),
        ];
        for (action, model) in models {
            for (bytes, mask) in [(4, u64::from(u32::MAX)), (8, u64::MAX)] {
                let mut words = [5, STANDS, 6];
                let message = Message::update(Amo { action, operand: 3, bytes }).unwrap();
                send(message, words[1..].as_mut_ptr().cast());
                let expected = model(STANDS) & mask | STANDS & !mask;
                assert_eq!(words, [5, expected, 6], "{action:?} of {bytes} bytes");
            }
        }
        let compare = Amo { action: Action::CompareSwap(1), operand: 2, bytes: 8 };
        assert!(Message::update(compare).is_none());
    }

    #[test]
    fn a_counter_is_raised() {
        let counter = Counter::new();
        for step in [3, 9] {
            send(Message::words(RAISE, &[step]), counter.place().cast_mut().cast());
            assert_eq!(counter.get(), step);
        }
    }

    #[test]
    fn what_is_no_message_changes_nothing() {
        let mut stands = [9u64; 3];
        let at = stands.as_mut_ptr().cast::<u8>();
        for (offset, kind, operand) in
            [(0, RAISE + 1, 8), (0, ADD, 2), (4, ADD, 8), (1, OR, 4), (0, RAISE, 4), (4, RAISE, 8)]
        {
            // SAFETY: the memory is this test's.
            assert!(!unsafe { change(at.wrapping_add(offset), kind, &[1; 8][..operand]) });
        }
        assert_eq!(stands, [9; 3]);
    }
}
