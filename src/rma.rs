//! Remote memory access (specification, section 9.5): put, get, single
//! elements, strided and block-strided forms. The nonblocking forms are the
//! same functions: on one node a copy is complete when the call returns.
//!
//! Every function takes the name of the C routine it serves, used only in
//! messages. `dest` of a put and `source` of a get are symmetric addresses of the
//! calling PE; counts and strides are in elements.
#![allow(unsafe_code)]

use crate::atomics::{Ordering, compiler_fence};
use crate::error::Routine;
use crate::slow;
use crate::translate::{Miss, Numbering, PeArg, translate};

mod strided;

pub use strided::{ibget, ibput, iget, iput};

/// An element at any alignment, so that a volatile load of it is one move.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Unaligned<T>(T);

/// Copies `nelems` elements from `source` to `dest` on PE `pe`.
///
/// # Safety
/// `source` is readable for `nelems` elements, and no PE accesses the
/// destination in conflict with the call.
#[inline(always)]
pub unsafe fn put<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe: PeArg,
) {
    translate(
        ctx,
        dest as usize,
        pe,
        // SAFETY: the target lies in `pe`'s mirror; the rest is the caller's promise.
        |to| unsafe { std::ptr::copy_nonoverlapping(source, to as *mut T, nelems) },
        |miss| {
            let bytes = nelems.wrapping_mul(size_of::<T>());
            // SAFETY: the caller's promise, passed on.
            unsafe { put_slow(miss, source.cast(), bytes, pe, routine, ctx.handle()) }
        },
    )
}

#[cold]
#[inline(never)]
unsafe fn put_slow(
    miss: Miss,
    source: *const u8,
    bytes: usize,
    pe: PeArg,
    routine: Routine,
    ctx: usize,
) {
    if bytes == 0 {
        return slow::check_pe(routine, ctx, pe);
    }
    let to = slow::resolve(routine, "dest", ctx, miss, pe);
    // SAFETY: `resolve` returns only with an address inside `pe`'s mirror.
    unsafe { std::ptr::copy_nonoverlapping(source, to as *mut u8, bytes) }
}

/// Copies `nelems` elements from `source` on PE `pe` to `dest`.
///
/// # Safety
/// `dest` is writable for `nelems` elements, and no PE accesses the source in
/// conflict with the call.
#[inline(always)]
pub unsafe fn get<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe: PeArg,
) {
    translate(
        ctx,
        source as usize,
        pe,
        // SAFETY: the source lies in `pe`'s mirror; the rest is the caller's promise.
        |from| unsafe { std::ptr::copy_nonoverlapping(from as *const T, dest, nelems) },
        |miss| {
            let bytes = nelems.wrapping_mul(size_of::<T>());
            // SAFETY: the caller's promise, passed on.
            unsafe { get_slow(dest.cast(), miss, bytes, pe, routine, ctx.handle()) }
        },
    )
}

#[cold]
#[inline(never)]
unsafe fn get_slow(
    dest: *mut u8,
    miss: Miss,
    bytes: usize,
    pe: PeArg,
    routine: Routine,
    ctx: usize,
) {
    if bytes == 0 {
        return slow::check_pe(routine, ctx, pe);
    }
    let from = slow::resolve(routine, "source", ctx, miss, pe);
    // SAFETY: `resolve` returns only with an address inside `pe`'s mirror.
    unsafe { std::ptr::copy_nonoverlapping(from as *const u8, dest, bytes) }
}

/// Stores one element at `dest` on PE `pe`.
///
/// # Safety
/// No PE accesses the destination in conflict with the call.
#[inline(always)]
pub unsafe fn p<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: *mut T,
    value: T,
    pe: PeArg,
) {
    translate(
        ctx,
        dest as usize,
        pe,
        |to| {
            // SAFETY: the target lies in `pe`'s mirror.
            unsafe { (to as *mut T).write_unaligned(value) };
            // Not volatile, which would go through the stack for an unaligned element;
            // but a loop that polls for the answer must not delay the store.
            compiler_fence(Ordering::SeqCst);
        },
        // SAFETY: the caller's promise, passed on.
        |miss| unsafe { p_slow(miss, value, pe, routine, ctx.handle()) },
    )
}

#[cold]
#[inline(never)]
unsafe fn p_slow<T: Copy>(miss: Miss, value: T, pe: PeArg, routine: Routine, ctx: usize) {
    let to = slow::resolve(routine, "dest", ctx, miss, pe);
    // SAFETY: `resolve` returns only with an address inside `pe`'s mirror.
    unsafe { (to as *mut T).write_unaligned(value) }
}

/// Loads one element from `source` on PE `pe`.
///
/// # Safety
/// No PE writes the source in conflict with the call, and what lies there is a `T`.
#[inline(always)]
pub unsafe fn g<T: Copy, C: Numbering>(routine: Routine, ctx: C, source: *const T, pe: PeArg) -> T {
    translate(
        ctx,
        source as usize,
        pe,
        // SAFETY: the source lies in `pe`'s mirror.
        |from| unsafe { (from as *const Unaligned<T>).read_volatile().0 },
        // SAFETY: the caller's promise, passed on.
        |miss| unsafe { g_slow(miss, pe, routine, ctx.handle()) },
    )
}

#[cold]
#[inline(never)]
unsafe fn g_slow<T: Copy>(miss: Miss, pe: PeArg, routine: Routine, ctx: usize) -> T {
    let from = slow::resolve(routine, "source", ctx, miss, pe);
    // SAFETY: `resolve` returns only with an address inside `pe`'s mirror.
    unsafe { (from as *const Unaligned<T>).read_volatile().0 }
}

#[cfg(test)]
mod tests;
