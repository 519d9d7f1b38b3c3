//! Copies of more than 64 bytes on x86-64:
//!
//! | bytes | method |
//! |---|---|
//! | to 128 | the head, then the tail, as for fewer |
//! | below [`STRING`] | a loop of moves as wide as the processor has |
//! | from there on | `rep movsb` where it is better ([`Machine::string_pays`]), else that loop |
//! | more than the last cache has room for | stores that bypass the caches, then `sfence` |
#![allow(unsafe_code)]

use super::touch::{self, PIECE};
use crate::sys::process;
use std::arch::asm;
use std::arch::x86_64::{
    __cpuid, __m128i, __m256i, _mm_loadu_si128, _mm_sfence, _mm_storeu_si128, _mm_stream_si128,
    _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256,
};
use std::sync::OnceLock;

/// The fewest bytes for `rep movsb`. Where source and destination are both in the first-level
/// cache, wide moves would be better up to some 16 KiB; but the destination was last used by
/// another PE. From the second-level cache, `rep movsb` wins from 1 to 4 KiB on.
const STRING: usize = 4096;

/// The properties on which the method depends.
struct Machine {
    /// The fewest bytes for which `rep movsb` is best; [`usize::MAX`] if it never is.
    string: usize,
    /// The most bytes for which the last-level cache has room for both sides.
    cached: usize,
    /// Whether the processor has 32-byte moves.
    avx: bool,
}

static MACHINE: OnceLock<Machine> = OnceLock::new();

impl Machine {
    /// Detects this machine's properties.
    fn look() -> Self {
        // If the system does not report it: the size that even small processors have.
        let last = process::last_cache_size().unwrap_or(2 << 20);
        // Not with SMARTMAP's addresses: the Kitten kernel does not save wide registers.
        let avx = cfg!(not(feature = "smartmap")) && is_x86_feature_detected!("avx");
        let enhanced = is_x86_feature_detected!("ermsb");
        Self { string: string_from(enhanced, avx, Model::here()), cached: last / 2, avx }
    }

    /// Whether `rep movsb` is best for copying this many bytes between these addresses. Processors
    /// that are good at it copy a byte at a time, at a twentieth of their best speed, where the
    /// destination lies just after the source modulo the page size:
    ///
    /// * AMD Zen 3 and Zen 4: 1 to 15 bytes after it; 16 to 31 bytes after it at half of the best
    ///   speed. Measured for all 4096 offsets at any alignment, and reported as
    ///   <https://sourceware.org/bugzilla/show_bug.cgi?id=30994>.
    /// * Intel: 1 to 63 bytes after it, modulo 4 GiB, according to glibc, which avoids that
    ///   (`Avoid_Short_Distance_REP_MOVSB`).
    ///
    /// One rule covers both. Blocks from `malloc` begin 16 bytes after a page's start, and blocks
    /// from `shmem_malloc` at one, so every get into large private memory is such a copy.
    #[inline(always)]
    fn string_pays(&self, to: usize, from: usize, bytes: usize) -> bool {
        bytes >= self.string && (to.wrapping_sub(from) & (PAGE - 1)).wrapping_sub(1) >= LINE - 1
    }
}

/// The size from which a processor is better at `rep movsb` than at wide moves.
///
/// Never on AMD's families before 1Ah with 32-byte moves. Zen 3 and Zen 4 report that they are good
/// at it, but at best match such moves, wherever the destination was used last; glibc no longer
/// uses it there (its bug 30994). Compared with 16-byte moves it is better there, too, up to 16
/// KiB. On Zen 5 it is better from the second-level cache.
fn string_from(enhanced: bool, avx: bool, model: Model) -> usize {
    let poor = model.is_amd && model.family < 0x1a && avx;
    if enhanced && !poor { STRING } else { usize::MAX }
}

/// The processor model, as far as the method depends on it.
#[derive(Clone, Copy)]
struct Model {
    is_amd: bool,
    family: u32,
}

impl Model {
    fn here() -> Self {
        // SAFETY: every x86-64 processor has the instruction. Newer compilers know that.
        #[allow(unused_unsafe)]
        let (vendor, signature) = unsafe { (__cpuid(0), __cpuid(1).eax) };
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
    // SAFETY: the caller's promise, passed on; the processor has moves of the chosen width.
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

/// A copy so large that a few calls do not matter.
///
/// # Safety
/// As for [`super::elements`].
#[inline(never)]
unsafe fn huge(machine: &Machine, to: *mut u8, from: *const u8, bytes: usize) {
    touch::before_writing(to as usize, bytes);
    // SAFETY: the caller's promise, passed on; the processor has moves of the chosen width.
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

/// The first large copy: detects the machine's properties.
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

/// Bytes of a cache line. Loops begin at a line boundary of the destination.
const LINE: usize = 64;
/// Bytes of a page. A processor's first check does not distinguish addresses this far apart.
const PAGE: usize = 4096;

/// Copies the length of a line.
///
/// # Safety
/// As for [`super::elements`], for 64 bytes.
#[inline(always)]
unsafe fn line(to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promise.
    unsafe { to.cast::<[u8; LINE]>().write_unaligned(from.cast::<[u8; LINE]>().read_unaligned()) }
}

/// Copies with the processor's string instruction, starting at a line boundary of the destination.
/// Otherwise processors are slower, some of them by a quarter (Intel's optimisation manual, 3.7.6).
///
/// # Safety
/// As for [`super::elements`], for at least 64 bytes.
#[inline(always)]
unsafe fn string(to: *mut u8, from: *const u8, bytes: usize) {
    let done = LINE - to as usize % LINE;
    // SAFETY: the caller's promise; the ABI guarantees that the direction flag is clear.
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

/// Defines the loops for one width of moves. The listed indexes are the moves of a line.
macro_rules! loops {
    (
        $name:ident: $feature:literal, $vector:ty, $load:ident, $store:ident, $stream:ident,
        [$($of_line:literal),*]
    ) => {
        mod $name {
            use super::*;

            /// Bytes of one pass of the loop.
            const BLOCK: usize = 4 * size_of::<$vector>();

            /// Reads four vectors.
            macro_rules! read {
                ($from:expr) => {{
                    let from = $from.cast::<$vector>();
                    [$load(from), $load(from.add(1)), $load(from.add(2)), $load(from.add(3))]
                }};
            }

            /// Writes four vectors.
            macro_rules! write {
                ($to:expr, $vectors:expr) => {{
                    let (to, [a, b, c, d]) = ($to.cast::<$vector>(), $vectors);
                    $store(to, a);
                    $store(to.add(1), b);
                    $store(to.add(2), c);
                    $store(to.add(3), d);
                }};
            }

            /// Copies with moves of this width. The tail is read before the loop: where the
            /// destination lies just before the source modulo the page size, the processor mistakes
            /// the loop's writes for the bytes to read next, and waits for them.
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
                    // The head first: a null pointer is recognised by the address of its fault.
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

            /// Copies with stores that bypass the caches. Completes in the order of stores.
            ///
            /// # Safety
            /// As for `wide`.
            #[inline(never)]
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn stream(to: *mut u8, from: *const u8, bytes: usize) {
                let (mut at, tail) = (BLOCK - to as usize % LINE, bytes - BLOCK);
                // SAFETY: as in `wide`; the streamed bytes are not accessed before the fence.
                unsafe {
                    write!(to, read!(from));
                    // One line after the other if a vector is half a line.
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
                // SAFETY: both buffers are that large, and disjoint.
                unsafe { way(dest.as_mut_ptr().add(to), source.as_ptr().add(from), bytes) };
                let copied = dest[to..to + bytes] == source[from..from + bytes];
                assert!(copied, "way {number}: {bytes} bytes from {from} to {to}");
                assert!(dest[..to].iter().chain(&dest[to + bytes..]).all(|byte| *byte == 0xff));
            }
        }
    }
}
