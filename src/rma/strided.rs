//! Strided and block-strided put and get.
//!
//! All four are one way to the other PE, over a [`Shape`]: elements, or `nblocks` blocks of
//! `bsize` elements, `dst` and `sst` elements apart at the destination and at the source.
#![allow(unsafe_code)]

use crate::engine::{Blocks, Place};
use crate::error::Routine;
use crate::failure;
use crate::slow::{self, Access};
use crate::span::Span;
use crate::stats::Class;
use crate::translate::{Numbering, PeArg, TABLE, translate};
use onenode::copy;

/// What is copied, but for where it lies. Strides are in elements.
trait Shape: Copy {
    /// Whether there is nothing to copy; such a call may have any other arguments.
    fn is_empty(self) -> bool;
    /// The strides at the destination and at the source.
    fn strides(self) -> (isize, isize);
    /// Elements of a block.
    fn bsize(self) -> usize;
    /// Number of blocks.
    fn nblocks(self) -> usize;
    /// The memory of these elements of `size` bytes where the stride is that one, with its name.
    fn span(self, stride: (&'static str, isize), size: usize) -> Span;
    /// Copies all.
    ///
    /// # Safety
    /// Both sides are accessible for all elements, and do not overlap.
    unsafe fn copy<T: Copy>(self, dest: *mut T, source: *const T);

    /// The same for those who move bytes.
    fn blocks<T>(self) -> Blocks {
        let ((dst, sst), size) = (self.strides(), size_of::<T>());
        // Wrapping: the stride of a single block says nothing.
        let bytes = |elements: isize| (elements as usize).wrapping_mul(size);
        Blocks {
            count: self.nblocks(),
            bytes: self.bsize() * size,
            to_stride: bytes(dst),
            from_stride: bytes(sst),
        }
        .joined()
    }

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
    failure::misuse(routine, format_args!("{name} = {value}"), unit)
}

/// `n` elements, each by itself.
#[derive(Clone, Copy)]
struct Strided {
    dst: isize,
    sst: isize,
    n: usize,
}

impl Shape for Strided {
    #[inline(always)]
    fn is_empty(self) -> bool {
        self.n == 0
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
    fn nblocks(self) -> usize {
        self.n
    }

    fn span(self, stride: (&'static str, isize), size: usize) -> Span {
        Span::strided(stride, self.n, size)
    }

    #[inline(always)]
    unsafe fn copy<T: Copy>(self, dest: *mut T, source: *const T) {
        // SAFETY: the caller's promise; the strides have been checked.
        unsafe { copy::strided(dest, source, self.dst, self.sst, self.n) }
    }
}

/// `nblocks` blocks of `bsize` elements.
#[derive(Clone, Copy)]
struct BlockStrided {
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
}

impl Shape for BlockStrided {
    fn is_empty(self) -> bool {
        self.bsize == 0 || self.nblocks == 0
    }

    fn strides(self) -> (isize, isize) {
        (self.dst, self.sst)
    }

    fn bsize(self) -> usize {
        self.bsize
    }

    fn nblocks(self) -> usize {
        self.nblocks
    }

    fn span(self, stride: (&'static str, isize), size: usize) -> Span {
        Span::blocks(stride, self.bsize, self.nblocks, size)
    }

    #[inline]
    unsafe fn copy<T: Copy>(self, dest: *mut T, source: *const T) {
        let Self { dst, sst, bsize, nblocks } = self;
        // SAFETY: the caller's promise. Without gaps the blocks are one.
        unsafe {
            if dst == sst && dst as usize == bsize {
                copy::elements(dest, source, bsize * nblocks);
            } else if bsize == 1 {
                copy::strided(dest, source, dst, sst, nblocks);
            } else {
                for block in 0..nblocks as isize {
                    // Wrapping: stepping past the last block is never dereferenced.
                    let from = source.wrapping_offset(block.wrapping_mul(sst));
                    let to = dest.wrapping_offset(block.wrapping_mul(dst));
                    copy::elements(to, from, bsize);
                }
            }
        }
    }
}

/// A call's destination, or its source.
struct Side {
    name: &'static str,
    address: usize,
    stride: (&'static str, isize),
}

/// A call's destination and source, of which `access` tells which one is on PE `pe`.
#[derive(Clone, Copy)]
struct Sides<T> {
    dest: *mut T,
    source: *const T,
}

impl<T: Copy> Sides<T> {
    /// What is on the other PE, then what is here: names, addresses and strides.
    #[inline(always)]
    fn there_and_here<S: Shape>(self, access: &Access, shape: S) -> [Side; 2] {
        let (dst, sst) = shape.strides();
        let dest = Side { name: "dest", address: self.dest as usize, stride: ("dst", dst) };
        let source = Side { name: "source", address: self.source as usize, stride: ("sst", sst) };
        if access.0 == Class::Put { [dest, source] } else { [source, dest] }
    }

    /// With the remote side where it is mapped here.
    fn mapped(self, access: &Access, here: usize) -> Self {
        match access.0 {
            Class::Put => Self { dest: here as *mut T, ..self },
            _ => Self { source: here as *const T, ..self },
        }
    }
}

/// Below this strides and counts need no careful arithmetic: what they span is less than half
/// of all addresses, with elements of up to 64 bytes.
const USUAL: usize = 1 << 28;

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
    let [there, _] = sides.there_and_here(access, shape);
    let (dst, sst) = shape.strides();
    let is_usual = ((dst | sst) as usize | shape.nblocks()) < USUAL;
    let bytes = (shape.nblocks() - 1)
        .wrapping_mul(there.stride.1 as usize)
        .wrapping_add(shape.bsize())
        .wrapping_mul(size_of::<T>());
    if !is_usual || bytes > TABLE.room(there.address) {
        // SAFETY: the caller's promise, passed on.
        return unsafe { transfer_slow(routine, ctx, access, sides, shape, pe) };
    }
    match translate(ctx, there.address, pe, Ok, Err) {
        Ok(mapped) => {
            let Sides { dest, source } = sides.mapped(access, mapped);
            // SAFETY: the remote side lies in `pe`'s mirror; the rest is the caller's promise.
            unsafe { shape.copy(dest, source) }
        }
        // SAFETY: the caller's promise, passed on.
        Err(_) => unsafe { transfer_slow(routine, ctx, access, sides, shape, pe) },
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
    pe: PeArg,
) {
    let [there, here] = sides.there_and_here(access, shape);
    let span = |side: &Side| shape.span(side.stride, size_of::<T>());
    let miss = TABLE.miss(there.address);
    let mapped = slow::access(routine, access, ctx.handle(), miss, pe, span(&there));
    slow::check_own_span(routine, here.name, here.address, span(&here));
    // SAFETY: as in `transfer`.
    unsafe {
        match mapped {
            Place::Near(mapped) => {
                let Sides { dest, source } = sides.mapped(access, mapped);
                match slow::devices_of(routine, &[here.address]) {
                    None => shape.copy(dest, source),
                    Some(devices) => {
                        devices.copy_blocks(dest.cast(), source.cast(), shape.blocks::<T>());
                    }
                }
            }
            Place::Far(engine, far) => {
                let (here, blocks) = (here.address as *mut u8, shape.blocks::<T>());
                match access.0 {
                    Class::Put => engine.put_blocks(far, here, blocks),
                    _ => engine.get_blocks(here, far, blocks),
                }
            }
        }
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
    let elements = Strided { dst, sst, n: nelems };
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
    let elements = Strided { dst, sst, n: nelems };
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
    let blocks = BlockStrided { dst, sst, bsize, nblocks };
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
    let blocks = BlockStrided { dst, sst, bsize, nblocks };
    // SAFETY: the caller's promise, passed on.
    unsafe { transfer(routine, ctx, &slow::GET, Sides { dest, source }, blocks, pe) }
}
