//! Remote memory access (specification, section 9.6): put, get, single elements, strided and
//! block-strided forms. The nonblocking forms are the same functions: on one node a copy is
//! complete when the call returns. For PEs on other nodes, the [`Routine`] decides which form it is.
//!
//! Every function takes the C routine that it serves. `dest` of a put and
//! `source` of a get are symmetric addresses of the calling PE; counts and strides are in elements.
//! Safe code calls these functions: the guarantees for the memory that they copy were given when
//! the operands were made, see [`memory`](crate::argument::memory).
#![allow(unsafe_code)]

use crate::argument::memory::{Dest, Object, Source, same_length};
use crate::atomics::{Ordering, compiler_fence};
use crate::slow::{self, Missed};
use crate::span::Span;
use crate::translate::{Miss, Numbering, PeArg, TABLE, translate, translate_copy};
use onenode_core::copy;
use oneshmem_job::error::Routine;
use oneshmem_job::remote::{AccessTarget, Completion, StridedBlocks};
use std::mem::MaybeUninit;

mod direction;
mod strided;

use direction::{Direction, Get, Put};

pub use strided::{Blocks, iget, iput};

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
    transfer::<Put, T, C>(routine, ctx, dest, source, pe);
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
    transfer::<Get, T, C>(routine, ctx, source, dest, pe);
}

/// Copies elements from one side to the other.
#[inline(always)]
fn transfer<D: Direction, T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    there: Object<'_, T>,
    here: D::Here<'_, T>,
    pe: PeArg,
) {
    let sides = ((there.at(), there.len()), D::here(here));
    let ((dest, of_dest), (source, of_source)) = D::turn(sides);
    let (there, here) = D::turn((dest, source));
    let nelems = same_length(of_dest, of_source);
    if are_many::<T>(nelems) {
        // SAFETY: the operands have `nelems` elements.
        return unsafe { transfer_many::<D, T, C>(ctx, dest, source, nelems, pe, routine) };
    }
    match translate_copy(ctx, there as usize, pe, Ok, Err) {
        Ok(mapped) => {
            let (to, from) = D::turn((mapped as *mut T, here));
            // SAFETY: `there` is symmetric, so all of it is in `pe`'s mirror of the slot, and the side
            // here is the program's to read in a put, to write in a get.
            unsafe { copy::few(to, from.cast_const(), nelems) }
        }
        // SAFETY: the operands have `nelems` elements; `miss` is of the one there.
        Err(miss) => unsafe {
            let (dest, source) = D::turn((miss.to_bits(), here as usize));
            transfer_slow::<D, T, C>(ctx, dest, source, nelems, pe, routine)
        },
    }
}

// The functions below take their arguments in the order of the C routines, and the context as its
// type, which needs no register for the default context. So all arguments are in the right
// registers already, and the hot path moves none.

/// # Safety
/// `dest` and `source` come from operands with `nelems` elements: from an [`Object`] on the other PE,
/// and here from a [`Source`] in a put, a [`Dest`] in a get.
#[inline(never)]
unsafe fn transfer_many<D: Direction, T: Copy, C: Numbering>(
    ctx: C,
    dest: *mut T,
    source: *mut T,
    nelems: usize,
    pe: PeArg,
    routine: Routine,
) {
    let bytes = nelems.saturating_mul(size_of::<T>());
    let (there, here) = D::turn((dest, source));
    let mapped = match TABLE.has_room(there as usize, bytes) {
        true => translate_copy(ctx, there as usize, pe, Ok, Err),
        false => Err(TABLE.miss(there as usize)),
    };
    match mapped {
        Ok(mapped) => {
            let (to, from) = D::turn((mapped as *mut u8, here.cast()));
            // SAFETY: `bytes` bytes of the segment follow `there`, and so follow `mapped` in `pe`'s
            // mirror; the side here is the program's to read in a put, to write in a get.
            unsafe { copy::large(to, from.cast_const(), bytes) }
        }
        // SAFETY: the caller's operands have `nelems` elements; `miss` is of the one there.
        Err(miss) => unsafe {
            let (dest, source) = D::turn((miss.to_bits(), here as usize));
            transfer_slow::<D, T, C>(ctx, dest, source, nelems, pe, routine)
        },
    }
}

/// Takes the side there as the bits of its [`Miss`], so that each argument is in the register that it
/// came in.
///
/// # Safety
/// The side here comes from an operand with `nelems` elements, as for [`transfer_many`], and the miss from
/// the address of an object with as many.
#[cold]
#[inline(never)]
unsafe fn transfer_slow<D: Direction, T: Copy, C: Numbering>(
    ctx: C,
    dest: usize,
    source: usize,
    nelems: usize,
    pe: PeArg,
    routine: Routine,
) {
    let (there, here) = D::turn((dest, source));
    let (miss, here) = (Miss::from_bits(there), here as *mut T);
    let bytes = nelems.saturating_mul(size_of::<T>());
    if let Some(mapped) = beside_devices(ctx, TABLE.address(miss), here as usize, bytes, pe) {
        let (to, from) = D::turn((mapped as *mut T, here));
        // SAFETY: `beside_devices` found all of the side there in a piece of the slot that `pe`'s
        // mirror has at `mapped`, and `here` in the processor's memory, where it is the program's to
        // read in a put, to write in a get.
        return unsafe { copy::elements(to, from.cast_const(), nelems) };
    }
    // SAFETY: the caller guarantees that both sides come from operands with `nelems` elements.
    unsafe { transfer_apart::<D, T, C>(ctx, miss, here, nelems, pe, routine) }
}

/// # Safety
/// `here` comes from an operand with `nelems` elements, as for [`transfer_many`], and `miss` from the address
/// of an object with as many.
#[cold]
#[inline(never)]
unsafe fn transfer_apart<D: Direction, T: Copy, C: Numbering>(
    ctx: C,
    miss: Miss,
    here: *mut T,
    nelems: usize,
    pe: PeArg,
    routine: Routine,
) {
    if nelems == 0 {
        return slow::check_pe(routine, ctx.handle(), pe);
    }
    let span = Span::elements("nelems", nelems, size_of::<T>());
    let (there, _call) = slow::access(routine, D::ACCESS, ctx.handle(), miss, pe, span);
    slow::check_own_span(routine, D::HERE, here as usize, span);
    // SAFETY: `access` returns only with a place for the whole span. The side here is readable in a put,
    // writable in a get: by the processor if it is on no device, else by the device, and until a quiet if
    // `routine` does not block.
    unsafe {
        match there {
            AccessTarget::Near(mapped) => {
                let (to, from) = D::turn((mapped as *mut T, here));
                match slow::devices_of(routine, &[here.addr()]) {
                    None => copy::elements(to, from.cast_const(), nelems),
                    Some(devices) => {
                        let all = StridedBlocks::one(span.accessed);
                        devices.copy(to.cast(), from.cast_const().cast(), all);
                    }
                }
            }
            AccessTarget::Far(engine, far) => {
                let (here, bytes, completion) =
                    (here.cast(), span.accessed, Completion::of(routine));
                match D::IS_PUT {
                    true => engine.put(far, here, bytes, completion),
                    false => engine.get(here, far, bytes, completion),
                }
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

/// Stores one element at `dest` on PE `pe`.
#[inline(always)]
pub fn p<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Object<'_, T>,
    value: T,
    pe: PeArg,
) {
    let missed = Missed::of(dest);
    match translate(ctx, dest.address(), pe, Ok, Err) {
        Ok(to) => {
            // SAFETY: `dest` is symmetric, so a whole `T` is at `to` in `pe`'s mirror.
            unsafe { (to as *mut T).write_unaligned(value) };
            // Not volatile, which would move an unaligned element through the stack. But a loop
            // that polls for the answer must not delay the store.
            compiler_fence(Ordering::SeqCst);
        }
        Err(_) => p_slow(ctx, missed, value, pe, routine),
    }
}

#[cold]
#[inline(never)]
fn p_slow<T: Copy, C: Numbering>(
    ctx: C,
    dest: Missed<'_, T>,
    value: T,
    pe: PeArg,
    routine: Routine,
) {
    let (place, span) = (dest.miss(), Span::object(size_of::<T>()));
    let (to, _call) = slow::access(routine, &slow::PUT, ctx.handle(), place, pe, span);
    // SAFETY: `dest` is an object of one `T`, and `access` returns only with a place for it; the value is a
    // local of that size.
    unsafe {
        match to {
            AccessTarget::Near(to) => (to as *mut T).write_unaligned(value),
            AccessTarget::Far(engine, to) => {
                engine.store(to, (&raw const value).cast(), size_of::<T>());
            }
        }
    }
}

/// Loads one element from `source` on PE `pe`.
#[inline(always)]
pub fn g<T: Copy, C: Numbering>(routine: Routine, ctx: C, source: Object<'_, T>, pe: PeArg) -> T {
    let missed = Missed::of(source);
    match translate(ctx, source.address(), pe, Ok, Err) {
        // SAFETY: `source` is symmetric, so a whole `T` is at `from` in `pe`'s mirror.
        Ok(from) => unsafe { (from as *const Unaligned<T>).read_volatile().0 },
        Err(_) => g_slow(ctx, missed, pe, routine),
    }
}

#[cold]
#[inline(never)]
fn g_slow<T: Copy, C: Numbering>(ctx: C, source: Missed<'_, T>, pe: PeArg, routine: Routine) -> T {
    let (place, span) = (source.miss(), Span::object(size_of::<T>()));
    let (from, _call) = slow::access(routine, &slow::GET, ctx.handle(), place, pe, span);
    // SAFETY: `source` is an object of one `T`, and `access` returns only with a place for it. The engine
    // fills in all bytes of the local.
    unsafe {
        match from {
            AccessTarget::Near(from) => (from as *const Unaligned<T>).read_volatile().0,
            AccessTarget::Far(engine, from) => {
                let mut value = MaybeUninit::<T>::uninit();
                engine.get(value.as_mut_ptr().cast(), from, size_of::<T>(), Completion::AtReturn);
                value.assume_init()
            }
        }
    }
}

#[cfg(test)]
mod tests;
