//! Messages that an agent answers: what they ask for, and how a word is changed that others change, too.
#![allow(unsafe_code)]

use super::messages::{ADD, AND, OR, Target, XOR, word};
use crate::atomics::{AtomicU32, AtomicU64, Ordering};
use crate::engine::exports::EXPORT_BYTES;
use crate::engine::{Action, Amo};

/// The words of a question.
const QUESTION_WORDS: usize = 6;
/// The bytes of a question.
pub const QUESTION: usize = QUESTION_WORDS * size_of::<u64>();

/// The kinds that messages without an answer do not have.
const LOAD: u64 = 6;
const SWAP: u64 = 7;
const COMPARE_SWAP: u64 = 8;
const EXPORT: u64 = 10;

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
    /// The bytes of memory that it concerns.
    pub fn extent(self) -> usize {
        match self {
            Self::Load(bytes) => bytes,
            Self::Change(amo) => amo.bytes,
            Self::Export => EXPORT_BYTES,
        }
    }

    /// The message.
    pub fn encode(self, number: u64, target: Target) -> [u8; QUESTION] {
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
        let mut message = [0; QUESTION];
        let [place, kind] = target.words(kind);
        let words = [number, place, kind, bytes as u64, operand, compared];
        for (place, word) in message.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        message
    }

    /// The number, the target and the question; `None` if the bytes are no question.
    pub fn decode(message: &[u8]) -> Option<(u64, Target, Self)> {
        let message: &[u8; QUESTION] = message.try_into().ok()?;
        let at = |i: usize| word(&message[i * 8..i * 8 + 8]);
        let [number, place, kind, bytes, operand, compared] = std::array::from_fn(at);
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

/// Changes a word; returns its old value. By the processor's own instructions, because near PEs change
/// it so, too.
///
/// # Safety
/// The word is aligned, may be changed, and is accessed only by atomics meanwhile.
pub unsafe fn exchange(place: *mut u8, Amo { action, operand, bytes }: Amo) -> u64 {
    macro_rules! exchange {
        ($atomic:ty, $narrow:ty) => {{
            // SAFETY: the caller guarantees that the word is aligned and may be changed by atomics.
            let word = unsafe { &*place.cast::<$atomic>() };
            let operand = operand as $narrow;
            let old = match action {
                Action::Add => word.fetch_add(operand, Ordering::AcqRel),
                Action::And => word.fetch_and(operand, Ordering::AcqRel),
                Action::Or => word.fetch_or(operand, Ordering::AcqRel),
                Action::Xor => word.fetch_xor(operand, Ordering::AcqRel),
                Action::Swap => word.swap(operand, Ordering::AcqRel),
                Action::CompareSwap(compared) => {
                    let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
                    let (Ok(old) | Err(old)) =
                        word.compare_exchange(compared as $narrow, operand, success, failure);
                    old
                }
            };
            u64::from(old)
        }};
    }
    match bytes {
        4 => exchange!(AtomicU32, u32),
        _ => exchange!(AtomicU64, u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Far;

    #[test]
    fn questions_arrive_as_they_were_asked() {
        let change = |action, bytes| Question::Change(Amo { action, operand: 77, bytes });
        let target = Target { at: Far { pe: 3, offset: 64 }, life: (1, 2) };
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
            assert_eq!(Question::decode(&message), Some((9, target, question)));
            assert_eq!(Question::decode(&message[1..]), None);
        }
        let narrow = change(Action::Or, 2);
        assert_eq!(Question::decode(&narrow.encode(9, target)), None, "{narrow:?}");
        let mut unknown = Question::Load(8).encode(9, target);
        unknown[23] = 200;
        assert_eq!(Question::decode(&unknown), None);
    }
}
