//! Ways to copy, with moves of 16, 32 or 64 bytes or the string instruction, and which of them suits
//! this processor.
#![allow(unsafe_code)]

use super::cpuid;
use crate::arch::{CopyPreferences, LINE, PAGE};
use std::arch::asm;
use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm_sfence, _mm_storeu_si128, _mm_stream_si128,
    _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256,
};

/// The bytes of the widest moves that this processor has, and that pay: 16, 32 or 64. Kitten, which has
/// SMARTMAP, does not keep wide registers.
///
/// The first processors with moves of 64 bytes lower their frequency for them. Those since Ice Lake and Zen
/// 4 do not, and have VBMI too.
pub fn width() -> usize {
    match () {
        _ if cfg!(feature = "smartmap") => 16,
        _ if is_x86_feature_detected!("avx512vbmi") => 64,
        _ if is_x86_feature_detected!("avx") => 32,
        _ => 16,
    }
}

/// Copies with moves of `width` bytes.
///
/// # Safety
/// As for [`crate::copy::elements`], for more than 64 bytes; `width` is at most the [widest](width).
#[inline(always)]
pub unsafe fn moves(width: usize, to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match width {
            64 => avx512::wide(to, from, bytes),
            32 => avx::wide(to, from, bytes),
            _ => sse2::wide(to, from, bytes),
        }
    }
}

/// Copies with stores that bypass the caches, and completes them. Takes a line of each of `abreast`
/// pages in turn.
///
/// # Safety
/// As for [`moves`].
#[inline(always)]
pub unsafe fn stream(width: usize, to: *mut u8, from: *const u8, bytes: usize, abreast: usize) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match width {
            16 => sse2::stream(to, from, bytes, abreast),
            _ => avx::stream(to, from, bytes, abreast),
        }
    }
}

/// Copies with the processor's string instruction, starting at a line boundary of the destination.
/// Otherwise processors are slower, some of them by a quarter (Intel's optimisation manual, 3.7.6).
///
/// # Safety
/// As for [`crate::copy::elements`], for at least 64 bytes.
#[inline(always)]
pub unsafe fn string(to: *mut u8, from: *const u8, bytes: usize) {
    let done = LINE - to as usize % LINE;
    // SAFETY: the caller's promise; the ABI guarantees that the direction flag is clear.
    unsafe {
        to.cast::<[u8; LINE]>().write_unaligned(from.cast::<[u8; LINE]>().read_unaligned());
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

            /// Reads the vectors of a line.
            macro_rules! read_line {
                ($from:expr) => {{
                    let from = $from.cast::<$vector>();
                    [$($load(from.add($of_line))),*]
                }};
            }

            /// Writes the vectors of a line.
            macro_rules! write_line {
                ($to:expr, $vectors:expr) => {{
                    let (to, vectors) = ($to.cast::<$vector>(), $vectors);
                    $($store(to.add($of_line), vectors[$of_line]);)*
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

            /// Copies more than 64 bytes with moves of this width. The tail is read before anything is
            /// written: where the destination lies just before the source modulo the page size, the processor
            /// mistakes writes for the bytes to read next, and waits for them.
            ///
            /// # Safety
            /// As for [`crate::copy::elements`], for more than 64 bytes; the processor has these moves.
            #[inline(never)]
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn wide(to: *mut u8, from: *const u8, bytes: usize) {
                // SAFETY: the caller's promise; a line, or a block where it is chosen, begins in the copy. The head
                // is read first: a null pointer is recognised by the address of its fault.
                unsafe {
                    if bytes <= 2 * LINE {
                        let (first, last) = (read_line!(from), read_line!(from.add(bytes - LINE)));
                        write_line!(to, first);
                        write_line!(to.add(bytes - LINE), last);
                    } else if bytes <= 2 * BLOCK {
                        let (first, last) = (read!(from), read!(from.add(bytes - BLOCK)));
                        write!(to, first);
                        write!(to.add(bytes - BLOCK), last);
                    } else {
                        blocks(to, from, bytes);
                    }
                }
            }

            /// Copies by a loop.
            ///
            /// # Safety
            /// As for `wide`, for more than a block and a line.
            #[inline(never)]
            #[target_feature(enable = $feature)]
            unsafe fn blocks(to: *mut u8, from: *const u8, bytes: usize) {
                let (mut at, tail) = (LINE - to as usize % LINE, bytes - BLOCK);
                // SAFETY: the caller's promise; every offset is at most `tail`.
                unsafe {
                    let (first, last) = (read_line!(from), read!(from.add(tail)));
                    write_line!(to, first);
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
                // SAFETY: the caller's promise; each line and block begins at `tail` or before it, and so ends in the copy.
                // The streamed bytes are not accessed before the fence.
                unsafe {
                    let line = |at: usize| {
                        let to = to.add(at).cast::<$vector>();
                        let from = from.add(at).cast::<$vector>();
                        $($stream(to.add($of_line), $load(from.add($of_line)));)*
                    };
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

/// Moves of 64 bytes, in assembly: Rust has intrinsics for them only since 1.89. The registers are those
/// that older instructions cannot name, so nothing need be cleared afterwards.
mod avx512 {
    use super::*;

    /// Copies lines at the start and as many at the end, which may overlap: of each two, the registers, and how far
    /// from the start and from the end they begin.
    macro_rules! ends {
        ($to:ident, $from:ident, $bytes:ident, $($first:tt $last:tt $start:tt $end:tt),*) => {
            asm!(
                $(concat!("vmovdqu64 ", $first, ", [{from} + ", $start, "]"),)*
                $(concat!("vmovdqu64 ", $last, ", [{from} + {bytes} - ", $end, "]"),)*
                $(concat!("vmovdqu64 [{to} + ", $start, "], ", $first),)*
                $(concat!("vmovdqu64 [{to} + {bytes} - ", $end, "], ", $last),)*
                from = in(reg) $from, to = in(reg) $to, bytes = in(reg) $bytes,
                $(out($first) _, out($last) _,)*
                options(nostack, preserves_flags)
            )
        };
    }

    /// Copies more than 64 bytes. The tail is read before anything is written, as with narrower moves.
    ///
    /// # Safety
    /// As for [`crate::copy::elements`], for more than 64 bytes; the processor has these moves.
    #[inline(always)]
    pub(super) unsafe fn wide(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: the caller's promise: as many lines as are chosen begin at its start and end at its end. The head
        // is read first: a null pointer is recognised by the address of its fault.
        unsafe {
            if bytes <= 2 * LINE {
                ends!(to, from, bytes, "zmm16" "zmm17" 0 64);
            } else if bytes <= 4 * LINE {
                ends!(to, from, bytes, "zmm16" "zmm18" 0 128, "zmm17" "zmm19" 64 64);
            } else if bytes <= 8 * LINE {
                ends!(
                    to, from, bytes,
                    "zmm16" "zmm20" 0 256, "zmm17" "zmm21" 64 192,
                    "zmm18" "zmm22" 128 128, "zmm19" "zmm23" 192 64
                );
            } else {
                // The loop's stores begin lines. Its last lines end within the tail.
                asm!(
                    "vmovdqu64 zmm16, [{from}]",
                    "vmovdqu64 zmm17, [{from} + {tail}]",
                    "vmovdqu64 zmm18, [{from} + {tail} + 64]",
                    "vmovdqu64 [{to}], zmm16",
                    "2:",
                    "vmovdqu64 zmm19, [{from} + {at}]",
                    "vmovdqu64 zmm20, [{from} + {at} + 64]",
                    "vmovdqu64 [{to} + {at}], zmm19",
                    "vmovdqu64 [{to} + {at} + 64], zmm20",
                    "add {at}, 128",
                    "cmp {at}, {tail}",
                    "jb 2b",
                    "vmovdqu64 [{to} + {tail}], zmm17",
                    "vmovdqu64 [{to} + {tail} + 64], zmm18",
                    from = in(reg) from, to = in(reg) to, tail = in(reg) bytes - 2 * LINE,
                    at = inout(reg) LINE - to as usize % LINE => _,
                    out("xmm16") _, out("xmm17") _, out("xmm18") _, out("xmm19") _, out("xmm20") _,
                    options(nostack)
                );
            }
        }
    }
}

/// The fewest bytes for `rep movsb`. Where source and destination are both in the first-level
/// cache, wide moves would be better up to some 16 KiB; but the destination was last used by
/// another PE. From the second-level cache, `rep movsb` wins from 1 to 4 KiB on.
const STRING: usize = 4096;

/// The destinations for which `rep movsb` is not used: fewer bytes after the source than this, modulo
/// the page size. Processors that are good at it copy a byte at a time there, at a twentieth of their
/// best speed:
///
/// * AMD Zen 3 and Zen 4: 1 to 15 bytes after the source; 16 to 31 bytes after it at half of the best
///   speed. Measured for all 4096 offsets at any alignment, and reported as
///   <https://sourceware.org/bugzilla/show_bug.cgi?id=30994>.
/// * Intel: 1 to 63 bytes after it, modulo 4 GiB, according to glibc, which avoids that
///   (`Avoid_Short_Distance_REP_MOVSB`).
///
/// One rule covers both. Blocks from `malloc` begin 16 bytes after a page's start, and blocks from
/// `shmem_malloc` at one, so every get into large private memory is such a copy.
const STRING_APART: usize = 64;

/// The ways to copy that suit this processor.
pub fn suits() -> CopyPreferences {
    let (model, enhanced) = (Model::here(), is_x86_feature_detected!("ermsb"));
    CopyPreferences {
        string_from: string_from(enhanced, width() > 16, model),
        string_apart: STRING_APART,
        streams: true,
        abreast: abreast(model),
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

/// From how many pages at a time copies that bypass the caches take their lines. More pages keep more
/// banks of the memory busy: four give 1.25 to 1.3 times the bandwidth on Intel's Xeon of 2024
/// (Granite Rapids), and 0.97 where the cache is large enough after all; two and eight give less. The C
/// library does so for the largest copies. On Zen 4 two pages give 0.6 of the bandwidth of one, four 0.75.
fn abreast(model: Model) -> usize {
    if model.is_amd { 1 } else { 4 }
}

/// The processor model, as far as the method depends on it.
#[derive(Clone, Copy)]
struct Model {
    is_amd: bool,
    family: u32,
}

impl Model {
    fn here() -> Self {
        let (vendor, signature) = (cpuid(0), cpuid(1).eax);
        let base = signature >> 8 & 0xf;
        Self {
            // "AuthenticAMD"
            is_amd: [vendor.ebx, vendor.edx, vendor.ecx] == [0x6874_7541, 0x6974_6e65, 0x444d_4163],
            family: if base == 0xf { base + (signature >> 20 & 0xff) } else { base },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }
}
