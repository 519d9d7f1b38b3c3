//! Strided all-to-all: as all-to-all, with element `e` of block `b` at index
//! `stride * (b * nelems + e)` of either array.
#![allow(unsafe_code)]

use super::group::{Group, others_first};

/// What a strided all-to-all moves.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Elements between two of dest.
    pub dst: usize,
    /// Elements between two of source.
    pub sst: usize,
    /// Elements of a block.
    pub nelems: usize,
    /// Bytes of an element.
    pub elem_bytes: usize,
}

/// The direct algorithm: every member picks its elements out of every source, its
/// successor's first. Two steps; each member moves `size * nelems` elements once.
///
/// # Safety
/// `source` is readable and `dest` writable at the indices of all members' blocks,
/// not overlapping, and no PE accesses them in conflict with the call.
pub unsafe fn direct<G: Group>(group: &G, dest: *mut u8, source: *const u8, shape: Shape) {
    let Shape { dst, sst, nelems, elem_bytes } = shape;
    let me = group.index();
    let ready = group.announce();
    for member in others_first(me, group.size()) {
        group.await_member(ready, member);
        let from = if member == me {
            source
        } else {
            group.peer("source", source as usize, member) as *const u8
        };
        let from = from.wrapping_add(sst * me * nelems * elem_bytes);
        let to = dest.wrapping_add(dst * member * nelems * elem_bytes);
        // SAFETY: the member is ready and waits below; the rest is the caller's promise.
        unsafe { copy_strided(to, from, shape) }
    }
    let copied = group.announce();
    group.await_all(copied);
}

/// Copies one block.
///
/// # Safety
/// Both sides are accessible at `nelems` elements, their strides apart.
unsafe fn copy_strided(to: *mut u8, from: *const u8, shape: Shape) {
    // SAFETY: the caller's promise, passed on with the element's size made constant.
    unsafe {
        match shape.elem_bytes {
            1 => copy_elements::<1>(to, from, shape),
            2 => copy_elements::<2>(to, from, shape),
            4 => copy_elements::<4>(to, from, shape),
            8 => copy_elements::<8>(to, from, shape),
            16 => copy_elements::<16>(to, from, shape),
            _ => copy_each(to, from, shape),
        }
    }
}

/// # Safety
/// As [`copy_strided`], with elements of `BYTES` bytes.
unsafe fn copy_elements<const BYTES: usize>(to: *mut u8, from: *const u8, shape: Shape) {
    let (to, from) = (to.cast::<[u8; BYTES]>(), from.cast::<[u8; BYTES]>());
    for e in 0..shape.nelems {
        // SAFETY: the caller's promise; arrays of bytes have no alignment.
        unsafe { std::ptr::copy_nonoverlapping(from.add(shape.sst * e), to.add(shape.dst * e), 1) }
    }
}

/// # Safety
/// As [`copy_strided`].
unsafe fn copy_each(to: *mut u8, from: *const u8, shape: Shape) {
    let bytes = shape.elem_bytes;
    for e in 0..shape.nelems {
        let (to, from) =
            (to.wrapping_add(shape.dst * e * bytes), from.wrapping_add(shape.sst * e * bytes));
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
    }
}
