//! More than 64 bytes, on x86-64:
//!
//! | bytes | way |
//! |---|---|
//! | to 128 | the head, then the tail, as for fewer |
//! | below [`STRING`] | a loop of moves as wide as the processor has |
//! | from there on | `rep movsb` where it is the better way ([`Machine::string_pays`]), else the same loop |
//! | more than the last cache has room for | stores that pass the caches by, then `sfence` |
#![allow(unsafe_code)]

use super::touch::{self, PIECE};
use crate::sys::process;
use std::arch::asm;
use std::arch::x86_64::{
    __cpuid, __m128i, __m256i, _mm_loadu_si128, _mm_sfence, _mm_storeu_si128, _mm_stream_si128,
    _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256,
};
use std::sync::OnceLock;

/// Fewest bytes for `rep movsb`. Where source and destination are both in the first cache, wide
/// moves would be better up to some 16 KiB; but the destination was last used by another PE. Out
/// of the second cache `rep movsb` wins from 1 to 4 KiB on.
const STRING: usize = 4096;

/// What the way depends on.
struct Machine {
    /// Fewest bytes for which `rep movsb` is the best way; [`usize::MAX`] where it never is.
    string: usize,
    /// Most bytes of which the last cache has room for both sides.
    cached: usize,
    /// Whether there are moves of 32 bytes.
    avx: bool,
}

static MACHINE: OnceLock<Machine> = OnceLock::new();

impl Machine {
    /// This machine, looked at once.
    fn look() -> Self {
        // Where the system does not tell: what even small processors have.
        let last = process::last_cache_size().unwrap_or(2 << 20);
        // Not with SMARTMAP's addresses: the Kitten kernel does not save wide registers.
        let avx = cfg!(not(feature = "smartmap")) && is_x86_feature_detected!("avx");
        let enhanced = is_x86_feature_detected!("ermsb");
        Self { string: string_from(enhanced, avx, Model::here()), cached: last / 2, avx }
    }

    /// Whether `rep movsb` is the best way to copy so much between these addresses. Processors
    /// that are good at it copy a byte at a time, a twentieth of their best, where the
    /// destination lies just after the source, whole pages not counted:
    ///
    /// * AMD Zen 3 and Zen 4: 1 to 15 bytes after it; 16 to 31 bytes after it at half of the
    ///   best. Measured for all 4096 offsets at any alignment, and reported as
    ///   <https://sourceware.org/bugzilla/show_bug.cgi?id=30994>.
    /// * Intel: 1 to 63 bytes after it, multiples of 4 GiB not counted, says glibc, which
    ///   avoids that (`Avoid_Short_Distance_REP_MOVSB`).
    ///
    /// One rule covers both. What `malloc` gives out begins 16 bytes after a page's start, and
    /// what `shmem_malloc` does at one, so every get into large private memory is such a copy.
    #[inline(always)]
    fn string_pays(&self, to: usize, from: usize, bytes: usize) -> bool {
        bytes >= self.string && (to.wrapping_sub(from) & (PAGE - 1)).wrapping_sub(1) >= LINE - 1
    }
}

/// From how many bytes on a processor is better at `rep movsb` than at wide moves.
///
/// Never on AMD's families before 1Ah, if they have moves of 32 bytes. Zen 3 and Zen 4 say that
/// they are good at it, but are at best as quick as with such moves, wherever the destination was
/// used last; glibc has stopped using it there (its bug 30994). Than moves of 16 bytes it is
/// better there, too, up to 16 KiB. On Zen 5 it is better out of the second cache.
fn string_from(enhanced: bool, avx: bool, model: Model) -> usize {
    let poor = model.is_amd && model.family < 0x1a && avx;
    if enhanced && !poor { STRING } else { usize::MAX }
}

/// Which processor this is, as far as the way depends on it.
#[derive(Clone, Copy)]
struct Model {
    is_amd: bool,
    family: u32,
}

impl Model {
    fn here() -> Self {
        let vendor = __cpuid(0);
        let signature = __cpuid(1).eax;
        let base = signature >> 8 & 0xf;
        Self {
            // "AuthenticAMD"
            is_amd: [vendor.ebx, vendor.edx, vendor.ecx] == [0x6874_7541, 0x6974_6e65, 0x444d_4163],
            family: if base == 0xf { base + (signature >> 20 & 0xff) } else { base },
        }
    }
}

/// Copies more than 64 bytes.
///
/// # Safety
/// As for [`super::elements`].
#[inline(never)]
pub unsafe fn large(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise, passed on; the width is what the processor has.
    unsafe {
        if bytes <= 128 {
            return super::ends::<[__m128i; 4]>(to, from, bytes);
        }
        let Some(machine) = MACHINE.get() else { return first(to, from, bytes) };
        if bytes >= PIECE {
            huge(machine, to, from, bytes);
        } else if machine.string_pays(to as usize, from as usize, bytes) {
            string(to, from, bytes);
        } else if machine.avx {
            avx::wide(to, from, bytes);
        } else {
            sse2::wide(to, from, bytes);
        }
    }
}

/// Copies so much that a few calls do not matter.
///
/// # Safety
/// As for [`super::elements`].
#[inline(never)]
unsafe fn huge(machine: &Machine, to: *mut u8, from: *const u8, bytes: usize) {
    touch::before_writing(to as usize, bytes);
    // SAFETY: the caller's promise, passed on; the width is what the processor has.
    unsafe {
        match (bytes > machine.cached, machine.avx) {
            (true, true) => avx::stream(to, from, bytes),
            (true, false) => sse2::stream(to, from, bytes),
            (false, _) if machine.string_pays(to as usize, from as usize, bytes) => {
                string(to, from, bytes);
            }
            (false, true) => avx::wide(to, from, bytes),
            (false, false) => sse2::wide(to, from, bytes),
        }
    }
}

/// The first copy of many bytes.
///
/// # Safety
/// As for [`large`].
#[cold]
#[inline(never)]
unsafe fn first(to: *mut u8, from: *const u8, bytes: usize) {
    MACHINE.get_or_init(Machine::look);
    // SAFETY: the caller's promise.
    unsafe { large(to, from, bytes) }
}

/// Bytes of a cache line. Loops begin where one begins at the destination.
const LINE: usize = 64;
/// Bytes of a page: addresses this far apart are the same to a processor's first look at them.
const PAGE: usize = 4096;

/// Copies a line's length.
///
/// # Safety
/// As for [`super::elements`], for 64 bytes.
#[inline(always)]
unsafe fn line(to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promise.
    unsafe { to.cast::<[u8; LINE]>().write_unaligned(from.cast::<[u8; LINE]>().read_unaligned()) }
}

/// Copies by the processor's own string instruction, from a line's start on: processors
/// are slower, some of them by a quarter, if the destination is not aligned (Intel's
/// optimisation manual, 3.7.6).
///
/// # Safety
/// As for [`super::elements`], for 64 bytes at least.
#[inline(always)]
unsafe fn string(to: *mut u8, from: *const u8, bytes: usize) {
    let done = LINE - to as usize % LINE;
    // SAFETY: the caller's promise; the ABI has the direction flag clear.
    unsafe {
        line(to, from);
        asm!(
            "rep movsb",
            inout("rdi") to.add(done) => _,
            inout("rsi") from.add(done) => _,
            inout("rcx") bytes - done => _,
            options(nostack, preserves_flags)
        );
    }
}

/// Defines the loops for one width of moves, of which those counted make a line.
macro_rules! loops {
    (
        $name:ident: $feature:literal, $vector:ty, $load:ident, $store:ident, $stream:ident,
        [$($of_line:literal),*]
    ) => {
        mod $name {
            use super::*;

            /// Bytes of one pass of a loop.
            const BLOCK: usize = 4 * size_of::<$vector>();

            /// Reads four vectors.
            macro_rules! read {
                ($from:expr) => {{
                    let from = $from.cast::<$vector>();
                    [$load(from), $load(from.add(1)), $load(from.add(2)), $load(from.add(3))]
                }};
            }

            /// Writes them.
            macro_rules! write {
                ($to:expr, $vectors:expr) => {{
                    let (to, [a, b, c, d]) = ($to.cast::<$vector>(), $vectors);
                    $store(to, a);
                    $store(to.add(1), b);
                    $store(to.add(2), c);
                    $store(to.add(3), d);
                }};
            }

            /// Copies by moves of this width. The tail is read before the loop: where the
            /// destination lies just before the source, whole pages not counted, the processor
            /// takes what the loop has written for what is read next, and waits for it.
            ///
            /// # Safety
            /// As for [`crate::copy::elements`], for more than 128 bytes; the processor has
            /// these moves.
            #[inline(never)]
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn wide(to: *mut u8, from: *const u8, bytes: usize) {
                let (mut at, tail) = (LINE - to as usize % LINE, bytes - BLOCK);
                // SAFETY: the caller's promise; every offset is at most `tail`.
                unsafe {
                    // The head first: a null pointer is told by where it faults.
                    let first = [$($load(from.cast::<$vector>().add($of_line))),*];
                    let last = read!(from.add(tail));
                    $($store(to.cast::<$vector>().add($of_line), first[$of_line]);)*
                    while at < tail {
                        write!(to.add(at), read!(from.add(at)));
                        at += BLOCK;
                    }
                    write!(to.add(tail), last);
                }
            }

            /// Copies by stores that pass the caches by; complete in the order of stores.
            ///
            /// # Safety
            /// As for `wide`.
            #[inline(never)]
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn stream(to: *mut u8, from: *const u8, bytes: usize) {
                let (mut at, tail) = (BLOCK - to as usize % LINE, bytes - BLOCK);
                // SAFETY: as in `wide`; what was streamed is not touched before the fence.
                unsafe {
                    write!(to, read!(from));
                    // One line after the other, where a vector is half a line.
                    while at < tail {
                        let (to, from) = (to.add(at).cast(), from.add(at).cast::<$vector>());
                        let (a, b) = ($load(from), $load(from.add(1)));
                        $stream(to, a);
                        $stream(to.add(1), b);
                        at += BLOCK / 2;
                    }
                    _mm_sfence();
                    write!(to.add(tail), read!(from.add(tail)));
                }
            }
        }
    };
}

loops!(
    sse2: "sse2", __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_stream_si128, [0, 1, 2, 3]
);
loops!(
    avx: "avx", __m256i, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256, [0, 1]
);

#[cfg(test)]
mod tests {
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
            let machine = Machine { string: least, cached: 1 << 20, avx };
            for bytes in [129, STRING - 1, STRING, 65536, 1 << 30] {
                for offset in 0..PAGE {
                    let far = machine.string_pays((9 << 30) + offset, 5 << 30, bytes);
                    let behind =
                        machine.string_pays((5 << 30) + 100 + offset, (9 << 30) + 100, bytes);
                    assert_eq!(far, behind, "only the offset counts");
                    assert_eq!(
                        far,
                        bytes >= least && !(1..64).contains(&offset),
                        "{bytes} {offset}"
                    );
                }
            }
        }
    }

    /// Where the destination lies relative to the source must not matter much. Figures of one
    /// run are set against each other; each is the best of several, taken far apart, and there
    /// are more of them where that is not enough on a busy machine. `rep movsb` is 15 to 25
    /// times slower than moves at the worst offset.
    #[test]
    fn no_offset_is_far_slower_than_moves() {
        const MOST: u128 = 3;
        for bytes in [STRING, 16 * STRING] {
            let (source, mut dest) = (vec![1u8; 2 * PAGE + bytes], vec![0u8; 2 * PAGE + bytes]);
            let from = source.as_ptr().wrapping_add(source.as_ptr().align_offset(PAGE) + 16);
            let base = dest.as_mut_ptr();
            let base = base.wrapping_add(base.align_offset(PAGE));
            let offsets: Vec<usize> = (0..72).chain((72..PAGE).step_by(61)).chain([4095]).collect();
            // By the way that is chosen, and by moves, whatever the offset.
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
                    // SAFETY: both have a page more than that, here and below.
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

    /// Each loop, also those that this machine or this size would not choose.
    #[test]
    fn every_loop_copies_all_and_nothing_else() {
        type Copy = unsafe fn(*mut u8, *const u8, usize);
        let mut ways: Vec<Copy> = vec![
            // SAFETY: the caller's promise, here and below.
            |to, from, bytes| unsafe { sse2::wide(to, from, bytes) },
            // SAFETY: as above.
            |to, from, bytes| unsafe { sse2::stream(to, from, bytes) },
            // SAFETY: as above.
            |to, from, bytes| unsafe { string(to, from, bytes) },
        ];
        if is_x86_feature_detected!("avx") {
            // SAFETY: as above; the processor has these moves.
            ways.push(|to, from, bytes| unsafe { avx::wide(to, from, bytes) });
            // SAFETY: as above.
            ways.push(|to, from, bytes| unsafe { avx::stream(to, from, bytes) });
        }
        let source: Vec<u8> = (0..2000).map(|i| (i % 251) as u8).collect();
        for bytes in 129..900 {
            let (from, to) = (bytes * 7 % 67, bytes * 5 % 71);
            for (number, way) in ways.iter().enumerate() {
                let mut dest = vec![0xff; 2000];
                // SAFETY: both are that large, and apart.
                unsafe { way(dest.as_mut_ptr().add(to), source.as_ptr().add(from), bytes) };
                let copied = dest[to..to + bytes] == source[from..from + bytes];
                assert!(copied, "way {number}: {bytes} bytes from {from} to {to}");
                assert!(dest[..to].iter().chain(&dest[to + bytes..]).all(|byte| *byte == 0xff));
            }
        }
    }
}
