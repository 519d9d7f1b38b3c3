//! Puts and gets.
#![allow(unsafe_code)]

use super::context::{Context, register};
use super::memory::{SymmetricSlice, same_len};
use crate::collectives::Element;
use crate::context::world_pe;
use crate::job::setup;
use crate::rma;
use crate::translate::{Numbering, PeArg, pe_number};

/// Which elements a strided operation copies: `nblocks` blocks of `bsize` elements,
/// starting `dst` elements apart at the destination and `sst` at the source. For
/// [`ibput`](Context::ibput) and [`ibget`](Context::ibget).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Elements from block to block at the destination; at least `bsize`.
    pub dst: usize,
    /// Elements from block to block at the source; at least `bsize`.
    pub sst: usize,
    /// Elements of a block.
    pub bsize: usize,
    /// Number of blocks.
    pub nblocks: usize,
}

impl Blocks {
    /// The strides as the core takes them. Panics unless `dest` and `source` elements
    /// hold all blocks; the core refuses strides that are too small.
    fn checked(self, dest: usize, source: usize) -> (isize, isize) {
        let Self { dst, sst, bsize, nblocks } = self;
        for (name, stride, len) in [("dest", dst, dest), ("source", sst, source)] {
            let needed = match (bsize, nblocks) {
                (0, _) | (_, 0) => Some(0),
                _ => stride.checked_mul(nblocks - 1).and_then(|last| last.checked_add(bsize)),
            };
            assert!(
                needed.is_some_and(|needed| needed <= len),
                "{name} has {len} elements, too few for {self:?}"
            );
        }
        // Strides that no block needs may be anything.
        let stride = |stride| isize::try_from(stride).unwrap_or(isize::MAX);
        (stride(dst), stride(sst))
    }
}

/// The nonblocking forms of C have no counterparts: on one node a copy is complete
/// when the call returns, so these are as nonblocking as can be.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
/// let (left, right) = ((me + npes - 1) % npes, (me + 1) % npes);
/// let inbox = shmem.alloc::<u32>(6).unwrap();
///
/// shmem.put(inbox.slice(..3), &[1, 2, 3], right);                 // a slice
/// shmem.p(inbox.at(3), me as u32, right);                         // an element
/// shmem.barrier_all();
/// assert_eq!(inbox.all().to_vec(), [1, 2, 3, left as u32, 0, 0]);
///
/// let mut theirs = [0; 2];
/// shmem.get(&mut theirs, inbox.slice(2..4), right);
/// assert_eq!(theirs, [3, me as u32]);
/// assert_eq!(shmem.g(inbox.at(0), right), 1);
/// shmem.barrier_all();
///
/// shmem.iput(inbox.slice(1..), &[7, 8, 9], 2, 1, 3, right);       // every second element
/// shmem.barrier_all();
/// assert_eq!(inbox.all().to_vec(), [1, 7, 3, 8, 0, 9]);
/// # shmem.free(inbox);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
impl<C: Numbering> Context<'_, C> {
    /// Copies `source` to `dest` on PE `pe`. Panics unless they are equally long.
    #[inline]
    pub fn put<T: Element>(&self, dest: SymmetricSlice<'_, T>, source: &[T], pe: usize) {
        same_len(dest.len(), source.len());
        // SAFETY: both are as long as said; nobody has references to symmetric
        // memory, so the source is not part of it.
        unsafe {
            rma::put(&"put", self.ctx, dest.pointer(), source.as_ptr(), source.len(), register(pe));
        }
    }

    /// As [`put`](Self::put), from this PE's own copy of symmetric memory. Panics if
    /// `pe` is this PE and the two overlap.
    #[inline]
    pub fn put_from<T: Element>(
        &self,
        dest: SymmetricSlice<'_, T>,
        source: SymmetricSlice<'_, T>,
        pe: usize,
    ) {
        same_len(dest.len(), source.len());
        let (to, from, n, pe) = (dest.pointer(), source.pointer(), source.len(), register(pe));
        if dest.overlaps(source) {
            self.assert_other(pe);
        }
        // SAFETY: both are live and as long as said; not the same memory.
        unsafe { rma::put(&"put_from", self.ctx, to, from, n, pe) }
    }

    /// Copies PE `pe`'s `source` to `dest`. Panics unless they are equally long.
    #[inline]
    pub fn get<T: Element>(&self, dest: &mut [T], source: SymmetricSlice<'_, T>, pe: usize) {
        same_len(source.len(), dest.len());
        let (to, n) = (dest.as_mut_ptr(), dest.len());
        // SAFETY: as for `put`; any bits are a `T`.
        unsafe { rma::get(&"get", self.ctx, to, source.pointer(), n, register(pe)) }
    }

    /// As [`get`](Self::get), to this PE's own copy of symmetric memory. Panics if `pe`
    /// is this PE and the two overlap.
    #[inline]
    pub fn get_into<T: Element>(
        &self,
        dest: SymmetricSlice<'_, T>,
        source: SymmetricSlice<'_, T>,
        pe: usize,
    ) {
        same_len(dest.len(), source.len());
        let (to, from, n, pe) = (dest.pointer(), source.pointer(), source.len(), register(pe));
        if dest.overlaps(source) {
            self.assert_other(pe);
        }
        // SAFETY: as for `put_from`.
        unsafe { rma::get(&"get_into", self.ctx, to, from, n, pe) }
    }

    /// Panics if `pe` is this PE; one that does not exist is left to the core.
    fn assert_other(&self, pe: PeArg) {
        let world = world_pe(self.ctx.handle(), pe_number(pe));
        let me = setup::my_pe(&"my_pe") as usize;
        assert!(world != Some(me), "the symmetric arguments of a call overlap");
    }

    /// Stores one element on PE `pe`.
    #[inline]
    pub fn p<T: Element>(&self, dest: SymmetricSlice<'_, T>, value: T, pe: usize) {
        // SAFETY: one live element of a symmetric array.
        unsafe { rma::p(&"p", self.ctx, dest.first(), value, register(pe)) }
    }

    /// Loads one element from PE `pe`.
    #[inline]
    pub fn g<T: Element>(&self, source: SymmetricSlice<'_, T>, pe: usize) -> T {
        // SAFETY: as for `p`; any bits are a `T`.
        unsafe { rma::g(&"g", self.ctx, source.first(), register(pe)) }
    }

    /// Copies `nelems` elements, `sst` apart in `source`, to PE `pe`'s `dest`, `dst`
    /// apart there. Strides are at least 1. Panics if either is too short.
    pub fn iput<T: Element>(
        &self,
        dest: SymmetricSlice<'_, T>,
        source: &[T],
        dst: usize,
        sst: usize,
        nelems: usize,
        pe: usize,
    ) {
        let blocks = Blocks { dst, sst, bsize: 1, nblocks: nelems };
        let (dst, sst) = blocks.checked(dest.len(), source.len());
        let (to, from) = (dest.pointer(), source.as_ptr());
        // SAFETY: as for `put`; both hold the strided elements.
        unsafe { rma::iput(&"iput", self.ctx, to, from, dst, sst, nelems, register(pe)) }
    }

    /// Copies `nelems` elements, `sst` apart in PE `pe`'s `source`, to `dest`, `dst`
    /// apart there. Strides are at least 1. Panics if either is too short.
    pub fn iget<T: Element>(
        &self,
        dest: &mut [T],
        source: SymmetricSlice<'_, T>,
        dst: usize,
        sst: usize,
        nelems: usize,
        pe: usize,
    ) {
        let blocks = Blocks { dst, sst, bsize: 1, nblocks: nelems };
        let (dst, sst) = blocks.checked(dest.len(), source.len());
        let (to, from) = (dest.as_mut_ptr(), source.pointer());
        // SAFETY: as for `iput`.
        unsafe { rma::iget(&"iget", self.ctx, to, from, dst, sst, nelems, register(pe)) }
    }

    /// Copies blocks from `source` to PE `pe`'s `dest`. Panics if either is too short.
    ///
    /// ```standalone_crate
    /// # let shmem = oneshmem::init()?;
    /// // The two left columns of a 3 by 4 matrix, from one of 3 by 2.
    /// let matrix = shmem.alloc::<i16>(12).unwrap();
    /// let blocks = oneshmem::Blocks { dst: 4, sst: 2, bsize: 2, nblocks: 3 };
    /// shmem.ibput(matrix.all(), &[1, 2, 3, 4, 5, 6], blocks, shmem.my_pe());
    /// assert_eq!(matrix.all().to_vec(), [1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0]);
    /// # shmem.free(matrix);
    /// # shmem.finalize();
    /// # Ok::<(), oneshmem::Error>(())
    /// ```
    pub fn ibput<T: Element>(
        &self,
        dest: SymmetricSlice<'_, T>,
        source: &[T],
        blocks: Blocks,
        pe: usize,
    ) {
        let (dst, sst) = blocks.checked(dest.len(), source.len());
        let (to, from, Blocks { bsize, nblocks, .. }) = (dest.pointer(), source.as_ptr(), blocks);
        // SAFETY: as for `put`; both hold all blocks.
        unsafe { rma::ibput(&"ibput", self.ctx, to, from, dst, sst, bsize, nblocks, register(pe)) }
    }

    /// Copies blocks from PE `pe`'s `source` to `dest`. Panics if either is too short.
    pub fn ibget<T: Element>(
        &self,
        dest: &mut [T],
        source: SymmetricSlice<'_, T>,
        blocks: Blocks,
        pe: usize,
    ) {
        let (dst, sst) = blocks.checked(dest.len(), source.len());
        let (to, from) = (dest.as_mut_ptr(), source.pointer());
        let Blocks { bsize, nblocks, .. } = blocks;
        // SAFETY: as for `ibput`.
        unsafe { rma::ibget(&"ibget", self.ctx, to, from, dst, sst, bsize, nblocks, register(pe)) }
    }
}
