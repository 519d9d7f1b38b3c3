//! Strided and block-strided put and get.
//!
//! All four are one walk over blocks: `nblocks` blocks of `bsize` elements,
//! `dst` and `sst` elements apart at the destination and at the source; the
//! plain strided forms have blocks of one element.
#![allow(unsafe_code)]

use crate::copy;
use crate::error::{self, Routine};
use crate::slow;
use crate::translate::{Numbering, PeArg, translate};

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

/// Checks a call and translates its `address` on PE `pe`, which messages call `argument`:
/// where the blocks are here, or nothing if there are none to copy.
#[inline]
fn on_pe<C: Numbering>(
    routine: Routine,
    ctx: C,
    argument: &'static str,
    address: usize,
    blocks: Blocks,
    pe: PeArg,
) -> Option<usize> {
    if blocks.is_empty() {
        slow::check_pe(routine, ctx.handle(), pe);
        return None;
    }
    blocks.check(routine);
    let resolve = |miss| slow::resolve(routine, argument, ctx.handle(), miss, pe);
    Some(translate(ctx, address, pe, |here| here, resolve))
}

/// Puts strided blocks: `dest` is on PE `pe`.
#[inline]
unsafe fn put_blocks<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: *mut T,
    source: *const T,
    blocks: Blocks,
    pe: PeArg,
) {
    if let Some(to) = on_pe(routine, ctx, "dest", dest as usize, blocks, pe) {
        // SAFETY: `to` lies in `pe`'s mirror; the rest is the caller's promise.
        unsafe { blocks.copy(to as *mut T, source) }
    }
}

/// Gets strided blocks: `source` is on PE `pe`.
#[inline]
unsafe fn get_blocks<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: *mut T,
    source: *const T,
    blocks: Blocks,
    pe: PeArg,
) {
    if let Some(from) = on_pe(routine, ctx, "source", source as usize, blocks, pe) {
        // SAFETY: `from` lies in `pe`'s mirror; the rest is the caller's promise.
        unsafe { blocks.copy(dest, from as *const T) }
    }
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
    unsafe { put_blocks(routine, ctx, dest, source, blocks, pe) }
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
    unsafe { get_blocks(routine, ctx, dest, source, blocks, pe) }
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
    unsafe { put_blocks(routine, ctx, dest, source, blocks, pe) }
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
    unsafe { get_blocks(routine, ctx, dest, source, blocks, pe) }
}
