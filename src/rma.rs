//! Remote memory access (specification, section 9.5): put, get, single
//! elements, strided and block-strided forms. The nonblocking forms are the
//! same functions: on one node a copy is complete when the call returns.
//!
//! Every function takes the name of the C routine it serves, used only in
//! messages. `dest` of a put and `source` of a get are symmetric addresses of the
//! calling PE; counts and strides are in elements.
#![allow(unsafe_code)]

use crate::error::Routine;
use crate::slow;
use crate::translate::{Miss, Numbering, PeArg, translate};

/// An element at any alignment, so that a volatile access to it is one move.
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
        // SAFETY: the target lies in `pe`'s mirror.
        |to| unsafe { (to as *mut Unaligned<T>).write_volatile(Unaligned(value)) },
        // SAFETY: the caller's promise, passed on.
        |miss| unsafe { p_slow(miss, value, pe, routine, ctx.handle()) },
    )
}

#[cold]
#[inline(never)]
unsafe fn p_slow<T: Copy>(miss: Miss, value: T, pe: PeArg, routine: Routine, ctx: usize) {
    let to = slow::resolve(routine, "dest", ctx, miss, pe);
    // SAFETY: `resolve` returns only with an address inside `pe`'s mirror.
    unsafe { (to as *mut Unaligned<T>).write_volatile(Unaligned(value)) }
}
