//! Strided copies.
//!
//! Processors are best at single moves: two per cycle. Collecting elements in a register to save
//! stores or loads takes as long, and the processor's own gather takes longer: 1.9 to 2.5 times as
//! long on a Zen 5 for memory in the first-level cache. For every second element, vectors of both
//! halves are faster ([`pairs`]).
#![allow(unsafe_code)]

use crate::arch::pairs;
use std::mem::MaybeUninit;

/// Copies `nelems` elements that are `sst` elements apart at `from` to places `dst` apart at `to`.
///
/// # Safety
/// The elements at `from` are readable and those at `to` writable, at any alignment. They do not
/// overlap, or are the same. Both strides are at least 1.
#[inline(always)]
pub unsafe fn strided<T: Copy>(to: *mut T, from: *const T, dst: isize, sst: isize, nelems: usize) {
    // SAFETY: the caller guarantees that the elements are readable and writable. A `MaybeUninit` is
    // moved unchanged, whatever it holds. The code is compiled per size, not per type.
    unsafe {
        match size_of::<T>() {
            1 => each::<MaybeUninit<u8>>(to.cast(), from.cast(), dst, sst, nelems),
            2 => each::<MaybeUninit<u16>>(to.cast(), from.cast(), dst, sst, nelems),
            4 => each::<MaybeUninit<u32>>(to.cast(), from.cast(), dst, sst, nelems),
            8 => each::<MaybeUninit<u64>>(to.cast(), from.cast(), dst, sst, nelems),
            16 => each::<MaybeUninit<[u64; 2]>>(to.cast(), from.cast(), dst, sst, nelems),
            _ => each(to, from, dst, sst, nelems),
        }
    }
}

/// [`strided`] for one kind of move.
///
/// # Safety
/// As for [`strided`].
#[inline(never)]
unsafe fn each<W: Copy>(to: *mut W, from: *const W, dst: isize, sst: isize, nelems: usize) {
    // SAFETY: the caller guarantees the same. If both strides are 1, the `nelems` elements are
    // contiguous.
    unsafe {
        match dst.max(sst) {
            1 => super::elements(to, from, nelems),
            2 if pairs::pay(nelems) && matches!(size_of::<W>(), 4 | 8) => {
                second(to, from, dst, sst, nelems);
            }
            _ => moves(to, from, dst, sst, nelems),
        }
    }
}

/// [`strided`] for every second element on one or both sides.
///
/// # Safety
/// As for [`pairs::copy`].
#[inline(never)]
unsafe fn second<W: Copy>(to: *mut W, from: *const W, dst: isize, sst: isize, nelems: usize) {
    // SAFETY: the caller guarantees what `pairs::copy` requires. The rest starts after the elements
    // that it has copied.
    unsafe {
        let done = pairs::copy(to, from, dst, sst, nelems);
        let (to, from) = (to.offset(done as isize * dst), from.offset(done as isize * sst));
        moves(to, from, dst, sst, nelems - done);
    }
}

/// [`strided`] by one move per element.
///
/// # Safety
/// As for [`strided`].
#[inline(never)]
unsafe fn moves<W: Copy>(to: *mut W, from: *const W, dst: isize, sst: isize, nelems: usize) {
    for i in 0..nelems as isize {
        // Wrapping avoids checks and lets the compiler step through both as it prefers.
        let from = from.wrapping_offset(i.wrapping_mul(sst));
        let to = to.wrapping_offset(i.wrapping_mul(dst));
        // SAFETY: the caller guarantees that each element is readable and writable.
        unsafe { to.write_unaligned(from.read_unaligned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies, then checks every byte of the destination.
    fn check<const BYTES: usize>(dst: usize, sst: usize, n: usize, shift: usize) {
        let at = |stride: usize, i: usize| shift + stride * i * BYTES;
        let source: Vec<u8> = (0..at(sst, n)).map(|i| (i % 251) as u8).collect();
        let mut dest = vec![0xff; at(dst, n) + BYTES];
        let mut expected = dest.clone();
        for i in 0..n {
            let from = at(sst, i);
            expected[at(dst, i)..][..BYTES].copy_from_slice(&source[from..from + BYTES]);
        }
        // The source ends with the last element. The destination ends with a byte that must not
        // change.
        let last = n.saturating_sub(1);
        let source = &source[..if n == 0 { shift } else { at(sst, last) + BYTES }];
        let (to, from) = (dest[shift..].as_mut_ptr(), source[shift..].as_ptr());
        // SAFETY: both buffers are large enough; byte arrays need no alignment.
        unsafe {
            strided(to.cast::<[u8; BYTES]>(), from.cast(), dst as isize, sst as isize, n);
        }
        assert!(dest == expected, "{n} of {BYTES} bytes, {sst} apart, to {dst} apart");
    }

    #[test]
    fn every_element_and_nothing_else() {
        for (dst, sst) in [(1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (2, 3), (5, 4)] {
            for n in (0..100).chain([1000]) {
                check::<1>(dst, sst, n, n % 7);
                check::<2>(dst, sst, n, n % 7);
                check::<3>(dst, sst, n, n % 7);
                check::<4>(dst, sst, n, n % 7);
                check::<8>(dst, sst, n, n % 7);
                check::<16>(dst, sst, n, n % 7);
            }
        }
    }
}
