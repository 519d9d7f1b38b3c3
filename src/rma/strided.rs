//! Strided and block-strided put and get.
//!
//! All four are one walk over blocks: `nblocks` blocks of `bsize` elements,
//! `dst` and `sst` elements apart at the destination and at the source; the
//! plain strided forms have blocks of one element.
#![allow(unsafe_code)]

use crate::copy;
use crate::error::{self, Routine};
use crate::slow::{self, Access};
use crate::stats::Class;
use crate::translate::{Miss, Numbering, PeArg, translate};

/// What is copied: in elements, strides from block start to block start.
#[derive(Clone, Copy)]
struct Blocks {
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
}

impl Blocks {
    /// Copies the blocks.
    ///
    /// # Safety
    /// Both sides are accessible for all blocks, and do not overlap.
    #[inline]
    unsafe fn copy<T: Copy>(self, dest: *mut T, source: *const T) {
        let Self { dst, sst, bsize, nblocks } = self;
        // SAFETY: the caller's promise. Without gaps the blocks are one.
        unsafe {
            if dst == sst && dst as usize == bsize {
                copy::elements((), dest, source, bsize * nblocks);
            } else if bsize == 1 {
                // One move each, at any alignment. Where one side has no gaps, collecting elements
                // in a vector register for one access there gains nothing: two moves in a cycle
                // are what processors do, and putting a vector together takes as long.
                for i in 0..nblocks as isize {
                    let from = source.wrapping_offset(i.wrapping_mul(sst));
                    let to = dest.wrapping_offset(i.wrapping_mul(dst));
                    to.write_unaligned(from.read_unaligned());
                }
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

    /// Whether there is nothing to copy; such a call may have any other arguments.
    fn is_empty(self) -> bool {
        self.bsize == 0 || self.nblocks == 0
    }

    /// Ends the job unless both strides leave room for a block.
    #[inline]
    fn check(self, routine: Routine) {
        // A block longer than isize::MAX cannot be in memory.
        let least = isize::try_from(self.bsize).unwrap_or(isize::MAX);
        if self.dst < least || self.sst < least {
            self.bad_stride(routine, least);
        }
    }

    #[cold]
    #[inline(never)]
    fn bad_stride(self, routine: Routine, least: isize) -> ! {
        let (name, value) = if self.dst < least { ("dst", self.dst) } else { ("sst", self.sst) };
        let unit = if least == 1 {
            "strides count elements and are at least 1".into()
        } else {
            format!(
                "strides count elements from block start to block start and are at least \
                 bsize = {}",
                self.bsize
            )
        };
        error::misuse(routine, format_args!("{name} = {value}"), unit)
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
unsafe fn transfer<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    access: &'static Access,
    sides: Sides<T>,
    blocks: Blocks,
    pe: PeArg,
) {
    if blocks.is_empty() {
        return slow::check_pe(routine, ctx.handle(), pe);
    }
    blocks.check(routine);
    match translate(ctx, sides.remote(access), pe, Ok, Err) {
        Ok(here) => {
            let Sides { dest, source } = sides.mapped(access, here);
            // SAFETY: the remote side lies in `pe`'s mirror; the rest is the caller's promise.
            unsafe { blocks.copy(dest, source) }
        }
        // SAFETY: the caller's promise, passed on.
        Err(miss) => unsafe { transfer_slow(routine, ctx, access, sides, blocks, (miss, pe)) },
    }
}

#[cold]
#[inline(never)]
unsafe fn transfer_slow<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    access: &'static Access,
    sides: Sides<T>,
    blocks: Blocks,
    (miss, pe): (Miss, PeArg),
) {
    let bytes = blocks.bsize * blocks.nblocks * size_of::<T>();
    let here = slow::access(routine, access, ctx.handle(), miss, pe, bytes);
    let Sides { dest, source } = sides.mapped(access, here);
    // SAFETY: as in `transfer`.
    unsafe { blocks.copy(dest, source) }
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
    let blocks = Blocks { dst, sst, bsize: 1, nblocks: nelems };
    // SAFETY: the caller's promise, passed on.
    unsafe { transfer(routine, ctx, &slow::PUT, Sides { dest, source }, blocks, pe) }
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
    let blocks = Blocks { dst, sst, bsize: 1, nblocks: nelems };
    // SAFETY: the caller's promise, passed on.
    unsafe { transfer(routine, ctx, &slow::GET, Sides { dest, source }, blocks, pe) }
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
