//! Access of messages to memory that others access at the same time: by the processor's own instructions,
//! because near PEs access it so, too.
#![allow(unsafe_code)]

use super::message::{ADD, AND, MOST, OR, RAISE, STORE, XOR};
use crate::atomics::{AtomicU32, AtomicU64, Ordering, fence};
use crate::counter::Counter;
use crate::engine::shared::SharedBytes;
use crate::remote::{Action, Amo};
use onenode_core::area::Shared;
use onenode_core::packed::word;
use onenode_core::sys::futex;

/// A counter that a message raises.
#[allow(dead_code, reason = "it is only found in memory; older compilers warn")]
#[repr(transparent)]
struct Raised(Counter);

// SAFETY: a counter consists of atomics.
unsafe impl Shared for Raised {}

/// The bytes of memory that a message of this kind accesses.
pub fn extent(kind: u64, operand: &[u8]) -> usize {
    if kind == RAISE { size_of::<Counter>() } else { operand.len() }
}

/// Carries out a message that stores or updates, on memory of its [`extent`]. Returns false if there is no
/// such operation.
pub fn change(at: SharedBytes<'_>, kind: u64, operand: &[u8]) -> bool {
    let action = match kind {
        STORE => {
            store(at, operand);
            return true;
        }
        RAISE => {
            let Some([Raised(counter)]) = at.values().filter(|_| operand.len() == 8) else {
                return false;
            };
            counter.raise(word(operand), |counter| futex::wake_all(counter.place()));
            return true;
        }
        ADD => Action::Add,
        AND => Action::And,
        OR => Action::Or,
        XOR => Action::Xor,
        _ => return false,
    };
    let bytes = operand.len();
    bytes <= 8 && exchange(at, Amo { action, operand: word(operand), bytes }).is_some()
}

/// Changes a word; returns its old value, or `None` if there is no aligned word of 4 or 8 bytes.
pub fn exchange(at: SharedBytes<'_>, Amo { action, operand, bytes }: Amo) -> Option<u64> {
    macro_rules! exchange {
        ($atomic:ty, $narrow:ty) => {{
            let [word] = at.values::<$atomic>()? else { return None };
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
            Some(u64::from(old))
        }};
    }
    match bytes {
        4 => exchange!(AtomicU32, u32),
        _ => exchange!(AtomicU64, u64),
    }
}

/// Stores as many bytes. Aligned words of 8 bytes, and one of 4, are stored as a whole.
pub fn store(at: SharedBytes<'_>, bytes: &[u8]) {
    if let Some(words) = at.values::<AtomicU64>().filter(|_| bytes.len() <= MOST) {
        for (place, bytes) in words.iter().zip(bytes.chunks_exact(8)) {
            place.store(word(bytes), Ordering::Release);
        }
    } else if let Some([place]) = at.values::<AtomicU32>() {
        place.store(word(bytes) as u32, Ordering::Release);
    } else {
        // Not before what earlier messages have stored.
        fence(Ordering::Release);
        at.write(bytes);
    }
}

/// Loads as many bytes. Aligned words of 8 bytes, and one of 4, are loaded as a whole.
pub fn load(from: SharedBytes<'_>, to: &mut [u8]) {
    if let Some(words) = from.values::<AtomicU64>() {
        for (word, place) in words.iter().zip(to.chunks_exact_mut(8)) {
            place.copy_from_slice(&word.load(Ordering::Acquire).to_le_bytes());
        }
    } else if let Some([word]) = from.values::<AtomicU32>() {
        to.copy_from_slice(&word.load(Ordering::Acquire).to_le_bytes());
    } else {
        from.read(to);
        // Before what later messages load.
        fence(Ordering::Acquire);
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{Batch, Message, Target, unpack, update, words};
    use super::*;
    use crate::remote::Far;

    const TARGET: Target = Target { at: Far { pe: 5, offset: 7 }, life: (1, 2) };

    fn send<F: FnOnce(&mut [u8])>(message: Message<F>, at: SharedBytes) {
        let batch = Batch::of(message.to(TARGET));
        let message = unpack(&[], batch.bytes()).next().flatten().expect("a message");
        let (target, kind) = Target::of(message.head);
        assert_eq!(target, TARGET);
        assert!(change(at, kind, message.rest));
    }

    fn bytes_of(words: &[AtomicU64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect()
    }

    #[test]
    fn bytes_arrive_where_they_belong_and_nowhere_else() {
        let from: Vec<u8> = (1..=255).cycle().take(MOST).collect();
        for length in [1, 2, 3, 4, 5, 7, 8, 9, 16, 24, 100, MOST] {
            for offset in [0, 1, 2, 4, 6, 8] {
                let words = [const { AtomicU64::new(0) }; MOST / 8 + 4];
                let to = SharedBytes::from(&words[..]).part(8 + offset..8 + offset + length);
                send(Message::new(STORE, length, |to| to.copy_from_slice(&from[..length])), to);
                let bytes = bytes_of(&words);
                let (before, rest) = bytes.split_at(8 + offset);
                assert_eq!(rest[..length], from[..length], "{length} bytes at {offset}");
                assert!(before.iter().chain(&rest[length..]).all(|byte| *byte == 0));
            }
        }
    }

    #[test]
    fn as_many_bytes_are_loaded_as_there_is_room_for() {
        let from: Vec<_> = (1..=200).map(|i| AtomicU64::new(i * 0x0101_0203_0405)).collect();
        let all = bytes_of(&from);
        for (at, length) in [(0, 0), (0, 8), (8, MOST), (4, 4), (3, 4), (5, 8), (16, 24), (1, 1000)]
        {
            let part = SharedBytes::from(&from[..]).part(at..at + length);
            let answer = Message::new(0, length, |to| load(part, to)).numbered(5);
            let batch = Batch::of(answer);
            let come = unpack(&[], batch.bytes()).next().flatten().expect("a message");
            let expected = ([5, 0], &all[at..at + length]);
            assert_eq!((come.head, come.rest), expected, "{length} bytes at {at}");
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
                let words = [5, STANDS, 6].map(AtomicU64::new);
                let message = update(Amo { action, operand: 3, bytes }).unwrap();
                send(message, SharedBytes::from(&words[..]).part(8..8 + bytes));
                let expected = model(STANDS) & mask | STANDS & !mask;
                let words = words.map(AtomicU64::into_inner);
                assert_eq!(words, [5, expected, 6], "{action:?} of {bytes} bytes");
            }
        }
        let compare = Amo { action: Action::CompareSwap(1), operand: 2, bytes: 8 };
        assert!(update(compare).is_none());
    }

    #[test]
    fn a_counter_is_raised() {
        let counter = [Raised(Counter::new())];
        for step in [3, 9] {
            send(words(RAISE, &[step]), SharedBytes::from(&counter[..]));
            assert_eq!(counter[0].0.get(), step);
        }
    }

    #[test]
    fn what_is_no_message_changes_nothing() {
        let stands = [9; 3].map(AtomicU64::new);
        for (offset, kind, operand) in
            [(0, RAISE + 1, 8), (0, ADD, 2), (4, ADD, 8), (1, OR, 4), (0, RAISE, 4), (4, RAISE, 8)]
        {
            let operand = &[1; 8][..operand];
            let at = offset..offset + extent(kind, operand);
            assert!(!change(SharedBytes::from(&stands[..]).part(at), kind, operand));
        }
        assert_eq!(stands.map(AtomicU64::into_inner), [9; 3]);
    }
}
