#![allow(unsafe_code)]

use super::*;
use proptest::prelude::*;

/// Room on both sides of a copy, to check that nothing else is written.
const AROUND: usize = 64;

/// Copies `nelems` elements from one offset to another. All other bytes must stay.
fn check<T: Copy>(nelems: usize, from: usize, to: usize) {
    // SAFETY: elements are plain numbers at any alignment.
    check_by(nelems * size_of::<T>(), from, to, |dest, source| unsafe {
        elements(dest.cast::<T>(), source.cast(), nelems)
    });
}

/// The same for a function that copies so many bytes.
fn check_by(bytes: usize, from: usize, to: usize, copy: impl FnOnce(*mut u8, *const u8)) {
    let source: Vec<u8> = (0..from + bytes).map(|i| (i % 251) as u8).collect();
    let mut dest = vec![0xff; to + bytes + AROUND];
    copy(dest[to..].as_mut_ptr(), source[from..].as_ptr());
    assert!(dest[to..to + bytes] == source[from..], "{bytes} bytes from {from} to {to}");
    assert!(dest[..to].iter().chain(&dest[to + bytes..]).all(|byte| *byte == 0xff));
}

#[test]
fn every_size_of_every_element() {
    for bytes in 0..400 {
        let (from, to) = (bytes * 7 % 67, bytes * 5 % 71);
        check::<u8>(bytes, from, to);
        check::<u16>(bytes / 2, from, to);
        check::<u32>(bytes / 4, from, to);
        check::<u64>(bytes / 8, from, to);
        check::<[u64; 2]>(bytes / 16, from, to);
    }
}

proptest! {
    #[test]
    fn large_ones_at_any_alignment(
        bytes in prop_oneof![64usize..1000, 1000usize..100_000, 100_000usize..3_000_000],
        from in 0usize..130,
        to in 0usize..130,
    ) {
        check::<u8>(bytes, from, to);
    }
}

#[test]
fn copies_of_collectives_at_any_alignment() {
    set_methods(built_in());
    for bytes in [0, 8, touch::PIECE - 1, touch::PIECE, touch::PIECE + 4099, 1 << 20] {
        for (from, to) in [(0, 0), (1, 0), (0, 63), (64, 8)] {
            for together in [0, bytes, usize::MAX] {
                // SAFETY: both sides have that many bytes.
                check_by(bytes, from, to, |dest, source| unsafe {
                    bytes_of_many(dest, source, bytes, together)
                });
            }
        }
    }
}

#[test]
fn a_copy_onto_itself() {
    for bytes in [1, 9, 33, 100, 5000, 200_000] {
        let mut both: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
        let before = both.clone();
        let at = both.as_mut_ptr();
        // SAFETY: in bounds; the same on both sides.
        unsafe { super::bytes(at, at, bytes) };
        assert_eq!(both, before);
    }
}

#[test]
fn pages_are_asked_for_once() {
    // No address has this piece number, so no copy of another test asks for it.
    let piece = usize::MAX / touch::PIECE - 7;
    assert!(touch::ask(piece));
    assert!(!touch::ask(piece));
    assert!(touch::ask(piece - (1 << 14)), "another piece in the same place");
    assert!(touch::ask(piece), "which has taken it");
}
