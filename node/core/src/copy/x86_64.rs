//! Copies of more than 64 bytes on x86-64:
//!
//! | bytes | method |
//! |---|---|
//! | to 128 | the head, then the tail, as for fewer |
//! | fewer than `string_from` | a loop of moves as wide as the processor has |
//! | from there on | `rep movsb`, or that loop where the destination lies just after the source |
//! | more than `cached_to` | stores that bypass the caches, then `sfence` |
//!
//! [`Methods`](super::Methods) has the limits.
#![allow(unsafe_code)]

use super::machine;
use super::methods;
use super::touch::PIECE;
use std::arch::asm;
use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm_sfence, _mm_storeu_si128, _mm_stream_si128,
    _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256,
};

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
        if bytes < methods::moves_below() {
            moves(to, from, bytes);
        } else if methods::string_from() == 0 {
            first(to, from, bytes);
        } else if bytes >= PIECE {
            huge(to, from, bytes);
        } else if string_pays(to, from, bytes) {
            string(to, from, bytes);
        } else {
            moves(to, from, bytes);
        }
    }
}

/// Copies with moves as wide as the processor has.
///
/// # Safety
/// As for [`super::elements`], for more than 128 bytes.
#[inline(always)]
unsafe fn moves(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise, passed on; the processor has moves of the chosen width.
    unsafe {
        if methods::wide() { avx::wide(to, from, bytes) } else { sse2::wide(to, from, bytes) }
    }
}

/// A copy past the caches.
///
/// # Safety
/// As for [`super::elements`], for at least [`PIECE`] bytes.
#[inline(never)]
pub unsafe fn past_caches(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise, passed on; the processor has moves of the chosen width.
    unsafe {
        super::before_large(to, from, bytes);
        match methods::wide() {
            true => avx::stream(to, from, bytes, methods::abreast()),
            false => sse2::stream(to, from, bytes, methods::abreast()),
        }
    }
}

/// A copy so large that a few calls do not matter.
///
/// # Safety
/// As for [`super::elements`].
#[inline(never)]
unsafe fn huge(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if bytes > methods::cached_to() {
            return past_caches(to, from, bytes);
        }
        super::before_large(to, from, bytes);
        match string_pays(to, from, bytes) {
            true => string(to, from, bytes),
            false => moves(to, from, bytes),
        }
    }
}

/// The first large copy, unless the limits were set before: detects those of the processor.
///
/// # Safety
/// As for [`large`].
#[cold]
#[inline(never)]
unsafe fn first(to: *mut u8, from: *const u8, bytes: usize) {
    methods::set(machine::built_in());
    // SAFETY: the caller's promise.
    unsafe { large(to, from, bytes) }
}

/// Whether to use the string instruction for this many bytes between these addresses.
#[inline(always)]
fn string_pays(to: *mut u8, from: *const u8, bytes: usize) -> bool {
    bytes >= methods::string_from() && !is_just_after(methods::string_apart(), to, from)
}

/// Whether `to` lies 1 to `apart - 1` bytes after `from`, modulo the page size.
#[inline(always)]
fn is_just_after(apart: usize, to: *mut u8, from: *const u8) -> bool {
    let after = (to as usize).wrapping_sub(from as usize) & (PAGE - 1);
    after.wrapping_sub(1) < apart - 1
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

            /// Copies with stores that bypass the caches. Completes in the order of stores. Takes a
            /// line of each of `abreast` pages in turn.
            ///
            /// # Safety
            /// As for `wide`.
            #[inline(never)]
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn stream(to: *mut u8, from: *const u8, bytes: usize, abreast: usize) {
                let (mut at, tail) = (BLOCK - to as usize % LINE, bytes - BLOCK);
                let line = |at: usize| {
                    // SAFETY: as in `wide`, for a line that begins before `tail`.
                    unsafe {
                        let to = to.add(at).cast::<$vector>();
                        let from = from.add(at).cast::<$vector>();
                        $($stream(to.add($of_line), $load(from.add($of_line)));)*
                    }
                };
                // SAFETY: as in `wide`; the streamed bytes are not accessed before the fence.
                unsafe {
                    write!(to, read!(from));
                    while tail.saturating_sub(at) >= abreast * PAGE {
                        for offset in (0..PAGE).step_by(LINE) {
                            (0..abreast).for_each(|page| line(at + page * PAGE + offset));
                        }
                        at += abreast * PAGE;
                    }
                    while at < tail {
                        line(at);
                        at += LINE;
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
#[path = "x86_64/tests.rs"]
mod tests;
