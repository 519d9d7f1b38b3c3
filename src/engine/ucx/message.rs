//! Messages as they travel. Operations are active messages, which the agent carries out. All versions of
//! UCX send them alike; its own puts, gets and atomic operations depend on the version, and puts are
//! answered one by one, which over tcp takes the agent as long as the operation itself.
//!
//! A message has a head of two words, and what follows. Without a result, it has the [`Target`] and the
//! kind, and the bytes to store or the operand; it is not answered. A [`Question`] begins with its number,
//! as do its answers, followed by an offset and the bytes there. Words are little-endian, as in all that
//! nodes exchange. No message has an address of a process: the receiver looks the target up in what it
//! exports.
#![allow(unsafe_code)]

use super::bindings::{AM_EAGER, AM_REPLY};
use crate::engine::exports::{EXPORT_BYTES, life_word};
use crate::engine::{Action, Amo, Far};
use onenode_core::copy;
use std::ops::Range;

/// Who takes in a message, and how UCX sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    /// Its number.
    pub id: u32,
    /// Flags of `ucp_am_send_nbx`.
    pub flags: u32,
    /// The message, for people.
    pub name: &'static str,
}

const fn handler(id: u32, flags: u32, name: &'static str) -> Handler {
    Handler { id, flags: AM_EAGER | flags, name }
}

/// The handler of messages that store or update.
pub const STORES: Handler = handler(1, 0, "a message");
/// The handler of questions.
pub const QUESTIONS: Handler = handler(2, AM_REPLY, "a question");
/// The handler of steps that PEs notify each other of.
pub const NOTIFICATIONS: Handler = handler(3, 0, "a step");
/// The handlers of what opens the connections for them.
pub const HELLO: Handler = handler(4, AM_REPLY, "a handshake");
pub const WELCOME: Handler = handler(5, 0, "the answer to a handshake");
/// The handler of answers.
pub const ANSWERS: Handler = handler(6, 0, "an answer");

/// The most bytes behind the head of a [`Message`].
pub const MOST: usize = 1024;
/// The bytes of a part of a larger transfer: with what UCX adds, UCX sends no more at once over tcp.
const PART: usize = 60 << 10;
/// The bytes of a head.
pub const HEAD: usize = 16;

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

    /// The memory `bytes` bytes further on.
    pub fn plus(self, bytes: usize) -> Self {
        Self { at: self.at.plus(bytes), ..self }
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
/// Raises a [`Counter`](crate::counter::Counter), on which PEs may sleep.
pub const RAISE: u64 = 5;
/// Reports the job's end with its abort word.
pub const END: u64 = 9;
/// The kinds that only questions have.
const LOAD: u64 = 6;
const SWAP: u64 = 7;
const COMPARE_SWAP: u64 = 8;
const EXPORT: u64 = 10;

/// A message of few bytes: an operation on memory of an agent, an answer, or what PEs notify each other of.
pub struct Message {
    /// The kind, or what else is the head's second word.
    second: u64,
    /// Room for the head, and what follows.
    bytes: Vec<u8>,
}

impl Message {
    /// A message with so many zeros behind the head.
    ///
    /// # Panics
    /// If there are more than [`MOST`].
    #[allow(clippy::slow_vector_initialization)]
    fn new(second: u64, extent: usize) -> Self {
        assert!(extent <= MOST, "{extent} bytes in a message");
        // glibc's calloc, which `vec!` calls, takes several times as long.
        let mut bytes = Vec::with_capacity(HEAD + extent);
        bytes.resize(HEAD + extent, 0);
        Self { second, bytes }
    }

    /// An answer, which `fill` fills in.
    pub fn answer(extent: usize, fill: impl FnOnce(&mut [u8])) -> Self {
        let mut message = Self::new(0, extent);
        fill(message.rest());
        message
    }

    /// Stores bytes. Aligned words of 8 bytes, and one of 4, are stored as a whole.
    ///
    /// # Safety
    /// `from` is readable for `bytes` bytes.
    pub unsafe fn store(from: *const u8, bytes: usize) -> Self {
        let mut message = Self::new(STORE, bytes);
        // SAFETY: the caller guarantees that the source is readable; the message has room for as many.
        unsafe { copy::bytes(message.rest().as_mut_ptr(), from, bytes) };
        message
    }

    /// Words. `second`: the kind, or what the receiver expects as the head's second word.
    pub fn words(second: u64, words: &[u64]) -> Self {
        let mut message = Self::new(second, size_of_val(words));
        write_words(message.rest(), words);
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
        let mut message = Self::new(kind, amo.bytes);
        message.rest().copy_from_slice(&amo.operand.to_le_bytes()[..amo.bytes]);
        Some(message)
    }

    fn rest(&mut self) -> &mut [u8] {
        &mut self.bytes[HEAD..]
    }

    /// The bytes behind the head.
    pub fn extent(&self) -> usize {
        self.bytes.len() - HEAD
    }

    /// The message about this memory.
    pub fn to(self, target: Target) -> Vec<u8> {
        let second = self.second;
        self.with(target.words(second))
    }

    /// The message with this number, or what else is the head's first word.
    pub fn numbered(self, number: u64) -> Vec<u8> {
        let second = self.second;
        self.with([number, second])
    }

    fn with(mut self, words: [u64; 2]) -> Vec<u8> {
        write_words(&mut self.bytes[..HEAD], &words);
        self.bytes
    }
}

/// The parts in which many bytes are sent from where they are, each behind a head of its own. `head` makes
/// the words of the head from the part's start.
pub fn parts(
    bytes: usize,
    head: impl Fn(usize) -> [u64; 2],
) -> impl Iterator<Item = ([u8; HEAD], Range<usize>)> {
    (0..bytes).step_by(PART).map(move |start| {
        let mut place = [0; HEAD];
        write_words(&mut place, &head(start));
        (place, start..bytes.min(start + PART))
    })
}

/// The two words of a message's head, and what follows. UCX has kept the head apart if it was sent apart.
/// `None` if there is no head.
pub fn split<'m>(header: &'m [u8], data: &'m [u8]) -> Option<([u64; 2], &'m [u8])> {
    let (head, rest) = match header.len() {
        0 => data.split_at_checked(HEAD)?,
        HEAD => (header, data),
        _ => return None,
    };
    Some(([word(&head[..8]), word(&head[8..])], rest))
}

fn write_words(to: &mut [u8], words: &[u64]) {
    for (place, word) in to.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
}

/// The value of up to 8 bytes.
pub fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// What an agent is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// So many bytes of memory; none: to have carried out the messages before.
    Load(usize),
    /// To change a word. The answer is its old value.
    Change(Amo),
    /// The encoded export of the PE.
    Export,
}

impl Question {
    /// The words behind the head.
    const REST: usize = 4;

    /// The bytes of memory that it concerns.
    pub fn extent(self) -> usize {
        match self {
            Self::Load(bytes) => bytes,
            Self::Change(amo) => amo.bytes,
            Self::Export => EXPORT_BYTES,
        }
    }

    /// The message.
    pub fn encode(self, number: u64, target: Target) -> Vec<u8> {
        let (kind, bytes, operand, compared) = match self {
            Self::Load(bytes) => (LOAD, bytes, 0, 0),
            Self::Export => (EXPORT, EXPORT_BYTES, 0, 0),
            Self::Change(Amo { action, operand, bytes }) => match action {
                Action::Add => (ADD, bytes, operand, 0),
                Action::And => (AND, bytes, operand, 0),
                Action::Or => (OR, bytes, operand, 0),
                Action::Xor => (XOR, bytes, operand, 0),
                Action::Swap => (SWAP, bytes, operand, 0),
                Action::CompareSwap(compared) => (COMPARE_SWAP, bytes, operand, compared),
            },
        };
        let [place, kind] = target.words(kind);
        Message::words(place, &[kind, bytes as u64, operand, compared]).numbered(number)
    }

    /// The number, the target and the question; `None` if it is none.
    pub fn decode([number, place]: [u64; 2], rest: &[u8]) -> Option<(u64, Target, Self)> {
        let rest: &[u8; Self::REST * 8] = rest.try_into().ok()?;
        let at = |i: usize| word(&rest[i * 8..i * 8 + 8]);
        let [kind, bytes, operand, compared] = std::array::from_fn(at);
        let (target, kind) = Target::of([place, kind]);
        let bytes = usize::try_from(bytes).ok()?;
        let action = match kind {
            LOAD => return Some((number, target, Self::Load(bytes))),
            EXPORT => return Some((number, target, Self::Export)),
            ADD => Action::Add,
            AND => Action::And,
            OR => Action::Or,
            XOR => Action::Xor,
            SWAP => Action::Swap,
            COMPARE_SWAP => Action::CompareSwap(compared),
            _ => return None,
        };
        let is_word = matches!(bytes, 4 | 8);
        is_word.then_some((number, target, Self::Change(Amo { action, operand, bytes })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn questions_arrive_as_they_were_asked() {
        let change = |action, bytes| Question::Change(Amo { action, operand: 77, bytes });
        let target = Target { at: Far { pe: 3, offset: 64 }, life: (1, 2) };
        let decode = |message: &[u8]| {
            let (head, rest) = split(&[], message).expect("a head");
            Question::decode(head, rest)
        };
        for question in [
            Question::Load(0),
            Question::Load(usize::MAX),
            change(Action::Add, 8),
            change(Action::And, 4),
            change(Action::Or, 8),
            change(Action::Xor, 4),
            change(Action::Swap, 8),
            change(Action::CompareSwap(u64::MAX), 4),
            Question::Export,
        ] {
            let message = question.encode(9, target);
            assert_eq!(decode(&message), Some((9, target, question)));
            assert_eq!(decode(&message[1..]), None);
        }
        let narrow = change(Action::Or, 2);
        assert_eq!(decode(&narrow.encode(9, target)), None, "{narrow:?}");
        let mut unknown = Question::Load(8).encode(9, target);
        unknown[23] = 200;
        assert_eq!(decode(&unknown), None);
    }

    #[test]
    fn parts_cover_all_bytes_once() {
        for bytes in [0, 1, PART, PART + 1, 3 * PART - 1] {
            let mut next = 0;
            for (head, part) in parts(bytes, |start| [7, start as u64]) {
                assert_eq!(split(&head, &[]), Some(([7, next as u64], &[][..])));
                assert!(part.start == next && (1..=PART).contains(&part.len()));
                next = part.end;
            }
            assert_eq!(next, bytes);
        }
    }

    #[test]
    fn a_head_of_another_length_is_none() {
        for (header, data) in [(0, HEAD - 1), (HEAD - 1, HEAD), (HEAD + 1, HEAD), (1, 0)] {
            assert_eq!(split(&vec![0; header], &vec![0; data]), None, "{header} and {data} bytes");
        }
    }
}
