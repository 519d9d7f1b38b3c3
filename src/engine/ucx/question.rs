//! Messages that an agent answers: what they ask for, and how a word is changed that others change, too.
#![allow(unsafe_code)]

use super::messages::{ADD, AND, OR, XOR, word};
use crate::atomics::{AtomicU32, AtomicU64, Ordering};
use crate::engine::{Action, Amo};

/// The words of a question.
const QUESTION_WORDS: usize = 6;
/// The bytes of a question.
pub const QUESTION: usize = QUESTION_WORDS * size_of::<u64>();

/// The kinds that messages without an answer do not have.
const LOAD: u64 = 6;
const SWAP: u64 = 7;
const COMPARE_SWAP: u64 = 8;

/// What an agent is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// So many bytes of memory; none: to have carried out the messages before.
    Load(usize),
    /// To change a word. The answer is its old value.
    Change(Amo),
}

impl Question {
    /// The bytes of memory that it concerns.
    pub fn extent(self) -> usize {
        match self {
            Self::Load(bytes) => bytes,
            Self::Change(amo) => amo.bytes,
        }
    }

    /// The message for the memory at an address in the agent's process.
    pub fn encode(self, number: u64, address: u64) -> [u8; QUESTION] {
        let (kind, bytes, operand, compared) = match self {
            Self::Load(bytes) => (LOAD, bytes, 0, 0),
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
        let words = [number, address, kind, bytes as u64, operand, compared];
        for (place, word) in message.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        message
    }

    /// The number, the address and the question; `None` if the bytes are no question.
    pub fn decode(message: &[u8]) -> Option<(u64, u64, Self)> {
        let message: &[u8; QUESTION] = message.try_into().ok()?;
        let at = |i: usize| word(&message[i * 8..i * 8 + 8]);
        let [number, address, kind, bytes, operand, compared] = std::array::from_fn(at);
        let bytes = usize::try_from(bytes).ok()?;
        let action = match kind {
            LOAD => return Some((number, address, Self::Load(bytes))),
            ADD => Action::Add,
            AND => Action::And,
            OR => Action::Or,
            XOR => Action::Xor,
            SWAP => Action::Swap,
            COMPARE_SWAP => Action::CompareSwap(compared),
            _ => return None,
        };
        let aligned = matches!(bytes, 4 | 8) && address % bytes as u64 == 0;
        aligned.then_some((number, address, Self::Change(Amo { action, operand, bytes })))
    }
}

/// Changes a word; returns its old value. By the processor's own instructions, because near PEs change
/// it so, too.
///
/// # Safety
/// The word at the address is aligned, may be changed, and is accessed only by atomics meanwhile.
pub unsafe fn exchange(address: u64, Amo { action, operand, bytes }: Amo) -> u64 {
    macro_rules! exchange {
        ($atomic:ty, $narrow:ty) => {{
            // SAFETY: the caller guarantees it.
            let word = unsafe { &*(address as usize as *const $atomic) };
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

    #[test]
    fn questions_arrive_as_they_were_asked() {
        let change = |action, bytes| Question::Change(Amo { action, operand: 77, bytes });
        for question in [
            Question::Load(0),
            Question::Load(usize::MAX),
            change(Action::Add, 8),
            change(Action::And, 4),
            change(Action::Or, 8),
            change(Action::Xor, 4),
            change(Action::Swap, 8),
            change(Action::CompareSwap(u64::MAX), 4),
        ] {
            let message = question.encode(9, 64);
            assert_eq!(Question::decode(&message), Some((9, 64, question)));
            assert_eq!(Question::decode(&message[1..]), None);
        }
        for (question, address) in
            [(change(Action::Add, 8), 4), (change(Action::Swap, 4), 2), (change(Action::Or, 2), 8)]
        {
            assert_eq!(Question::decode(&question.encode(9, address)), None, "{question:?}");
        }
        let mut unknown = Question::Load(8).encode(9, 64);
        unknown[16] = 200;
        assert_eq!(Question::decode(&unknown), None);
    }
}
