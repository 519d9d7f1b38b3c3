//! Strided and block-strided put and get.
//!
//! All four share one transfer function, over a [`Shape`]: elements, or `nblocks` blocks of `bsize`
//! elements, `dst` and `sst` elements apart at the destination and at the source.
#![allow(unsafe_code)]

use crate::argument::memory::{Dest, Object, Source};
use crate::engine::{Place, StridedBlocks};
use crate::error::Routine;
use crate::failure;
use crate::slow::{self, Access};
use crate::span::Span;
use crate::stats::Class;
use crate::translate::{Numbering, PeArg, TABLE, translate_copy};
use onenode::copy;

/// The layout of a transfer, without its addresses. Strides are in elements.
trait Shape: Copy {
    /// Whether there is nothing to copy. The other arguments of such a call may have any values.
    fn is_empty(self) -> bool;
    /// The strides at the destination and at the source.
    fn strides(self) -> (isize, isize);
    /// Number of elements of a block.
    fn bsize(self) -> usize;
    /// Number of blocks.
    fn nblocks(self) -> usize;
    /// The memory that elements of `size` bytes occupy with this stride, which is passed with its
    /// name.
    fn span(self, stride: (&'static str, isize), size: usize) -> Span;
    /// Copies all blocks.
    ///
    /// # Safety
    /// The blocks of this shape are readable from `source` on and writable from `dest` on, and do
    /// not overlap. The strides have been checked.
    unsafe fn copy<T: Copy>(self, dest: *mut T, source: *const T);

    /// The same in bytes, for engines and devices.
    fn blocks<T>(self) -> StridedBlocks {
        let ((dst, sst), size) = (self.strides(), size_of::<T>());
        // Wrapping: the stride of a single block means nothing.
        let bytes = |elements: isize| (elements as usize).wrapping_mul(size);
        StridedBlocks {
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

/// `n` single elements.
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
        // SAFETY: blocks of one element, at strides of at least 1.
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
        // SAFETY: each element copied belongs to a block. Blocks without gaps are copied as one.
        unsafe {
            if dst == sst && dst as usize == bsize {
                copy::elements(dest, source, bsize * nblocks);
            } else if bsize == 1 {
                copy::strided(dest, source, dst, sst, nblocks);
            } else {
                for block in 0..nblocks as isize {
                    // Wrapping: an address past the last block is never dereferenced.
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

/// A call's destination and source; `access` determines which one is on PE `pe`.
#[derive(Clone, Copy)]
struct Sides<T> {
    dest: *mut T,
    source: *const T,
}

/// The number of elements from the start of the first block to the end of the last; 0 if there are
/// no blocks. An operand of a shape that fits into memory has at least so many. For other shapes
/// the result means nothing.
#[inline(always)]
pub const fn extent(stride: isize, bsize: usize, nblocks: usize) -> usize {
    if bsize == 0 || nblocks == 0 {
        return 0;
    }
    (nblocks - 1).wrapping_mul(stride as usize).wrapping_add(bsize)
}

impl<T: Copy> Sides<T> {
    /// Panics if an operand is shorter than the shape requires. C operands never are, so the
    /// compiler leaves this out. If an extent wraps around, `transfer` makes no access: such blocks
    /// are in no segment, and end beyond all addresses.
    #[inline(always)]
    fn new<S: Shape>(dest: (*mut T, usize), source: (*const T, usize), shape: S) -> Self {
        let (dst, sst) = shape.strides();
        let least = |stride| extent(stride, shape.bsize(), shape.nblocks());
        if dest.1 < least(dst) || source.1 < least(sst) {
            too_short();
        }
        Self { dest: dest.0, source: source.0 }
    }

    /// The side on the other PE, then the side here: names, addresses and strides.
    #[inline(always)]
    fn there_and_here<S: Shape>(self, access: &Access, shape: S) -> [Side; 2] {
        let (dst, sst) = shape.strides();
        let dest = Side { name: "dest", address: self.dest as usize, stride: ("dst", dst) };
        let source = Side { name: "source", address: self.source as usize, stride: ("sst", sst) };
        if access.0 == Class::Put { [dest, source] } else { [source, dest] }
    }

    /// The sides, with the remote one where it is mapped here.
    fn mapped(self, access: &Access, here: usize) -> Self {
        match access.0 {
            Class::Put => Self { dest: here as *mut T, ..self },
            _ => Self { source: here as *const T, ..self },
        }
    }
}

#[cold]
#[inline(never)]
fn too_short() -> ! {
    panic!("an operand has too few elements for its stride and number of blocks")
}

/// Strides and counts below this need no careful arithmetic: they span less than half of all
/// addresses, with elements of up to 64 bytes.
const USUAL: usize = 1 << 28;

/// Puts or gets strided blocks.
///
/// # Safety
/// The side on the other PE is an [`Object`]'s, the side here a [`Source`]'s or a [`Dest`]'s, and
/// both are as long as their extents.
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
    if !is_usual || !TABLE.has_room(there.address, bytes) {
        // SAFETY: the same operands.
        return unsafe { transfer_slow(routine, ctx, access, sides, shape, pe) };
    }
    match translate_copy(ctx, there.address, pe, Ok, Err) {
        Ok(mapped) => {
            let Sides { dest, source } = sides.mapped(access, mapped);
            // SAFETY: the whole remote side is in one segment, so also in `pe`'s
            // mirror. The side here is as long as its extent, which has not wrapped because strides
            // and counts are below `USUAL`.
            unsafe { shape.copy(dest, source) }
        }
        // SAFETY: the same operands.
        Err(_) => unsafe { transfer_slow(routine, ctx, access, sides, shape, pe) },
    }
}

/// # Safety
/// As for [`transfer`].
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
    // SAFETY: `access` returns only with a place for the whole remote span. The span of the side
    // here ends within the address space, so its extent has not wrapped, and the side is as long.
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
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn iput<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Object<'_, T>,
    source: Source<'_, T>,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: PeArg,
) {
    let elements = Strided { dst, sst, n: nelems };
    let sides = Sides::new((dest.at(), dest.len()), (source.at(), source.len()), elements);
    // SAFETY: `Sides::new` found both sides as long as their extents.
    unsafe { transfer(routine, ctx, &slow::PUT, sides, elements, pe) }
}

/// Copies `nelems` elements, `sst` apart at `source` on PE `pe`, to `dest`, `dst`
/// apart there.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn iget<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Dest<'_, T>,
    source: Object<'_, T>,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: PeArg,
) {
    let elements = Strided { dst, sst, n: nelems };
    let sides = Sides::new((dest.at(), dest.len()), (source.at(), source.len()), elements);
    // SAFETY: `Sides::new` found both sides as long as their extents.
    unsafe { transfer(routine, ctx, &slow::GET, sides, elements, pe) }
}

/// Copies `nblocks` blocks of `bsize` elements, starting `sst` elements apart at
/// `source`, to `dest` on PE `pe`, starting `dst` apart there.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn ibput<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Object<'_, T>,
    source: Source<'_, T>,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
    pe: PeArg,
) {
    let blocks = BlockStrided { dst, sst, bsize, nblocks };
    let sides = Sides::new((dest.at(), dest.len()), (source.at(), source.len()), blocks);
    // SAFETY: `Sides::new` found both sides as long as their extents.
    unsafe { transfer(routine, ctx, &slow::PUT, sides, blocks, pe) }
}

/// Copies `nblocks` blocks of `bsize` elements, starting `sst` elements apart at
/// `source` on PE `pe`, to `dest`, starting `dst` apart there.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn ibget<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Dest<'_, T>,
    source: Object<'_, T>,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
    pe: PeArg,
) {
    let blocks = BlockStrided { dst, sst, bsize, nblocks };
    let sides = Sides::new((dest.at(), dest.len()), (source.at(), source.len()), blocks);
    // SAFETY: `Sides::new` found both sides as long as their extents.
    unsafe { transfer(routine, ctx, &slow::GET, sides, blocks, pe) }
}
