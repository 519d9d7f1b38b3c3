//! Copies between this PE's memory and memory shared with other PEs: puts and gets after address
//! translation.
//!
//! ```text
//!  one element              one load, one store
//!  to 64 bytes              the head, then the tail, which may overlap: no loop, no call
//!  more                     one call: see large.rs
//!  from 256 KiB on          pages made first: see touch.rs
//!  at a stride              one move an element, or vectors: see strided.rs
//! ```
//!
//! Neither side need be aligned, whatever the element type. As with `memcpy`, the two sides do not
//! overlap; they may also be the same. Unlike with `memcpy`, a copy is ordered before later stores
//! even if it bypasses the caches, so that fences can ignore it.
#![allow(unsafe_code)]

use crate::atomics::{Ordering, compiler_fence};

mod large;
mod machine;
mod methods;
mod strided;
mod touch;

pub use large::large;
pub use methods::{Methods, set as set_methods};
pub use strided::strided;

/// The limits between the methods that suit this processor.
pub fn built_in() -> Methods {
    machine::built_in()
}

/// The limits in use.
pub fn methods() -> Methods {
    methods::in_use().unwrap_or_else(built_in)
}

/// Prepares a copy of at least a piece: makes the pages that will be written. First reads the first and
/// the last byte of the source: a null pointer faults at null, and a source that is much shorter than the
/// program says faults here, not after as much memory has been made and filled as it has.
///
/// # Safety
/// As for [`elements`], for at least one byte.
unsafe fn before_large(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller guarantees that these bytes are readable. Volatile, since others may write
    // to them, and the compiler must not leave the accesses out.
    unsafe {
        from.read_volatile();
        from.add(bytes - 1).read_volatile();
    }
    touch::before_writing(to.addr(), bytes);
}

/// Most bytes that are copied without a call.
pub const SMALL: usize = 64;

/// Copies `nelems` elements.
///
/// # Safety
/// `from` is readable and `to` writable for `nelems` elements, at any alignment. They do not
/// overlap, or are the same.
#[inline(always)]
pub unsafe fn elements<T: Copy>(to: *mut T, from: *const T, nelems: usize) {
    // Cannot overflow: no more elements are readable than memory holds.
    let bytes = nelems.wrapping_mul(size_of::<T>());
    // SAFETY: the caller guarantees that these bytes are readable and writable, and disjoint or the
    // same.
    unsafe {
        if bytes > SMALL { large(to.cast(), from.cast(), bytes) } else { few(to, from, nelems) }
    }
}

/// Copies elements of at most [`SMALL`] bytes in total.
///
/// # Safety
/// As for [`elements`].
#[inline(always)]
pub unsafe fn few<T: Copy>(to: *mut T, from: *const T, nelems: usize) {
    // A loop that polls with gets must load again each time. A loop that polls for the answer to a
    // put must not delay the put's stores.
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the caller guarantees that these bytes are readable and writable.
    unsafe {
        if size_of::<T>() > 1 && nelems == 1 {
            to.write_unaligned(from.read_unaligned());
        } else {
            small::<T>(to.cast(), from.cast(), nelems * size_of::<T>());
        }
    }
    compiler_fence(Ordering::SeqCst);
}

/// Copies `bytes` bytes, by the method that suits the processor, the size and the distance.
///
/// # Safety
/// `from` is readable and `to` writable for that many bytes, at any alignment. They do not overlap,
/// or are the same.
#[inline]
pub unsafe fn bytes(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller guarantees that so many elements of one byte are readable and writable, and disjoint or
    // the same.
    unsafe { elements(to, from, bytes) }
}

/// Copies `bytes` bytes in a collective, whose copies take `together` bytes of memory, of all members'
/// sources and dests, or 0. Past the caches if that is more than they hold.
///
/// # Safety
/// As for [`elements`].
#[inline(always)]
pub unsafe fn bytes_of_many(to: *mut u8, from: *const u8, bytes: usize, together: usize) {
    // A limit of 0 has not been set yet.
    let past_caches = bytes >= touch::PIECE && (1..together).contains(&methods::together_to());
    // SAFETY: the caller guarantees that so many bytes are readable and writable, and disjoint or the same. A
    // copy past the caches has at least a piece.
    unsafe {
        match past_caches {
            true => large::past_caches(to, from, bytes),
            false => elements(to, from, bytes),
        }
    }
}

/// Copies whole elements of at most 64 bytes in total.
///
/// # Safety
/// As for [`elements`].
#[inline(always)]
unsafe fn small<T>(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: each call copies within the `bytes` bytes, which the caller guarantees.
    unsafe {
        if bytes <= 16 {
            if bytes >= 8 {
                ends::<u64>(to, from, bytes);
            } else if size_of::<T>() < 8 && bytes >= 4 {
                ends::<u32>(to, from, bytes);
            } else if size_of::<T>() < 4 && bytes >= 2 {
                ends::<u16>(to, from, bytes);
            } else if size_of::<T>() < 2 && bytes > 0 {
                *to = *from;
            }
        } else if bytes <= 32 {
            ends::<[u8; 16]>(to, from, bytes);
        } else {
            ends::<[u8; 32]>(to, from, bytes);
        }
    }
}

/// Copies one `W` at the start and one at the end. Together they cover all bytes if they meet or
/// overlap.
///
/// # Safety
/// As for [`elements`]. A `W` has at most `bytes` bytes.
#[inline(always)]
unsafe fn ends<W: Copy>(to: *mut u8, from: *const u8, bytes: usize) {
    let tail = bytes - size_of::<W>();
    // SAFETY: the caller guarantees that a `W` has at most `bytes` bytes, so both moves stay within
    // the readable and writable bytes.
    unsafe {
        to.cast::<W>().write_unaligned(from.cast::<W>().read_unaligned());
        to.add(tail).cast::<W>().write_unaligned(from.add(tail).cast::<W>().read_unaligned());
    }
}

#[cfg(test)]
mod tests;
