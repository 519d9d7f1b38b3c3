//! Every second element, on one side or both, by vectors of 64 bytes: the elements of a loaded
//! vector that count are put beside each other, or apart, by one permutation, and stored under a
//! mask that leaves alone what lies between.
//!
//! Against moves one by one, on a Zen 5, 4-byte elements took 0.2 to 0.3 of the time in the first
//! cache, 0.45 in the second and 0.6 beyond; 8-byte elements 0.3 to 0.65, 0.8 and 0.95.
//! At a stride of 3 or more there is too little in a vector.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm256_loadu_si256, _mm512_castsi256_si512, _mm512_loadu_si512,
    _mm512_mask_storeu_epi32, _mm512_maskz_loadu_epi32, _mm512_permutex2var_epi32,
    _mm512_permutexvar_epi32, _mm512_storeu_si512,
};

/// Fewest elements for which it pays.
pub(super) const FEWEST: usize = 16;

/// Vectors of a pass: the loop's own instructions would be half of all.
const PASS: usize = 4;

/// The 4-byte lanes of a vector.
const LANES: usize = 16;

/// What there is to know of elements of `W`, which has 4 or 8 bytes.
struct Lanes<W>(std::marker::PhantomData<W>);

impl<W> Lanes<W> {
    /// Lanes of an element.
    const EACH: usize = size_of::<W>().div_ceil(4);
    /// Elements of a vector without gaps.
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
    /// For each lane, whence it comes where every second element of two vectors becomes one.
    const PACK: [u32; LANES] = {
        let (mut from, mut lane) = ([0; LANES], 0);
        while lane < LANES {
            from[lane] = (lane + lane / Self::EACH * Self::EACH) as u32;
            lane += 1;
        }
        from
    };
    /// For each lane of [`EVEN`](Self::EVEN), whence it comes where half a vector becomes one.
    const SPREAD: [u32; LANES] = {
        let (mut from, mut lane) = ([0; LANES], 0);
        while lane < LANES {
            from[lane] = (lane / Self::EACH / 2 * Self::EACH + lane % Self::EACH) as u32;
            lane += 1;
        }
        from
    };
}

/// Copies as many elements as there are whole passes of, from the front, and tells how many: none
/// where the processor lacks the instructions.
///
/// # Safety
/// As for [`super::strided`]; a `W` has 4 or 8 bytes, and the larger stride is 2.
#[inline]
pub(super) unsafe fn copy<W: Copy>(
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

/// Loads one of the tables.
#[inline]
#[target_feature(enable = "avx512f")]
fn table(lanes: &[u32; LANES]) -> __m512i {
    // SAFETY: as many bytes as a vector has.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

/// Calls `vector` for the first element of each vector of whole passes of `each` elements a vector,
/// of `nelems`; returns how many elements these were.
#[inline(always)]
fn passes(each: usize, nelems: usize, mut vector: impl FnMut(usize)) -> usize {
    let whole = nelems - nelems % (PASS * each);
    for first in (0..whole).step_by(PASS * each) {
        (0..PASS).for_each(|i| vector(first + i * each));
    }
    whole
}

/// From a stride of 2 to none. What lies between is loaded too, and dropped.
///
/// # Safety
/// As for [`copy`].
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn pack<W: Copy>(to: *mut W, from: *const W, nelems: usize) -> usize {
    let (order, each) = (table(&Lanes::<W>::PACK), Lanes::<W>::FULL);
    // The last element is left out, so that nothing past it is read.
    passes(each, nelems.saturating_sub(1), |at| {
        // SAFETY: the caller's promise: the elements are there, and one more after them.
        unsafe {
            let first = from.add(2 * at);
            let low = _mm512_loadu_si512(first.cast());
            let high = _mm512_loadu_si512(first.add(each).cast());
            _mm512_storeu_si512(to.add(at).cast(), _mm512_permutex2var_epi32(low, order, high));
        }
    })
}

/// From none to a stride of 2.
///
/// # Safety
/// As for [`copy`].
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn spread<W: Copy>(to: *mut W, from: *const W, nelems: usize) -> usize {
    let order = table(&Lanes::<W>::SPREAD);
    passes(Lanes::<W>::FULL / 2, nelems, |at| {
        // SAFETY: the caller's promise; a lane that the mask leaves out is not accessed.
        unsafe {
            let half = _mm512_castsi256_si512(_mm256_loadu_si256(from.add(at).cast()));
            let spread = _mm512_permutexvar_epi32(order, half);
            _mm512_mask_storeu_epi32(to.add(2 * at).cast(), Lanes::<W>::EVEN, spread);
        }
    })
}

/// From a stride of 2 to a stride of 2.
///
/// # Safety
/// As for [`copy`].
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn keep<W: Copy>(to: *mut W, from: *const W, nelems: usize) -> usize {
    passes(Lanes::<W>::FULL / 2, nelems, |at| {
        // SAFETY: the caller's promise; a lane that the mask leaves out is not accessed.
        unsafe {
            let v = _mm512_maskz_loadu_epi32(Lanes::<W>::EVEN, from.add(2 * at).cast());
            _mm512_mask_storeu_epi32(to.add(2 * at).cast(), Lanes::<W>::EVEN, v);
        }
    })
}
