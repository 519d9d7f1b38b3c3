//! Messages as they travel. Operations are active messages, which the agent carries out. All versions of
//! UCX send them alike; its own puts, gets and atomic operations depend on the version, and puts are
//! answered one by one, which over tcp takes the agent as long as the operation itself.
//!
//! Short messages travel together, as a [`Batch`]: each behind its length. The parts of a large transfer
//! travel alone, each with its head in UCX's header.
//!
//! A message has a head of two words, and what follows. Without a result, it has the [`Target`] and the
//! kind, and the bytes to store or the operand; it is not answered. A [`Question`] begins with its number,
//! as do its answers, followed by an offset and the bytes there. Words are little-endian, as in all that
//! nodes exchange. No message has an address of a process: the receiver looks the target up in what it
//! exports.
#![allow(unsafe_code)]

use crate::engine::exports::{EXPORT_BYTES, life_word};
use crate::remote::{Action, Amo, Far};
use onenode_core::copy;
use onenode_core::packed::word;
use std::ops::Range;

/// The UCX handler of active messages that receives a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    /// Its number.
    pub id: u32,
    /// The message, for people.
    pub name: &'static str,
}

const fn handler(id: u32, name: &'static str) -> Handler {
    Handler { id, name }
}

/// The handler of operations: messages that store or update, and questions.
pub const OPERATIONS: Handler = handler(1, "an operation");
/// The handler of steps that PEs notify each other of, and of the handshake before them, which is a message
/// without words that expects an answer.
pub const NOTIFICATIONS: Handler = handler(3, "a step");
/// The handler of the handshake's answer.
pub const WELCOME: Handler = handler(5, "the answer to a handshake");
/// The handler of answers.
pub const ANSWERS: Handler = handler(6, "an answer");

/// The most bytes behind the head of a [`Message`].
pub const MOST: usize = 1024;
/// The bytes of a part of a larger transfer: with what UCX adds, UCX sends no more at once over tcp.
const PART: usize = 60 << 10;
/// The bytes of a head.
pub const HEAD: usize = 16;

/// The target of a message: memory of a PE in one of its lifetimes.
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

/// The kinds of messages that store or update: stores.
pub const STORE: u64 = 0;
/// Adds.
pub const ADD: u64 = 1;
/// Bitwise and.
pub const AND: u64 = 2;
/// Bitwise or.
pub const OR: u64 = 3;
/// Bitwise exclusive or.
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

/// A message of few bytes: an operation on memory of an agent, a question, an answer, or what PEs notify each
/// other of. `F` writes what follows the head.
pub struct Message<F> {
    /// The second word is the kind, until the target is known.
    head: [u64; 2],
    extent: usize,
    asks: bool,
    fill: F,
}

impl<F: FnOnce(&mut [u8])> Message<F> {
    /// A message whose payload, zeros at first, `fill` fills in.
    ///
    /// # Panics
    /// If there are more than [`MOST`].
    pub fn new(second: u64, extent: usize, fill: F) -> Self {
        assert!(extent <= MOST, "{extent} bytes in a message");
        Self { head: [0, second], extent, asks: false, fill }
    }

    /// The bytes behind the head.
    pub fn extent(&self) -> usize {
        self.extent
    }

    /// The message about this memory.
    pub fn to(self, target: Target) -> Self {
        Self { head: target.words(self.head[1]), ..self }
    }

    /// The message with this number, or what else is the head's first word.
    pub fn numbered(self, number: u64) -> Self {
        Self { head: [number, self.head[1]], ..self }
    }

    /// The message, which expects an answer.
    pub fn asking(self) -> Self {
        Self { asks: true, ..self }
    }
}

/// Stores bytes. Aligned words of 8 bytes, and one of 4, are stored as a whole.
///
/// # Safety
/// `from` is readable for `bytes` bytes until the message is in a batch.
pub unsafe fn store(from: *const u8, bytes: usize) -> Message<impl FnOnce(&mut [u8])> {
    Message::new(STORE, bytes, move |to| {
        // SAFETY: the caller guarantees that the source is readable; there is room for as many bytes.
        unsafe { copy::bytes(to.as_mut_ptr(), from, bytes) }
    })
}

/// A message of words. `second`: the kind, or what the receiver expects as the head's second word.
pub fn words(second: u64, words: &[u64]) -> Message<impl FnOnce(&mut [u8])> {
    Message::new(second, size_of_val(words), move |to| write_words(to, words))
}

/// Changes a word; `None` if only a fetching operation does that.
pub fn update(amo: Amo) -> Option<Message<impl FnOnce(&mut [u8])>> {
    let kind = match amo.action {
        Action::Add => ADD,
        Action::And => AND,
        Action::Or => OR,
        Action::Xor => XOR,
        Action::Swap => STORE,
        Action::CompareSwap(_) => return None,
    };
    let fill = move |to: &mut [u8]| to.copy_from_slice(&amo.operand.to_le_bytes()[..amo.bytes]);
    Some(Message::new(kind, amo.bytes, fill))
}

/// Messages that travel together, in order. Each is behind its length and whether it expects an answer, in two
/// bytes.
#[derive(Default)]
pub struct Batch {
    bytes: Vec<u8>,
    asks: bool,
}

/// A message expects an answer.
const ASKS: u16 = 1 << 15;
const PREFIX: usize = size_of::<u16>();

impl Batch {
    /// The most bytes: with what UCX adds, a segment of UCX over tcp (8 KiB) has room for them, so they are
    /// sent at once.
    const FULL: usize = 7 << 10;

    /// Of one message.
    #[cfg(test)]
    pub fn of<F: FnOnce(&mut [u8])>(message: Message<F>) -> Self {
        let room = PREFIX + HEAD + message.extent;
        let mut batch = Self { bytes: Vec::with_capacity(room), asks: false };
        batch.add(message);
        batch
    }

    /// Whether there is no room for this message.
    pub fn is_full_for<F>(&self, message: &Message<F>) -> bool {
        self.bytes.len() + PREFIX + HEAD + message.extent > Self::FULL
    }

    /// Adds a message. Ask [`is_full_for`](Self::is_full_for) before.
    pub fn add<F: FnOnce(&mut [u8])>(&mut self, message: Message<F>) {
        let Message { head, extent, asks, fill } = message;
        let start = self.bytes.len();
        if self.bytes.capacity() == 0 {
            self.bytes.reserve_exact(Self::FULL);
        }
        self.bytes.resize(start + PREFIX + HEAD + extent, 0);
        let (prefix, rest) = self.bytes[start..].split_at_mut(PREFIX);
        // At most `MOST`.
        let length = extent as u16 | if asks { ASKS } else { 0 };
        prefix.copy_from_slice(&length.to_le_bytes());
        let (place, rest) = rest.split_at_mut(HEAD);
        write_words(place, &head);
        fill(rest);
        self.asks |= asks;
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether a message expects an answer.
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// The bytes that are sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Removes all messages. Keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.asks = false;
    }
}

/// A message as it has come.
#[derive(Debug, PartialEq, Eq)]
pub struct Received<'m> {
    /// The two words of its head.
    pub head: [u64; 2],
    /// The rest of the message.
    pub rest: &'m [u8],
    /// Whether it expects an answer.
    pub asks: bool,
}

impl<'m> Received<'m> {
    fn of(head: &[u8], rest: &'m [u8], asks: bool) -> Self {
        Self { head: [word(&head[..8]), word(&head[8..])], rest, asks }
    }

    /// The first message of a batch, which it is removed from.
    fn take(batch: &mut &'m [u8]) -> Option<Self> {
        let (prefix, rest) = batch.split_first_chunk::<PREFIX>()?;
        let prefix = u16::from_le_bytes(*prefix);
        let (head, rest) = rest.split_at_checked(HEAD)?;
        let (rest, others) = rest.split_at_checked((prefix & !ASKS).into())?;
        *batch = others;
        Some(Self::of(head, rest, prefix & ASKS != 0))
    }
}

/// The messages of one UCX message: a batch, or one with its head in UCX's header. An invalid one is `None`,
/// and ends the sequence.
pub fn unpack<'m>(header: &'m [u8], data: &'m [u8]) -> impl Iterator<Item = Option<Received<'m>>> {
    let (mut left, mut over) = (data, false);
    std::iter::from_fn(move || {
        if over {
            return None;
        }
        let message = match header.len() {
            0 => Received::take(&mut left),
            HEAD => Some(Received::of(header, data, false)),
            _ => None,
        };
        over = message.is_none() || !header.is_empty() || left.is_empty();
        Some(message)
    })
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

fn write_words(to: &mut [u8], words: &[u64]) {
    for (place, word) in to.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
}

/// A request to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Reads this many bytes of memory. The answer to a question of 0 bytes says that the agent has carried
    /// out all earlier messages.
    Load(usize),
    /// Updates a word atomically; the answer is its old value.
    Change(Amo),
    /// Asks for the encoded export of the PE.
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
    pub fn encode(self, number: u64, target: Target) -> Message<impl FnOnce(&mut [u8])> {
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
        let words = [kind, bytes as u64, operand, compared];
        let fill = move |to: &mut [u8]| write_words(to, &words);
        Message::new(place, size_of_val(&words), fill).numbered(number).asking()
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
        let decode = |batch: &[u8]| {
            let message = unpack(&[], batch).next()??;
            Question::decode(message.head, message.rest)
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
            let batch = Batch::of(question.encode(9, target));
            assert!(batch.asks());
            assert_eq!(decode(batch.bytes()), Some((9, target, question)));
            assert_eq!(decode(&batch.bytes()[1..]), None);
        }
        let narrow = change(Action::Or, 2);
        assert_eq!(decode(Batch::of(narrow.encode(9, target)).bytes()), None, "{narrow:?}");
        let mut unknown = Batch::of(Question::Load(8).encode(9, target)).bytes().to_vec();
        unknown[PREFIX + 23] = 200;
        assert_eq!(decode(&unknown), None);
    }

    /// All that has come.
    fn all<'m>(header: &'m [u8], data: &'m [u8]) -> Vec<Option<Received<'m>>> {
        unpack(header, data).collect()
    }

    #[test]
    fn messages_of_a_batch_come_in_order() {
        let mut batch = Batch::default();
        assert!(batch.is_empty());
        let sizes = [0, 1, 8, 3, MOST, 8];
        for (i, bytes) in sizes.into_iter().enumerate() {
            let message = Message::new(7, bytes, |to| to.fill(i as u8)).numbered(i as u64);
            assert!(!batch.is_full_for(&message) && message.extent() == bytes);
            batch.add(if i == 3 { message.asking() } else { message });
        }
        let contents: Vec<_> = sizes.iter().enumerate().map(|(i, n)| vec![i as u8; *n]).collect();
        let expected = contents
            .iter()
            .enumerate()
            .map(|(i, rest)| Some(Received { head: [i as u64, 7], rest, asks: i == 3 }));
        assert_eq!(all(&[], batch.bytes()), expected.collect::<Vec<_>>());
        assert!(batch.asks());
        batch.clear();
        assert!(batch.is_empty() && !batch.asks());
        let message = || Message::new(7, MOST, |_| ());
        while !batch.is_full_for(&message()) {
            batch.add(message());
        }
        assert!((6..8).contains(&unpack(&[], batch.bytes()).count()));
    }

    #[test]
    fn what_is_cut_off_is_no_message() {
        let mut batch = Batch::of(words(7, &[1, 2]));
        batch.add(words(8, &[3]));
        let bytes = batch.bytes();
        let first = PREFIX + HEAD + 16;
        for end in 0..bytes.len() {
            let come = all(&[], &bytes[..end]);
            let whole = usize::from(end >= first);
            let cut = usize::from(end != first);
            assert_eq!(come.len(), whole + cut, "{end} bytes");
            assert_eq!(come.iter().flatten().count(), whole, "{end} bytes");
        }
    }

    #[test]
    fn parts_cover_all_bytes_once() {
        for bytes in [0, 1, PART, PART + 1, 3 * PART - 1] {
            let mut next = 0;
            for (head, part) in parts(bytes, |start| [7, start as u64]) {
                let expected = Received { head: [7, next as u64], rest: &[], asks: false };
                assert_eq!(all(&head, &[]), [Some(expected)]);
                assert!(part.start == next && (1..=PART).contains(&part.len()));
                next = part.end;
            }
            assert_eq!(next, bytes);
        }
    }

    #[test]
    fn a_head_of_another_length_is_none() {
        for (header, data) in [(0, HEAD), (HEAD - 1, HEAD), (HEAD + 1, HEAD), (1, 0)] {
            let (header, data) = (vec![0; header], vec![0; data]);
            assert_eq!(all(&header, &data), [None], "{} and {} bytes", header.len(), data.len());
        }
    }
}
