//! Strided and block-strided put and get.
//!
//! All four are one way to the other PE, over a [`Shape`]: elements, or `nblocks` blocks of
//! `bsize` elements, `dst` and `sst` elements apart at the destination and at the source.
#![allow(unsafe_code)]

use crate::copy;
use crate::error::{self, Routine};
use crate::slow::{self, Access};
use crate::stats::Class;
use crate::translate::{Miss, Numbering, PeArg, translate};

/// What is copied, but for where it lies. Strides are in elements.
trait Shape: Copy {
    /// Whether there is nothing to copy; such a call may have any other arguments.
    fn is_empty(self) -> bool;
    /// Number of elements.
    fn nelems(self) -> usize;
    /// The strides at the destination and at the source.
    fn strides(self) -> (isize, isize);
    /// Elements of a block.
    fn bsize(self) -> usize;
    /// Copies all.
    ///
    /// # Safety
    /// Both sides are accessible for all elements, and do not overlap.
    unsafe fn copy<T: Copy>(self, dest: *mut T, source: *const T);

    /// Ends the job unless both strides leave room for a block.
    #[inline(always)]
    fn check(self, routine: Routine) {
        // A block longer than isize::MAX cannot be in memory.
        let least = isize::try_from(self.bsize()).unwrap_or(isize::MAX);
        let (dst, sst) = self.strides();
        if dst < least || sst < least {
            bad_stride(routine, dst, sst, least);
        }
    }
}

#[cold]
#[inline(never)]
fn bad_stride(routine: Routine, dst: isize, sst: isize, least: isize) -> ! {
    let (name, value) = if dst < least { ("dst", dst) } else { ("sst", sst) };
    let unit = if least == 1 {
        "strides count elements and are at least 1".into()
    } else {
        format!(
            "strides count elements from block start to block start and are at least \
             bsize = {least}"
        )
    };
    error::misuse(routine, format_args!("{name} = {value}"), unit)
}

/// `n` elements, each by itself.
#[derive(Clone, Copy)]
struct Elements {
    dst: isize,
    sst: isize,
    n: usize,
}

impl Shape for Elements {
    #[inline(always)]
    fn is_empty(self) -> bool {
        self.n == 0
    }

    #[inline(always)]
    fn nelems(self) -> usize {
        self.n
    }

    #[inline(always)]
    fn strides(self) -> (isize, isize) {
        (self.dst, self.sst)
    }

    #[inline(always)]
    fn bsize(self) -> usize {
        1
    }

    #[inline(always)]
    unsafe fn copy<T: Copy>(self, dest: *mut T, source: *const T) {
        // SAFETY: the caller's promise; the strides have been checked.
        unsafe { copy::strided(dest, source, self.dst, self.sst, self.n) }
    }
}

/// `nblocks` blocks of `bsize` elements.
#[derive(Clone, Copy)]
struct Blocks {
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
}

impl Shape for Blocks {
    fn is_empty(self) -> bool {
        self.bsize == 0 || self.nblocks == 0
    }

    fn nelems(self) -> usize {
        self.bsize * self.nblocks
    }

    fn strides(self) -> (isize, isize) {
        (self.dst, self.sst)
    }

    fn bsize(self) -> usize {
        self.bsize
    }

    #[inline]
    unsafe fn copy<T: Copy>(self, dest: *mut T, source: *const T) {
        let Self { dst, sst, bsize, nblocks } = self;
        // SAFETY: the caller's promise. Without gaps the blocks are one.
        unsafe {
            if dst == sst && dst as usize == bsize {
                copy::elements((), dest, source, self.nelems());
            } else if bsize == 1 {
                copy::strided(dest, source, dst, sst, nblocks);
            } else {
                for block in 0..nblocks as isize {
                    // Wrapping: stepping past the last block is never dereferenced.
                    let from = source.wrapping_offset(block.wrapping_mul(sst));
                    let to = dest.wrapping_offset(block.wrapping_mul(dst));
                    copy::elements((), to, from, bsize);
                }
            }
        }
    }
}

/// A call's destination and source, of which `access` tells which one is on PE `pe`.
#[derive(Clone, Copy)]
struct Sides<T> {
    dest: *mut T,
    source: *const T,
}

impl<T: Copy> Sides<T> {
    fn remote(self, access: &Access) -> usize {
        if access.0 == Class::Put { self.dest as usize } else { self.source as usize }
    }

    /// With the remote side where it is mapped here.
    fn mapped(self, access: &Access, here: usize) -> Self {
        match access.0 {
            Class::Put => Self { dest: here as *mut T, ..self },
            _ => Self { source: here as *const T, ..self },
        }
    }
}

/// Puts or gets strided blocks.
///
/// # Safety
/// The local side is accessible for all blocks, and no PE accesses the remote one in
/// conflict with the call.
#[inline(always)]
unsafe fn transfer<T: Copy, C: Numbering, S: Shape>(
    routine: Routine,
    ctx: C,
    access: &'static Access,
    sides: Sides<T>,
    shape: S,
    pe: PeArg,
) {
    if shape.is_empty() {
        return slow::check_pe(routine, ctx.handle(), pe);
    }
    shape.check(routine);
    match translate(ctx, sides.remote(access), pe, Ok, Err) {
        Ok(here) => {
            let Sides { dest, source } = sides.mapped(access, here);
            // SAFETY: the remote side lies in `pe`'s mirror; the rest is the caller's promise.
            unsafe { shape.copy(dest, source) }
        }
        // SAFETY: the caller's promise, passed on.
        Err(miss) => unsafe { transfer_slow(routine, ctx, access, sides, shape, (miss, pe)) },
    }
}

#[cold]
#[inline(never)]
unsafe fn transfer_slow<T: Copy, C: Numbering, S: Shape>(
    routine: Routine,
    ctx: C,
    access: &'static Access,
    sides: Sides<T>,
    shape: S,
    (miss, pe): (Miss, PeArg),
) {
    let bytes = shape.nelems() * size_of::<T>();
    let here = slow::access(routine, access, ctx.handle(), miss, pe, bytes);
    let Sides { dest, source } = sides.mapped(access, here);
    // SAFETY: as in `transfer`.
    unsafe { shape.copy(dest, source) }
}

/// Copies `nelems` elements, `sst` apart at `source`, to `dest` on PE `pe`, `dst`
/// apart there.
///
/// # Safety
/// Every element at `source` is readable, and no PE accesses the destination in
/// conflict with the call.
#[inline]
#[allow(clippy::too_many_arguments)]
pub unsafe fn iput<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: PeArg,
) {
    let elements = Elements { dst, sst, n: nelems };
    // SAFETY: the caller's promise, passed on.
    unsafe { transfer(routine, ctx, &slow::PUT, Sides { dest, source }, elements, pe) }
}

/// Copies `nelems` elements, `sst` apart at `source` on PE `pe`, to `dest`, `dst`
/// apart there.
///
/// # Safety
/// Every element at `dest` is writable, and no PE accesses the source in conflict
/// with the call.
#[inline]
#[allow(clippy::too_many_arguments)]
pub unsafe fn iget<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: PeArg,
) {
    let elements = Elements { dst, sst, n: nelems };
    // SAFETY: the caller's promise, passed on.
    unsafe { transfer(routine, ctx, &slow::GET, Sides { dest, source }, elements, pe) }
}

/// Copies `nblocks` blocks of `bsize` elements, starting `sst` elements apart at
/// `source`, to `dest` on PE `pe`, starting `dst` apart there.
///
/// # Safety
/// As for [`iput`].
#[inline]
#[allow(clippy::too_many_arguments)]
pub unsafe fn ibput<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
    pe: PeArg,
) {
    let blocks = Blocks { dst, sst, bsize, nblocks };
    // SAFETY: the caller's promise, passed on.
    unsafe { transfer(routine, ctx, &slow::PUT, Sides { dest, source }, blocks, pe) }
}

/// Copies `nblocks` blocks of `bsize` elements, starting `sst` elements apart at
/// `source` on PE `pe`, to `dest`, starting `dst` apart there.
///
/// # Safety
/// As for [`iget`].
#[inline]
#[allow(clippy::too_many_arguments)]
pub unsafe fn ibget<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
    pe: PeArg,
) {
    let blocks = Blocks { dst, sst, bsize, nblocks };
    // SAFETY: the caller's promise, passed on.
    unsafe { transfer(routine, ctx, &slow::GET, Sides { dest, source }, blocks, pe) }
}
