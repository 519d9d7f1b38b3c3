//! Remote memory access (specification, section 9.6): put, get, single elements, strided and
//! block-strided forms. The nonblocking forms are the same functions: on one node a copy is
//! complete when the call returns. For PEs on other nodes, the routine's name decides which form it
//! is.
//!
//! Every function takes the name of the C routine that it serves, for messages. `dest` of a put and
//! `source` of a get are symmetric addresses of the calling PE; counts and strides are in elements.
//! Safe code calls these functions: the guarantees for the memory that they copy were given when
//! the operands were made, see [`memory`](crate::argument::memory).
#![allow(unsafe_code)]

use crate::argument::memory::{Dest, Object, Source, same_length};
use crate::atomics::{Ordering, compiler_fence};
use crate::engine::{Over, Place};
use crate::error::Routine;
use crate::slow;
use crate::span::Span;
use crate::translate::{Miss, Numbering, PeArg, TABLE, translate, translate_copy};
use onenode::copy;
use std::mem::MaybeUninit;

mod strided;

pub use strided::{extent, ibget, ibput, iget, iput};

/// An element at any alignment, so that a volatile load of it is one move.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Unaligned<T>(T);

/// Whether there are too many elements to copy them inline.
#[inline(always)]
const fn are_many<T>(nelems: usize) -> bool {
    nelems > copy::SMALL / size_of::<T>()
}

/// Copies the elements of `source` to `dest` on PE `pe`.
#[inline(always)]
pub fn put<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Object<'_, T>,
    source: Source<'_, T>,
    pe: PeArg,
) {
    let nelems = same_length(dest.len(), source.len());
    let (dest, source) = (dest.at(), source.at());
    if are_many::<T>(nelems) {
        // SAFETY: the operands have `nelems` elements, as `put_many` requires.
        return unsafe { put_many(ctx, dest, source, nelems, pe, routine) };
    }
    match translate_copy(ctx, dest as usize, pe, Ok, Err) {
        // SAFETY: the elements of a `Source` are readable. `dest` is symmetric, so all of it is in
        // `pe`'s mirror of the slot, and writable.
        Ok(to) => unsafe { copy::few(to as *mut T, source, nelems) },
        // SAFETY: the operands have `nelems` elements, as `put_slow` requires.
        Err(miss) => unsafe { put_slow(ctx, miss, source, nelems, pe, routine) },
    }
}

// The functions below take their arguments in the order of the C routines, and the context as its
// type, which needs no register for the default context. So all arguments are in the right
// registers already, and the hot path moves none. What they require of `dest` is what an `Object`
// of `nelems` elements guarantees, and of `source` what a `Source` does.

/// # Safety
/// `dest` and `source` come from operands with `nelems` elements.
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
    if !TABLE.has_room(dest as usize, bytes) {
        let miss = TABLE.miss(dest as usize);
        // SAFETY: the same operands.
        return unsafe { put_slow(ctx, miss, source, nelems, pe, routine) };
    }
    match translate_copy(ctx, dest as usize, pe, Ok, Err) {
        // SAFETY: `bytes` bytes of the segment follow `dest`, and so follow `to`
        // in `pe`'s mirror; a `Source` is readable.
        Ok(to) => unsafe { copy::large(to as *mut u8, source.cast(), bytes) },
        // SAFETY: the same operands.
        Err(miss) => unsafe { put_slow(ctx, miss, source, nelems, pe, routine) },
    }
}

/// # Safety
/// `source` comes from an operand with `nelems` elements, and `miss` from the address of an object
/// with as many.
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
        // SAFETY: `beside_devices` found all of dest in a piece of the slot that `pe`'s mirror has
        // at `to`, and `source` in the processor's memory, where a `Source` is readable.
        return unsafe { copy::elements(to as *mut T, source, nelems) };
    }
    if nelems == 0 {
        return slow::check_pe(routine, ctx.handle(), pe);
    }
    let span = Span::elements("nelems", nelems, size_of::<T>());
    let to = slow::access(routine, &slow::PUT, ctx.handle(), miss, pe, span);
    slow::check_own_span(routine, "source", source as usize, span);
    // SAFETY: `access` returns only with a place for the whole span. A `Source` is readable: by the
    // processor if it is on no device, else by the device, and until a quiet if `routine` does not
    // block.
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
/// known to be in the processor's memory: the other side is symmetric, too.
fn beside_devices<C: Numbering>(
    ctx: C,
    symmetric: usize,
    own: usize,
    bytes: usize,
    pe: PeArg,
) -> Option<usize> {
    let mapped = translate(ctx, symmetric, pe, Some, |_| None)?;
    (TABLE.surely_symmetric(own) && TABLE.has_room(symmetric, bytes)).then_some(mapped)
}

/// Copies the elements of `source` on PE `pe` to `dest`.
#[inline(always)]
pub fn get<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Dest<'_, T>,
    source: Object<'_, T>,
    pe: PeArg,
) {
    let nelems = same_length(dest.len(), source.len());
    let (dest, source) = (dest.at(), source.at().cast_const());
    if are_many::<T>(nelems) {
        // SAFETY: the operands have `nelems` elements, as `get_many` requires.
        return unsafe { get_many(ctx, dest, source, nelems, pe, routine) };
    }
    match translate_copy(ctx, source as usize, pe, Ok, Err) {
        // SAFETY: the elements of a `Dest` are writable. `source` is symmetric, so all of it is in
        // `pe`'s mirror of the slot, and readable.
        Ok(from) => unsafe { copy::few(dest, from as *const T, nelems) },
        // SAFETY: the operands have `nelems` elements, as `get_slow` requires.
        Err(miss) => unsafe { get_slow(ctx, dest, miss, nelems, pe, routine) },
    }
}

/// # Safety
/// `dest` and `source` come from operands with `nelems` elements.
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
    if !TABLE.has_room(source as usize, bytes) {
        let miss = TABLE.miss(source as usize);
        // SAFETY: the same operands.
        return unsafe { get_slow(ctx, dest, miss, nelems, pe, routine) };
    }
    match translate_copy(ctx, source as usize, pe, Ok, Err) {
        // SAFETY: `bytes` bytes of the segment follow `source`, and so follow
        // `from` in `pe`'s mirror; a `Dest` is writable.
        Ok(from) => unsafe { copy::large(dest.cast(), from as *const u8, bytes) },
        // SAFETY: the same operands.
        Err(miss) => unsafe { get_slow(ctx, dest, miss, nelems, pe, routine) },
    }
}

/// # Safety
/// `dest` comes from an operand with `nelems` elements, and `miss` from the address of an object
/// with as many.
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
        // SAFETY: `beside_devices` found all of the source in a piece of the slot that `pe`'s
        // mirror has at `from`, and `dest` in the processor's memory, where a `Dest` is writable.
        return unsafe { copy::elements(dest, from as *const T, nelems) };
    }
    if nelems == 0 {
        return slow::check_pe(routine, ctx.handle(), pe);
    }
    let span = Span::elements("nelems", nelems, size_of::<T>());
    let from = slow::access(routine, &slow::GET, ctx.handle(), miss, pe, span);
    slow::check_own_span(routine, "dest", dest as usize, span);
    // SAFETY: `access` returns only with a place for the whole span. A `Dest` is writable: by the
    // processor if it is on no device, else by the device, and until a quiet if `routine` does not
    // block.
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
#[inline(always)]
pub fn p<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Object<'_, T>,
    value: T,
    pe: PeArg,
) {
    same_length(dest.len(), 1);
    translate(
        ctx,
        dest.address(),
        pe,
        |to| {
            // SAFETY: `dest` is symmetric, so a whole `T` is at `to` in `pe`'s mirror.
            unsafe { (to as *mut T).write_unaligned(value) };
            // Not volatile, which would move an unaligned element through the stack. But a loop
            // that polls for the answer must not delay the store.
            compiler_fence(Ordering::SeqCst);
        },
        // SAFETY: `dest` is an object of one `T`.
        |miss| unsafe { p_slow(ctx, miss, value, pe, routine) },
    )
}

/// # Safety
/// `miss` comes from the address of an object of one `T`.
#[cold]
#[inline(never)]
unsafe fn p_slow<T: Copy, C: Numbering>(ctx: C, miss: Miss, value: T, pe: PeArg, routine: Routine) {
    let to =
        slow::access(routine, &slow::PUT, ctx.handle(), miss, pe, Span::object(size_of::<T>()));
    // SAFETY: `access` returns only with a place for the element; the value is a local of that
    // size.
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
#[inline(always)]
pub fn g<T: Copy, C: Numbering>(routine: Routine, ctx: C, source: Object<'_, T>, pe: PeArg) -> T {
    same_length(source.len(), 1);
    translate(
        ctx,
        source.address(),
        pe,
        // SAFETY: `source` is symmetric, so a whole `T` is at `from` in `pe`'s mirror.
        |from| unsafe { (from as *const Unaligned<T>).read_volatile().0 },
        // SAFETY: `source` is an object of one `T`.
        |miss| unsafe { g_slow(ctx, miss, pe, routine) },
    )
}

/// # Safety
/// `miss` comes from the address of an object of one `T`.
#[cold]
#[inline(never)]
unsafe fn g_slow<T: Copy, C: Numbering>(ctx: C, miss: Miss, pe: PeArg, routine: Routine) -> T {
    let from =
        slow::access(routine, &slow::GET, ctx.handle(), miss, pe, Span::object(size_of::<T>()));
    // SAFETY: `access` returns only with a place for the element. The element's value is a `T`, as
    // in any object; the engine fills in all bytes of the local.
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
