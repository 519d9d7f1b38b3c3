//! Tests of the copies of more than 64 bytes.
#![allow(unsafe_code)]

use super::*;
use std::time::Instant;

const ZEN_4: Model = Model { is_amd: true, family: 0x19 };
const ZEN_5: Model = Model { is_amd: true, family: 0x1a };
const INTEL: Model = Model { is_amd: false, family: 6 };

#[test]
fn the_string_instruction_only_where_it_is_quick() {
    for (enhanced, avx, model, least) in [
        (true, true, INTEL, STRING),
        (true, true, ZEN_5, STRING),
        (true, true, ZEN_4, usize::MAX),
        (true, false, ZEN_4, STRING),
        (false, true, INTEL, usize::MAX),
        (false, true, ZEN_5, usize::MAX),
    ] {
        assert_eq!(string_from(enhanced, avx, model), least);
        let machine = Machine { string: least, cached: 1 << 20, abreast: 1, avx };
        for bytes in [129, STRING - 1, STRING, 65536, 1 << 30] {
            for offset in 0..PAGE {
                let far = machine.string_pays((9 << 30) + offset, 5 << 30, bytes);
                let behind = machine.string_pays((5 << 30) + 100 + offset, (9 << 30) + 100, bytes);
                assert_eq!(far, behind, "only the offset counts");
                assert_eq!(far, bytes >= least && !(1..64).contains(&offset), "{bytes} {offset}");
            }
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
    for bytes in [STRING, 16 * STRING] {
        let (source, mut dest) = (vec![1u8; 2 * PAGE + bytes], vec![0u8; 2 * PAGE + bytes]);
        let from = source.as_ptr().wrapping_add(source.as_ptr().align_offset(PAGE) + 16);
        let base = dest.as_mut_ptr();
        let base = base.wrapping_add(base.align_offset(PAGE));
        let offsets: Vec<usize> = (0..72).chain((72..PAGE).step_by(61)).chain([4095]).collect();
        // With the method that the library chooses, and with moves, for each offset.
        let mut best = vec![(u128::MAX, u128::MAX); offsets.len()];
        let is_slow = |best: &[(u128, u128)]| {
            best.iter().any(|(chosen, moves)| *chosen >= MOST * (*moves).max(1))
        };
        let avx =
            is_x86_feature_detected!("avx") && MACHINE.get().is_none_or(|machine| machine.avx);
        for round in 0..60 {
            for (best, offset) in best.iter_mut().zip(&offsets) {
                let to = base.wrapping_add((offset + 16) % PAGE);
                let time = |copy: &dyn Fn()| {
                    let start = Instant::now();
                    (0..(1 << 18) / bytes).for_each(|_| copy());
                    start.elapsed().as_nanos()
                };
                // SAFETY: both buffers are a page larger than that, here and below.
                let chosen = time(&|| unsafe { large(to, from, bytes) });
                let moves = match avx {
                    // SAFETY: the processor has these moves.
                    true => time(&|| unsafe { avx::wide(to, from, bytes) }),
                    // SAFETY: as above.
                    false => time(&|| unsafe { sse2::wide(to, from, bytes) }),
                };
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
    type Copy = unsafe fn(*mut u8, *const u8, usize);
    let mut ways: Vec<Copy> = vec![
        // SAFETY: the caller's promise, here and below.
        |to, from, bytes| unsafe { sse2::wide(to, from, bytes) },
        // SAFETY: as above.
        |to, from, bytes| unsafe { sse2::stream(to, from, bytes, 1) },
        // SAFETY: as above.
        |to, from, bytes| unsafe { sse2::stream(to, from, bytes, 4) },
        // SAFETY: as above.
        |to, from, bytes| unsafe { string(to, from, bytes) },
    ];
    if is_x86_feature_detected!("avx") {
        // SAFETY: as above; the processor has these moves.
        ways.push(|to, from, bytes| unsafe { avx::wide(to, from, bytes) });
        // SAFETY: as above.
        ways.push(|to, from, bytes| unsafe { avx::stream(to, from, bytes, 1) });
        // SAFETY: as above.
        ways.push(|to, from, bytes| unsafe { avx::stream(to, from, bytes, 4) });
    }
    let room = 10 * PAGE;
    let source: Vec<u8> = (0..room).map(|i| (i % 251) as u8).collect();
    for bytes in (129..900).chain((4 * PAGE..9 * PAGE).step_by(97)) {
        let (from, to) = (bytes * 7 % 67, bytes * 5 % 71);
        for (number, way) in ways.iter().enumerate() {
            let mut dest = vec![0xff; room];
            // SAFETY: both buffers are that large, and disjoint.
            unsafe { way(dest.as_mut_ptr().add(to), source.as_ptr().add(from), bytes) };
            let copied = dest[to..to + bytes] == source[from..from + bytes];
            assert!(copied, "way {number}: {bytes} bytes from {from} to {to}");
            assert!(dest[..to].iter().chain(&dest[to + bytes..]).all(|byte| *byte == 0xff));
        }
    }
}
