//! Copies every second element, on one side or both, with vectors of 64 bytes. One permutation
//! packs the wanted elements of a loaded vector together, or spreads them, and a masked store
//! leaves the elements between them untouched.
//!
//! Compared with moving one element at a time, on a Zen 5, 4-byte elements took 0.2 to 0.3 of the
//! time in the first-level cache, 0.45 in the second and 0.6 beyond; 8-byte elements 0.3 to 0.65,
//! 0.8 and 0.95. At a stride of 3 or more, a vector holds too few elements.
//!
//! The loops are assembly, because Rust has intrinsics for these instructions only since 1.89, and
//! distributions have older versions.
#![allow(unsafe_code)]

use std::arch::asm;

/// Whether this pays for so many elements.
pub const fn pay(nelems: usize) -> bool {
    nelems >= 16
}

/// Vectors per pass: with fewer, the loop's own instructions would be half of all.
const PASS: usize = 4;

/// The 4-byte lanes of a vector.
const LANES: usize = 16;

/// Constants for elements of `W`, which has 4 or 8 bytes.
struct Lanes<W>(std::marker::PhantomData<W>);

impl<W> Lanes<W> {
    /// Lanes per element.
    const EACH: usize = size_of::<W>().div_ceil(4);
    /// Elements in a vector without gaps.
    const FULL: usize = LANES / Self::EACH;
    /// The lanes of every second element.
    const EVEN: u16 = {
        let (mut mask, mut lane) = (0, 0);
        while lane < LANES {
            if lane / Self::EACH % 2 == 0 {
                mask |= 1 << lane;
            }
            lane += 1;
        }
        mask
    };
    /// For each lane, its source when every second element of two vectors is packed into one.
    const PACK: [u32; LANES] = {
        let (mut from, mut lane) = ([0; LANES], 0);
        while lane < LANES {
            from[lane] = (lane + lane / Self::EACH * Self::EACH) as u32;
            lane += 1;
        }
        from
    };
    /// For each lane of [`EVEN`](Self::EVEN), its source when half a vector is spread over one.
    const SPREAD: [u32; LANES] = {
        let (mut from, mut lane) = ([0; LANES], 0);
        while lane < LANES {
            from[lane] = (lane / Self::EACH / 2 * Self::EACH + lane % Self::EACH) as u32;
            lane += 1;
        }
        from
    };
}

/// Copies the elements that fill whole passes, from the front, and returns their number: 0 if the
/// processor lacks the instructions.
///
/// # Safety
/// As for [`crate::copy::strided`]; a `W` has 4 or 8 bytes, and the larger stride is 2.
#[inline]
pub unsafe fn copy<W: Copy>(
    to: *mut W,
    from: *const W,
    dst: isize,
    sst: isize,
    nelems: usize,
) -> usize {
    // The Kitten kernel does not save wide registers.
    if cfg!(feature = "smartmap") || !is_x86_feature_detected!("avx512f") {
        return 0;
    }
    // SAFETY: the caller's promise; the processor has the instructions.
    unsafe {
        match (dst, sst) {
            (1, _) => pack(to, from, nelems),
            (_, 1) => spread(to, from, nelems),
            _ => keep(to, from, nelems),
        }
    }
}

/// The number of elements in whole passes, at `each` elements per vector, out of `nelems`.
#[inline(always)]
fn whole(each: usize, nelems: usize) -> usize {
    nelems - nelems % (PASS * each)
}

/// From a stride of 2 to a stride of 1. The elements between are loaded too, and dropped.
///
/// # Safety
/// As for [`copy`]; the processor has AVX-512.
unsafe fn pack<W: Copy>(to: *mut W, from: *const W, nelems: usize) -> usize {
    // Excludes the last element, so that nothing past it is read.
    let whole = whole(Lanes::<W>::FULL, nelems.saturating_sub(1));
    if whole > 0 {
        // SAFETY: the caller's promise: the elements exist, and one more after them.
        unsafe {
            asm!(
                "vmovdqu64 zmm0, [{order}]",
                "2:",
                "vmovdqu64 zmm1, [{from}]",
                "vmovdqu64 zmm2, [{from} + 128]",
                "vmovdqu64 zmm3, [{from} + 256]",
                "vmovdqu64 zmm4, [{from} + 384]",
                "vpermt2d zmm1, zmm0, [{from} + 64]",
                "vpermt2d zmm2, zmm0, [{from} + 192]",
                "vpermt2d zmm3, zmm0, [{from} + 320]",
                "vpermt2d zmm4, zmm0, [{from} + 448]",
                "vmovdqu64 [{to}], zmm1",
                "vmovdqu64 [{to} + 64], zmm2",
                "vmovdqu64 [{to} + 128], zmm3",
                "vmovdqu64 [{to} + 192], zmm4",
                "add {from}, 512",
                "add {to}, 256",
                "cmp {to}, {end}",
                "jne 2b",
                "vzeroupper",
                order = in(reg) const { &Lanes::<W>::PACK }.as_ptr(),
                from = inout(reg) from => _,
                to = inout(reg) to => _,
                end = in(reg) to.add(whole),
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
                options(nostack)
            );
        }
    }
    whole
}

/// From a stride of 1 to a stride of 2.
///
/// # Safety
/// As for [`pack`].
unsafe fn spread<W: Copy>(to: *mut W, from: *const W, nelems: usize) -> usize {
    let whole = whole(Lanes::<W>::FULL / 2, nelems);
    if whole > 0 {
        // SAFETY: the caller's promise; a lane outside the mask is not accessed.
        unsafe {
            asm!(
                "kmovw k1, {even:e}",
                "vmovdqu64 zmm0, [{order}]",
                "2:",
                "vmovdqu ymm1, [{from}]",
                "vmovdqu ymm2, [{from} + 32]",
                "vmovdqu ymm3, [{from} + 64]",
                "vmovdqu ymm4, [{from} + 96]",
                "vpermd zmm1, zmm0, zmm1",
                "vpermd zmm2, zmm0, zmm2",
                "vpermd zmm3, zmm0, zmm3",
                "vpermd zmm4, zmm0, zmm4",
                "vmovdqu32 [{to}] {{k1}}, zmm1",
                "vmovdqu32 [{to} + 64] {{k1}}, zmm2",
                "vmovdqu32 [{to} + 128] {{k1}}, zmm3",
                "vmovdqu32 [{to} + 192] {{k1}}, zmm4",
                "add {from}, 128",
                "add {to}, 256",
                "cmp {from}, {end}",
                "jne 2b",
                "vzeroupper",
                even = in(reg) u32::from(Lanes::<W>::EVEN),
                order = in(reg) const { &Lanes::<W>::SPREAD }.as_ptr(),
                from = inout(reg) from => _,
                to = inout(reg) to => _,
                end = in(reg) from.add(whole),
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
                out("k1") _,
                options(nostack)
            );
        }
    }
    whole
}

/// From a stride of 2 to a stride of 2.
///
/// # Safety
/// As for [`pack`].
unsafe fn keep<W: Copy>(to: *mut W, from: *const W, nelems: usize) -> usize {
    let whole = whole(Lanes::<W>::FULL / 2, nelems);
    if whole > 0 {
        // SAFETY: the caller's promise; a lane outside the mask is not accessed.
        unsafe {
            asm!(
                "kmovw k1, {even:e}",
                "2:",
                "vmovdqu32 zmm1 {{k1}} {{z}}, [{from}]",
                "vmovdqu32 zmm2 {{k1}} {{z}}, [{from} + 64]",
                "vmovdqu32 zmm3 {{k1}} {{z}}, [{from} + 128]",
                "vmovdqu32 zmm4 {{k1}} {{z}}, [{from} + 192]",
                "vmovdqu32 [{to}] {{k1}}, zmm1",
                "vmovdqu32 [{to} + 64] {{k1}}, zmm2",
                "vmovdqu32 [{to} + 128] {{k1}}, zmm3",
                "vmovdqu32 [{to} + 192] {{k1}}, zmm4",
                "add {from}, 256",
                "add {to}, 256",
                "cmp {from}, {end}",
                "jne 2b",
                "vzeroupper",
                even = in(reg) u32::from(Lanes::<W>::EVEN),
                from = inout(reg) from => _,
                to = inout(reg) to => _,
                // One past the last element that is copied, at a stride of 2.
                end = in(reg) from.wrapping_add(2 * whole),
                out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
                out("k1") _,
                options(nostack)
            );
        }
    }
    whole
}
