//! Tests of the copies of more than 64 bytes.
#![allow(unsafe_code)]

use super::*;
use crate::arch::LINE;
use std::time::Instant;

/// A way to copy.
#[derive(Clone, Copy, Debug)]
enum Way {
    Chosen,
    String,
    Moves(usize),
    Stream(usize, usize),
}

impl Way {
    /// Copies `bytes` bytes, which both sides have from these offsets on.
    fn copy(self, (dest, to): (&mut [u8], usize), (source, from): (&[u8], usize), bytes: usize) {
        let (to, from) = (dest[to..][..bytes].as_mut_ptr(), source[from..][..bytes].as_ptr());
        // SAFETY: parts of two slices, as long as that. The tests take no width that the processor lacks, and no
        // way that is for more bytes.
        unsafe {
            match self {
                Self::Chosen => large(to, from, bytes),
                Self::String => arch::string(to, from, bytes),
                Self::Moves(width) => arch::moves(width, to, from, bytes),
                Self::Stream(width, abreast) => arch::stream(width, to, from, bytes, abreast),
            }
        }
    }
}

#[test]
fn only_the_offset_in_a_page_counts() {
    let at = |address: usize| std::ptr::without_provenance_mut::<u8>(address);
    for apart in [1, 16, 64] {
        for offset in 0..PAGE {
            let far = is_just_after(apart, at((9 << 30) + offset), at(5 << 30));
            let behind = is_just_after(apart, at((5 << 30) + 100 + offset), at((9 << 30) + 100));
            assert_eq!((far, behind), ((1..apart).contains(&offset), far), "{apart} {offset}");
        }
    }
}

/// The position of the destination relative to the source must not matter much. Compares
/// figures of one run. Each is the best of several, taken far apart, and more are taken if that
/// is not enough on a busy machine. At the worst offset `rep movsb` is 15 to 25 times slower
/// than moves.
#[test]
fn no_offset_is_far_slower_than_moves() {
    const MOST: u128 = 3;
    for bytes in [4096, 65536] {
        let (source, mut dest) = (vec![1u8; 2 * PAGE + bytes], vec![0u8; 2 * PAGE + bytes]);
        let from = source.as_ptr().align_offset(PAGE) + 16;
        let base = dest.as_ptr().align_offset(PAGE);
        let offsets: Vec<usize> = (0..72).chain((72..PAGE).step_by(61)).chain([4095]).collect();
        // With the method that the library chooses, and with moves, for each offset.
        let mut best = vec![(u128::MAX, u128::MAX); offsets.len()];
        let is_slow = |best: &[(u128, u128)]| {
            best.iter().any(|(chosen, moves)| *chosen >= MOST * (*moves).max(1))
        };
        for round in 0..60 {
            for (best, offset) in best.iter_mut().zip(&offsets) {
                let to = base + (offset + 16) % PAGE;
                let mut time = |way: Way| {
                    let start = Instant::now();
                    (0..(1 << 18) / bytes)
                        .for_each(|_| way.copy((&mut dest, to), (&source, from), bytes));
                    start.elapsed().as_nanos()
                };
                let (chosen, moves) = (time(Way::Chosen), time(Way::Moves(arch::width())));
                *best = (best.0.min(chosen), best.1.min(moves));
            }
            if round >= 4 && !is_slow(&best) {
                break;
            }
        }
        assert!(
            !is_slow(&best),
            "{bytes} bytes: {:?}",
            offsets.iter().zip(&best).collect::<Vec<_>>()
        );
    }
}

/// Tests each loop, including those that this machine or this size would not choose.
#[test]
fn every_loop_copies_all_and_nothing_else() {
    // With the fewest bytes that they copy.
    let mut ways = vec![(LINE, Way::String)];
    for width in [16, 32, 64].into_iter().filter(|width| *width <= arch::width()) {
        ways.push((LINE + 1, Way::Moves(width)));
        ways.extend([1, 4].map(|abreast| (2 * LINE + 1, Way::Stream(width, abreast))));
    }
    let room = 10 * PAGE;
    let source: Vec<u8> = (0..room).map(|i| (i % 251) as u8).collect();
    for bytes in (65..1200).chain((4 * PAGE..9 * PAGE).step_by(97)) {
        let (from, to) = (bytes * 7 % 67, bytes * 5 % 71);
        for (least, way) in &ways {
            if bytes < *least {
                continue;
            }
            let mut dest = vec![0xff; room];
            way.copy((&mut dest, to), (&source, from), bytes);
            let copied = dest[to..to + bytes] == source[from..from + bytes];
            assert!(copied, "{way:?}: {bytes} bytes from {from} to {to}");
            assert!(dest[..to].iter().chain(&dest[to + bytes..]).all(|byte| *byte == 0xff));
        }
    }
}
