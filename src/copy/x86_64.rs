//! More than 64 bytes, on x86-64:
//!
//! | bytes | way |
//! |---|---|
//! | to 128 | the head, then the tail, as for fewer |
//! | below [`STRING`] | a loop of moves as wide as the processor has |
//! | from there on | `rep movsb`, where the processor is good at it: it knows that whole lines will be written, and does not read them first |
//! | more than the last cache has room for | stores that pass the caches by, then `sfence` |
#![allow(unsafe_code)]

use super::touch::{self, PIECE};
use crate::sys::process;
use std::arch::asm;
use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm_sfence, _mm_storeu_si128, _mm_stream_si128,
    _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256,
};
use std::sync::OnceLock;

/// Fewest bytes for `rep movsb`. Where source and destination are both in the first cache, wide
/// moves would be better up to some 16 KiB; but the destination was last used by another PE. Out
/// of the second cache `rep movsb` wins from 1 to 4 KiB on.
const STRING: usize = 4096;

/// What the way depends on.
struct Machine {
    /// Fewest bytes for which `rep movsb` is the best way.
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
        Self {
            string: if is_x86_feature_detected!("ermsb") { STRING } else { usize::MAX },
            cached: last / 2,
            // Not with SMARTMAP's addresses: the Kitten kernel does not save wide registers.
            avx: cfg!(not(feature = "smartmap")) && is_x86_feature_detected!("avx"),
        }
    }
}

/// Copies more than 64 bytes. `before` is not used; see [`super::elements`].
///
/// # Safety
/// As for [`super::elements`].
#[inline(never)]
pub(super) unsafe fn large<K: Copy>(before: K, to: *mut u8, from: *const u8, bytes: usize) {
    hold(before);
    // SAFETY: the caller's promise, passed on; the width is what the processor has.
    unsafe {
        if bytes <= 128 {
            return super::ends::<[__m128i; 4]>(to, from, bytes);
        }
        let Some(machine) = MACHINE.get() else { return first(to, from, bytes) };
        if bytes >= PIECE {
            huge(machine, to, from, bytes);
        } else if bytes >= machine.string {
            string(to, from, bytes);
        } else if machine.avx {
            avx::wide(before, to, from, bytes);
        } else {
            sse2::wide(before, to, from, bytes);
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
            (false, _) if bytes >= machine.string => string(to, from, bytes),
            (false, true) => avx::wide((), to, from, bytes),
            (false, false) => sse2::wide((), to, from, bytes),
        }
    }
}

/// Keeps an argument that nothing uses: it would not be passed, and the others moved up.
#[inline(always)]
fn hold<K: Copy>(before: K) {
    if size_of::<K>() == size_of::<usize>() {
        // SAFETY: nothing is executed; a `K` of this size is a plain number here.
        unsafe {
            let before = std::mem::transmute_copy::<K, usize>(&before);
            asm!("/* {0} */", in(reg) before, options(nomem, nostack, preserves_flags));
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
    unsafe { large((), to, from, bytes) }
}

/// Bytes of a cache line. Loops begin where one begins at the destination.
const LINE: usize = 64;

/// Copies by the processor's own string instruction, from a line's start on: processors
/// can be twenty times slower if the destination is not aligned and the source is
/// (<https://sourceware.org/bugzilla/show_bug.cgi?id=30994>).
///
/// # Safety
/// As for [`super::elements`], for 64 bytes at least.
#[inline(always)]
unsafe fn string(to: *mut u8, from: *const u8, bytes: usize) {
    let done = LINE - to as usize % LINE;
    // SAFETY: the caller's promise; the ABI has the direction flag clear.
    unsafe {
        super::ends::<[__m128i; 4]>(to, from, LINE);
        asm!(
            "rep movsb",
            inout("rdi") to.add(done) => _,
            inout("rsi") from.add(done) => _,
            inout("rcx") bytes - done => _,
            options(nostack, preserves_flags)
        );
    }
}

/// Defines the loops for one width of moves.
macro_rules! loops {
    ($name:ident: $feature:literal, $vector:ty, $load:ident, $store:ident, $stream:ident) => {
        mod $name {
            use super::*;

            /// Bytes of one pass of a loop.
            const BLOCK: usize = 4 * size_of::<$vector>();

            /// Moves four vectors: all are read before the first is written.
            macro_rules! block {
                ($to:expr, $from:expr, $write:ident) => {{
                    let (to, from) = ($to.cast::<$vector>(), $from.cast::<$vector>());
                    let (a, b) = ($load(from), $load(from.add(1)));
                    let (c, d) = ($load(from.add(2)), $load(from.add(3)));
                    $write(to, a);
                    $write(to.add(1), b);
                    $write(to.add(2), c);
                    $write(to.add(3), d);
                }};
            }

            /// Copies by moves of this width.
            ///
            /// # Safety
            /// As for [`crate::copy::elements`], for more than 128 bytes; the processor has
            /// these moves.
            #[inline(never)]
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn wide<K: Copy>(
                before: K,
                to: *mut u8,
                from: *const u8,
                bytes: usize,
            ) {
                hold(before);
                let (mut at, tail) = (BLOCK - to as usize % LINE, bytes - BLOCK);
                // SAFETY: the caller's promise; every offset is at most `tail`.
                unsafe {
                    block!(to, from, $store);
                    while at < tail {
                        block!(to.add(at), from.add(at), $store);
                        at += BLOCK;
                    }
                    block!(to.add(tail), from.add(tail), $store);
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
                    block!(to, from, $store);
                    // One line after the other, where a vector is half a line.
                    while at < tail {
                        let (to, from) = (to.add(at).cast(), from.add(at).cast::<$vector>());
                        let (a, b) = ($load(from), $load(from.add(1)));
                        $stream(to, a);
                        $stream(to.add(1), b);
                        at += BLOCK / 2;
                    }
                    _mm_sfence();
                    block!(to.add(tail), from.add(tail), $store);
                }
            }
        }
    };
}

loops!(sse2: "sse2", __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_stream_si128);
loops!(avx: "avx", __m256i, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256);

#[cfg(test)]
mod tests {
    use super::*;

    /// Each loop, also those that this machine or this size would not choose.
    #[test]
    fn every_loop_copies_all_and_nothing_else() {
        type Copy = unsafe fn(*mut u8, *const u8, usize);
        let mut ways: Vec<Copy> = vec![
            // SAFETY: the caller's promise, here and below.
            |to, from, bytes| unsafe { sse2::wide((), to, from, bytes) },
            // SAFETY: as above.
            |to, from, bytes| unsafe { sse2::stream(to, from, bytes) },
            // SAFETY: as above.
            |to, from, bytes| unsafe { string(to, from, bytes) },
        ];
        if is_x86_feature_detected!("avx") {
            // SAFETY: as above; the processor has these moves.
            ways.push(|to, from, bytes| unsafe { avx::wide((), to, from, bytes) });
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
