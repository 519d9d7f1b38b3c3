//! Remote memory access (specification, section 9.5): put, get, single
//! elements, strided and block-strided forms. The nonblocking forms are the
//! same functions: on one node a copy is complete when the call returns. Towards PEs of other
//! nodes the routine's name tells which form it is.
//!
//! Every function takes the name of the C routine it serves, used only in
//! messages. `dest` of a put and `source` of a get are symmetric addresses of the
//! calling PE; counts and strides are in elements.
#![allow(unsafe_code)]

use crate::atomics::{Ordering, compiler_fence};
use crate::engine::{Over, Place};
use crate::error::Routine;
use crate::slow;
use crate::span::Span;
use crate::translate::{Miss, Numbering, PeArg, TABLE, translate, translate_copy};
use onenode::copy;
use std::mem::MaybeUninit;

mod strided;

pub use strided::{ibget, ibput, iget, iput};

/// An element at any alignment, so that a volatile load of it is one move.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Unaligned<T>(T);

/// Whether so many elements are more than is copied without a call.
#[inline(always)]
const fn are_many<T>(nelems: usize) -> bool {
    nelems > copy::SMALL / size_of::<T>()
}

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
    if are_many::<T>(nelems) {
        // SAFETY: the caller's promise, passed on.
        return unsafe { put_many(ctx, dest, source, nelems, pe, routine) };
    }
    match translate_copy(ctx, dest as usize, pe, Ok, Err) {
        // SAFETY: the target lies in `pe`'s mirror; the rest is the caller's promise.
        Ok(to) => unsafe { copy::few(to as *mut T, source, nelems) },
        // SAFETY: the caller's promise, passed on.
        Err(miss) => unsafe { put_slow(ctx, miss, source, nelems, pe, routine) },
    }
}

// The functions behind take their arguments in the order of the C routines, and the
// context as its type, which is nothing for the default one: so all are in the right
// registers already, and the hot path moves none.
#[inline(never)]
unsafe fn put_many<T: Copy, C: Numbering>(
    ctx: C,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe: PeArg,
    routine: Routine,
) {
    let bytes = nelems.saturating_mul(size_of::<T>());
    if bytes > TABLE.room(dest as usize) {
        // SAFETY: the caller's promise, passed on.
        return unsafe { put_elsewhere(ctx, dest, source, nelems, pe, routine) };
    }
    match translate_copy(ctx, dest as usize, pe, Ok, Err) {
        // SAFETY: all of the target lies in `pe`'s mirror; the rest is the caller's promise.
        Ok(to) => unsafe { copy::large(to as *mut u8, source.cast(), bytes) },
        // SAFETY: the caller's promise, passed on.
        Err(miss) => unsafe { put_slow(ctx, miss, source, nelems, pe, routine) },
    }
}

/// In a job with partitions; or more than the segment has from there.
#[cold]
#[inline(never)]
unsafe fn put_elsewhere<T: Copy, C: Numbering>(
    ctx: C,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe: PeArg,
    routine: Routine,
) {
    let bytes = nelems.saturating_mul(size_of::<T>());
    let mapped = translate_copy(ctx, dest as usize, pe, Some, |_| None);
    // SAFETY: all of the target lies in `pe`'s mirror; the rest is the caller's promise.
    unsafe {
        match mapped.filter(|_| TABLE.is_in_a_piece(dest as usize, bytes)) {
            Some(to) => copy::large(to as *mut u8, source.cast(), bytes),
            None => put_slow(ctx, TABLE.miss(dest as usize), source, nelems, pe, routine),
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn put_slow<T: Copy, C: Numbering>(
    ctx: C,
    miss: Miss,
    source: *const T,
    nelems: usize,
    pe: PeArg,
    routine: Routine,
) {
    let bytes = nelems.saturating_mul(size_of::<T>());
    if let Some(to) = beside_devices(ctx, TABLE.address(miss), source as usize, bytes, pe) {
        // SAFETY: all of the target lies in `pe`'s mirror; the rest is the caller's promise.
        return unsafe { copy::elements(to as *mut T, source, nelems) };
    }
    if nelems == 0 {
        return slow::check_pe(routine, ctx.handle(), pe);
    }
    let span = Span::elements("nelems", nelems, size_of::<T>());
    let to = slow::access(routine, &slow::PUT, ctx.handle(), miss, pe, span);
    slow::check_own_span(routine, "source", source as usize, span);
    // SAFETY: `access` returns only with a place for all of it; the rest is the caller's promise.
    unsafe {
        match to {
            Place::Near(to) => match slow::devices_of(routine, &[source.addr()]) {
                None => copy::elements(to as *mut T, source, nelems),
                Some(devices) => devices.copy(to as *mut u8, source.cast(), span.accessed),
            },
            Place::Far(engine, to) => {
                engine.put(to, source.cast(), span.accessed, Over::of(routine));
            }
        }
    }
}

/// Where the symmetric side of a transfer is mapped here, in a job with devices, if both sides are
/// surely the processor's memory: the other one is symmetric, too.
fn beside_devices<C: Numbering>(
    ctx: C,
    symmetric: usize,
    own: usize,
    bytes: usize,
    pe: PeArg,
) -> Option<usize> {
    let mapped = translate(ctx, symmetric, pe, Some, |_| None)?;
    (TABLE.surely_symmetric(own) && TABLE.is_in_a_piece(symmetric, bytes)).then_some(mapped)
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
    if are_many::<T>(nelems) {
        // SAFETY: the caller's promise, passed on.
        return unsafe { get_many(ctx, dest, source, nelems, pe, routine) };
    }
    match translate_copy(ctx, source as usize, pe, Ok, Err) {
        // SAFETY: the source lies in `pe`'s mirror; the rest is the caller's promise.
        Ok(from) => unsafe { copy::few(dest, from as *const T, nelems) },
        // SAFETY: the caller's promise, passed on.
        Err(miss) => unsafe { get_slow(ctx, dest, miss, nelems, pe, routine) },
    }
}

#[inline(never)]
unsafe fn get_many<T: Copy, C: Numbering>(
    ctx: C,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe: PeArg,
    routine: Routine,
) {
    let bytes = nelems.saturating_mul(size_of::<T>());
    if bytes > TABLE.room(source as usize) {
        // SAFETY: the caller's promise, passed on.
        return unsafe { get_elsewhere(ctx, dest, source, nelems, pe, routine) };
    }
    match translate_copy(ctx, source as usize, pe, Ok, Err) {
        // SAFETY: all of the source lies in `pe`'s mirror; the rest is the caller's promise.
        Ok(from) => unsafe { copy::large(dest.cast(), from as *const u8, bytes) },
        // SAFETY: the caller's promise, passed on.
        Err(miss) => unsafe { get_slow(ctx, dest, miss, nelems, pe, routine) },
    }
}

/// In a job with partitions; or more than the segment has from there.
#[cold]
#[inline(never)]
unsafe fn get_elsewhere<T: Copy, C: Numbering>(
    ctx: C,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe: PeArg,
    routine: Routine,
) {
    let bytes = nelems.saturating_mul(size_of::<T>());
    let mapped = translate_copy(ctx, source as usize, pe, Some, |_| None);
    // SAFETY: all of the source lies in `pe`'s mirror; the rest is the caller's promise.
    unsafe {
        match mapped.filter(|_| TABLE.is_in_a_piece(source as usize, bytes)) {
            Some(from) => copy::large(dest.cast(), from as *const u8, bytes),
            None => get_slow(ctx, dest, TABLE.miss(source as usize), nelems, pe, routine),
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn get_slow<T: Copy, C: Numbering>(
    ctx: C,
    dest: *mut T,
    miss: Miss,
    nelems: usize,
    pe: PeArg,
    routine: Routine,
) {
    let bytes = nelems.saturating_mul(size_of::<T>());
    if let Some(from) = beside_devices(ctx, TABLE.address(miss), dest as usize, bytes, pe) {
        // SAFETY: all of the source lies in `pe`'s mirror; the rest is the caller's promise.
        return unsafe { copy::elements(dest, from as *const T, nelems) };
    }
    if nelems == 0 {
        return slow::check_pe(routine, ctx.handle(), pe);
    }
    let span = Span::elements("nelems", nelems, size_of::<T>());
    let from = slow::access(routine, &slow::GET, ctx.handle(), miss, pe, span);
    slow::check_own_span(routine, "dest", dest as usize, span);
    // SAFETY: `access` returns only with a place for all of it; the rest is the caller's promise.
    unsafe {
        match from {
            Place::Near(from) => match slow::devices_of(routine, &[dest.addr()]) {
                None => copy::elements(dest, from as *const T, nelems),
                Some(devices) => devices.copy(dest.cast(), from as *const u8, span.accessed),
            },
            Place::Far(engine, from) => {
                engine.get(dest.cast(), from, span.accessed, Over::of(routine));
            }
        }
    }
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
    let to =
        slow::access(routine, &slow::PUT, ctx.handle(), miss, pe, Span::object(size_of::<T>()));
    // SAFETY: `access` returns only with a place for the element.
    unsafe {
        match to {
            Place::Near(to) => (to as *mut T).write_unaligned(value),
            Place::Far(engine, to) => {
                engine.store(to, (&raw const value).cast(), size_of::<T>());
            }
        }
    }
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
    let from =
        slow::access(routine, &slow::GET, ctx.handle(), miss, pe, Span::object(size_of::<T>()));
    // SAFETY: `access` returns only with a place for the element, which the engine fills in.
    unsafe {
        match from {
            Place::Near(from) => (from as *const Unaligned<T>).read_volatile().0,
            Place::Far(engine, from) => {
                let mut value = MaybeUninit::<T>::uninit();
                engine.get(value.as_mut_ptr().cast(), from, size_of::<T>(), Over::AtReturn);
                value.assume_init()
            }
        }
    }
}

#[cfg(test)]
mod tests;
