//! Remote memory access (specification, section 9.5): put, get, single
//! elements, strided and block-strided forms. The nonblocking forms are the
//! same functions: on one node a copy is complete when the call returns.
//!
//! Every function takes the name of the C routine it serves, used only in
//! messages. `dest` of a put and `source` of a get are symmetric addresses of the
//! calling PE; counts and strides are in elements.
#![allow(unsafe_code)]

use crate::atomics::{Ordering, compiler_fence};
use crate::copy;
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
    match translate(ctx, dest as usize, pe, Ok, Err) {
        // SAFETY: the target lies in `pe`'s mirror; the rest is the caller's promise.
        Ok(to) => unsafe { copy::elements(ctx, to as *mut T, source, nelems) },
        Err(miss) => {
            let bytes = nelems.wrapping_mul(size_of::<T>());
            // SAFETY: the caller's promise, passed on.
            unsafe { put_slow(ctx, miss, source.cast(), bytes, pe, routine) }
        }
    }
}

// The slow functions take their arguments in the order of the C routines, and the
// context as its type, which is nothing for the default one: so all are in the right
// registers already, and the hot path moves none.
#[cold]
#[inline(never)]
unsafe fn put_slow<C: Numbering>(
    ctx: C,
    miss: Miss,
    source: *const u8,
    bytes: usize,
    pe: PeArg,
    routine: Routine,
) {
    if bytes == 0 {
        return slow::check_pe(routine, ctx.handle(), pe);
    }
    let to = slow::access(routine, &slow::PUT, ctx.handle(), miss, pe, bytes);
    // SAFETY: `access` returns only with an address inside `pe`'s mirror.
    unsafe { copy::bytes(to as *mut u8, source, bytes) }
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
    match translate(ctx, source as usize, pe, Ok, Err) {
        // SAFETY: the source lies in `pe`'s mirror; the rest is the caller's promise.
        Ok(from) => unsafe { copy::elements(ctx, dest, from as *const T, nelems) },
        Err(miss) => {
            let bytes = nelems.wrapping_mul(size_of::<T>());
            // SAFETY: the caller's promise, passed on.
            unsafe { get_slow(ctx, dest.cast(), miss, bytes, pe, routine) }
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn get_slow<C: Numbering>(
    ctx: C,
    dest: *mut u8,
    miss: Miss,
    bytes: usize,
    pe: PeArg,
    routine: Routine,
) {
    if bytes == 0 {
        return slow::check_pe(routine, ctx.handle(), pe);
    }
    let from = slow::access(routine, &slow::GET, ctx.handle(), miss, pe, bytes);
    // SAFETY: `access` returns only with an address inside `pe`'s mirror.
    unsafe { copy::bytes(dest, from as *const u8, bytes) }
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
        |miss| unsafe { p_slow(ctx, miss, value, pe, routine) },
    )
}

#[cold]
#[inline(never)]
unsafe fn p_slow<T: Copy, C: Numbering>(ctx: C, miss: Miss, value: T, pe: PeArg, routine: Routine) {
    let to = slow::access(routine, &slow::PUT, ctx.handle(), miss, pe, size_of::<T>());
    // SAFETY: `access` returns only with an address inside `pe`'s mirror.
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
        |miss| unsafe { g_slow(ctx, miss, pe, routine) },
    )
}

#[cold]
#[inline(never)]
unsafe fn g_slow<T: Copy, C: Numbering>(ctx: C, miss: Miss, pe: PeArg, routine: Routine) -> T {
    let from = slow::access(routine, &slow::GET, ctx.handle(), miss, pe, size_of::<T>());
    // SAFETY: `access` returns only with an address inside `pe`'s mirror.
    unsafe { (from as *const Unaligned<T>).read_volatile().0 }
}

#[cfg(test)]
mod tests;
