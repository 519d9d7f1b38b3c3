//! What messages do to memory that others access at the same time: by the processor's own instructions,
//! because near PEs access it so, too.
#![allow(unsafe_code)]

use super::message::{ADD, AND, MOST, OR, RAISE, STORE, XOR, word};
use crate::atomics::{AtomicU32, AtomicU64, Ordering, fence};
use crate::counter::Counter;
use crate::engine::{Action, Amo};
use onenode_core::copy;
use onenode_core::sys::futex;

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
    let action = match kind {
        ADD => Action::Add,
        AND => Action::And,
        OR => Action::Or,
        XOR => Action::Xor,
        _ => return false,
    };
    let bytes = operand.len();
    if !matches!(bytes, 4 | 8) || at.addr() % bytes != 0 {
        return false;
    }
    // SAFETY: aligned, as just checked; the caller guarantees that its bytes may be changed, and that
    // others access them only by atomics and raw copies.
    unsafe { exchange(at, Amo { action, operand: word(operand), bytes }) };
    true
}

/// Changes a word; returns its old value.
///
/// # Safety
/// The word is aligned, may be changed, and is accessed only by atomics and raw copies meanwhile.
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
        // SAFETY: an aligned word, which the caller guarantees is writable.
        let place = unsafe { &*at.cast::<AtomicU32>() };
        place.store(word(bytes) as u32, Ordering::Release);
    } else {
        // Not before what earlier messages have stored.
        fence(Ordering::Release);
        // SAFETY: the caller guarantees that the bytes are writable.
        unsafe { copy::bytes(at, bytes.as_ptr(), bytes.len()) };
    }
}

/// Loads as many bytes as `to` has. Aligned words of 8 bytes, and one of 4, are loaded as a whole.
///
/// # Safety
/// The memory is readable for as many bytes, and others write it only by atomics and raw copies.
pub unsafe fn load(from: *const u8, to: &mut [u8]) {
    let (bytes, aligned) = (to.len(), |to: usize| from.addr() % to == 0);
    if bytes % 8 == 0 && aligned(8) {
        for (i, place) in to.chunks_exact_mut(8).enumerate() {
            // SAFETY: an aligned word among those that the caller guarantees are readable.
            let word = unsafe { &*from.cast::<AtomicU64>().add(i) };
            place.copy_from_slice(&word.load(Ordering::Acquire).to_le_bytes());
        }
    } else if bytes == 4 && aligned(4) {
        // SAFETY: an aligned word, which the caller guarantees is readable.
        let word = unsafe { &*from.cast::<AtomicU32>() };
        to.copy_from_slice(&word.load(Ordering::Acquire).to_le_bytes());
    } else {
        // SAFETY: the caller guarantees that the source is readable; there is room for as many bytes.
        unsafe { copy::bytes(to.as_mut_ptr(), from, bytes) };
        // Before what later messages load.
        fence(Ordering::Acquire);
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{self, Batch, Message, Target, unpack, update, words};
    use super::*;
    use crate::engine::Far;
    use std::slice;

    const TARGET: Target = Target { at: Far { pe: 5, offset: 7 }, life: (1, 2) };

    fn send<F: FnOnce(&mut [u8])>(message: Message<F>, at: *mut u8) {
        let batch = Batch::of(message.to(TARGET));
        let message = unpack(&[], batch.bytes()).next().flatten().expect("a message");
        let (target, kind) = Target::of(message.head);
        assert_eq!(target, TARGET);
        // SAFETY: memory of this test.
        assert!(unsafe { change(at, kind, message.rest) });
    }

    #[test]
    fn bytes_arrive_where_they_belong_and_nowhere_else() {
        let from: Vec<u8> = (1..=255).cycle().take(MOST).collect();
        for length in [1, 2, 3, 4, 5, 7, 8, 9, 16, 24, 100, MOST] {
            for offset in [0, 1, 2, 4, 6, 8] {
                let mut words = [0u64; MOST / 8 + 4];
                let to = words.as_mut_ptr().cast::<u8>();
                // SAFETY: the source has `MOST` bytes.
                let message = unsafe { message::store(from.as_ptr(), length) };
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
    fn as_many_bytes_are_loaded_as_there_is_room_for() {
        let from: Vec<u64> = (1..=200).map(|i| i * 0x0101_0203_0405).collect();
        let all: Vec<u8> = from.iter().flat_map(|word| word.to_le_bytes()).collect();
        for (at, length) in [(0, 0), (0, 8), (8, MOST), (4, 4), (3, 4), (5, 8), (16, 24), (1, 1000)]
        {
            let start = from.as_ptr().cast::<u8>().wrapping_add(at);
            // SAFETY: bytes of the vector.
            let answer = Message::new(0, length, |to| unsafe { load(start, to) }).numbered(5);
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
                let mut words = [5, STANDS, 6];
                let message = update(Amo { action, operand: 3, bytes }).unwrap();
                send(message, words[1..].as_mut_ptr().cast());
                let expected = model(STANDS) & mask | STANDS & !mask;
                assert_eq!(words, [5, expected, 6], "{action:?} of {bytes} bytes");
            }
        }
        let compare = Amo { action: Action::CompareSwap(1), operand: 2, bytes: 8 };
        assert!(update(compare).is_none());
    }

    #[test]
    fn a_counter_is_raised() {
        let counter = Counter::new();
        for step in [3, 9] {
            send(words(RAISE, &[step]), counter.place().cast_mut().cast());
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
