//! Strided and block-strided put and get: one transfer over the layout of its [`Blocks`].
#![allow(unsafe_code)]

use super::direction::{Direction, Get, Put};
use crate::argument::memory::{Dest, Object, Source};
use crate::failure;
use crate::slow;
use crate::span::Span;
use crate::translate::{Numbering, PeArg, TABLE, translate_copy};
use onenode_core::copy;
use oneshmem_job::error::Routine;
use oneshmem_job::remote::{AccessTarget, StridedBlocks};

/// The layout of a transfer, without its addresses: blocks that start `dst` elements apart at the
/// destination and `sst` at the source.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    dst: isize,
    sst: isize,
    /// Elements of a block; `None` for the routines without blocks, which copy single elements.
    bsize: Option<usize>,
    nblocks: usize,
}

impl Blocks {
    /// `nblocks` blocks of `bsize` elements.
    #[inline(always)]
    #[must_use]
    pub const fn new(dst: isize, sst: isize, bsize: usize, nblocks: usize) -> Self {
        Self { dst, sst, bsize: Some(bsize), nblocks }
    }

    /// `nelems` single elements.
    #[inline(always)]
    #[must_use]
    pub const fn elements(dst: isize, sst: isize, nelems: usize) -> Self {
        Self { dst, sst, bsize: None, nblocks: nelems }
    }

    /// The number of elements that the destination has at least. For blocks that do not fit into
    /// memory the result means nothing.
    #[inline(always)]
    #[must_use]
    pub const fn of_dest(self) -> usize {
        self.extent(self.dst)
    }

    /// The number of elements that the blocks span in the source.
    #[inline(always)]
    #[must_use]
    pub const fn of_source(self) -> usize {
        self.extent(self.sst)
    }

    /// The number of elements from the start of the first block to the end of the last; 0 if there are
    /// no blocks.
    #[inline(always)]
    const fn extent(self, stride: isize) -> usize {
        if self.is_empty() {
            return 0;
        }
        (self.nblocks - 1).wrapping_mul(stride as usize).wrapping_add(self.bsize())
    }

    /// Number of elements of a block.
    #[inline(always)]
    const fn bsize(self) -> usize {
        match self.bsize {
            Some(bsize) => bsize,
            None => 1,
        }
    }

    /// Whether there is nothing to copy. The other arguments of such a call may have any values.
    #[inline(always)]
    const fn is_empty(self) -> bool {
        self.bsize() == 0 || self.nblocks == 0
    }

    /// Ends the job unless both strides leave room for a block.
    #[inline(always)]
    fn check(self, routine: Routine) {
        // A block longer than isize::MAX cannot be in memory.
        let least = isize::try_from(self.bsize()).unwrap_or(isize::MAX);
        if self.dst < least || self.sst < least {
            bad_stride(routine, self.dst, self.sst, least);
        }
    }

    /// The blocks in bytes, for engines and devices.
    fn in_bytes<T>(self) -> StridedBlocks {
        // Wrapping: the stride of a single block means nothing.
        let bytes = |elements: isize| (elements as usize).wrapping_mul(size_of::<T>());
        StridedBlocks {
            count: self.nblocks,
            bytes: self.bsize() * size_of::<T>(),
            to_stride: bytes(self.dst),
            from_stride: bytes(self.sst),
        }
        .joined()
    }

    /// Copies all blocks.
    ///
    /// # Safety
    /// The blocks are readable from `source` on and writable from `dest` on, and do not overlap. The
    /// strides have been checked.
    #[inline(always)]
    unsafe fn copy<T: Copy>(self, dest: *mut T, source: *const T) {
        let Self { dst, sst, nblocks, .. } = self;
        // SAFETY: blocks of one element, at strides of at least 1, or as the caller guarantees.
        unsafe {
            match self.bsize {
                None => copy::strided(dest, source, dst, sst, nblocks),
                Some(_) => self.copy_blocks(dest, source),
            }
        }
    }

    /// # Safety
    /// As for [`copy`](Self::copy).
    unsafe fn copy_blocks<T: Copy>(self, dest: *mut T, source: *const T) {
        let (Self { dst, sst, nblocks, .. }, bsize) = (self, self.bsize());
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

/// Panics if an operand has fewer elements than the blocks require. C operands never do, so the
/// compiler leaves this out. If an extent wraps around, [`transfer`] makes no access: such blocks are in
/// no segment, and end beyond all addresses.
#[inline(always)]
fn check_lengths(dest: usize, source: usize, blocks: Blocks) {
    if dest < blocks.of_dest() || source < blocks.of_source() {
        too_short();
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
#[inline(always)]
fn transfer<D: Direction, T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    there: Object<'_, T>,
    here: D::Here<'_, T>,
    blocks: Blocks,
    pe: PeArg,
) {
    let sides = ((there.at(), there.len()), D::here(here));
    let ((dest, of_dest), (source, of_source)) = D::turn(sides);
    let (there, here) = D::turn((dest, source));
    check_lengths(of_dest, of_source, blocks);
    if blocks.is_empty() {
        return slow::check_pe(routine, ctx.handle(), pe);
    }
    blocks.check(routine);
    let Blocks { dst, sst, bsize, nblocks } = blocks;
    let (stride, _) = D::turn((dst, sst));
    let is_usual = ((dst | sst) as usize | nblocks) < USUAL;
    let bytes = (nblocks - 1)
        .wrapping_mul(stride as usize)
        .wrapping_add(blocks.bsize())
        .wrapping_mul(size_of::<T>());
    if is_usual && TABLE.has_room(there as usize, bytes) {
        if let Ok(mapped) = translate_copy(ctx, there as usize, pe, Ok, Err) {
            let (to, from) = D::turn((mapped as *mut T, here));
            // SAFETY: the whole remote side is in one segment, so also in `pe`'s mirror. The side here
            // is as long as its extent, which has not wrapped because strides and counts are below
            // `USUAL`.
            return unsafe { blocks.copy(to, from.cast_const()) };
        }
    }
    // SAFETY: the operands are as long as their extents.
    unsafe {
        transfer_slow::<D, T, C>(routine, ctx, (dest, source), (dst, sst), bsize, nblocks, pe);
    }
}

/// Takes the fields of [`Blocks`] one by one, in registers: the hot path would have to store the struct.
///
/// # Safety
/// `sides`, dest and source, come from operands as long as their extents: from an [`Object`] on the other PE,
/// and here from a [`Source`] in a put, a [`Dest`] in a get.
#[cold]
#[inline(never)]
unsafe fn transfer_slow<D: Direction, T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    sides: (*mut T, *mut T),
    (dst, sst): (isize, isize),
    bsize: Option<usize>,
    nblocks: usize,
    pe: PeArg,
) {
    let blocks = Blocks { dst, sst, bsize, nblocks };
    let (there, here) = D::turn(sides);
    let strides = D::turn((("dst", dst), ("sst", sst)));
    let span = |stride| Span::strided(stride, bsize, nblocks, size_of::<T>());
    let miss = TABLE.miss(there as usize);
    let (place, _call) = slow::access(routine, D::ACCESS, ctx.handle(), miss, pe, span(strides.0));
    slow::check_own_span(routine, D::HERE, here as usize, span(strides.1));
    let in_bytes = blocks.in_bytes::<T>();
    // SAFETY: `access` returns only with a place for the whole remote span. The span of the side
    // here ends within the address space, so its extent has not wrapped, and the side is as long: readable in a
    // put, writable in a get.
    unsafe {
        match place {
            AccessTarget::Near(mapped) => {
                let (to, from) = D::turn((mapped as *mut T, here));
                match slow::devices_of(routine, &[here.addr()]) {
                    None => blocks.copy(to, from.cast_const()),
                    Some(devices) => devices.copy(to.cast(), from.cast(), in_bytes),
                }
            }
            AccessTarget::Far(engine, far) if D::IS_PUT => {
                engine.put_blocks(far, here.cast(), in_bytes)
            }
            AccessTarget::Far(engine, far) => engine.get_blocks(here.cast(), far, in_bytes),
        }
    }
}

/// Copies the blocks of `source` to `dest` on PE `pe`.
#[inline(always)]
pub fn iput<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Object<'_, T>,
    source: Source<'_, T>,
    blocks: Blocks,
    pe: PeArg,
) {
    transfer::<Put, T, C>(routine, ctx, dest, source, blocks, pe);
}

/// Copies the blocks of `source` on PE `pe` to `dest`.
#[inline(always)]
pub fn iget<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Dest<'_, T>,
    source: Object<'_, T>,
    blocks: Blocks,
    pe: PeArg,
) {
    transfer::<Get, T, C>(routine, ctx, source, dest, blocks, pe);
}
