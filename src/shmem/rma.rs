//! Puts and gets.

use super::context::{Context, register};
use super::slice::{Key, Part, overlap, same_len};
use crate::collectives::Element;
use crate::context::world_pe;
use crate::query;
use crate::rma;
use crate::translate::{Numbering, PeArg, pe_number};
use oneshmem_job::error::{Called::Blocking, Routine};

/// Which elements a strided operation copies: `nblocks` blocks of `bsize` elements, which start
/// `dst` elements apart at the destination and `sst` apart at the source. For
/// [`ibput`](Context::ibput) and [`ibget`](Context::ibget).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Distance in elements between block starts at the destination; at least `bsize`.
    pub dst: usize,
    /// Distance in elements between block starts at the source; at least `bsize`.
    pub sst: usize,
    /// Elements per block.
    pub bsize: usize,
    /// Number of blocks.
    pub nblocks: usize,
}

impl Blocks {
    /// These blocks in the core's types. Panics unless `dest` and `source` elements can hold all blocks. The
    /// core rejects strides that are too small.
    #[track_caller]
    fn checked(self, routine: Routine, dest: usize, source: usize) -> rma::Blocks {
        let Self { dst, sst, bsize, nblocks } = self;
        for (name, stride, len) in [("dest", dst, dest), ("source", sst, source)] {
            let needed = match (bsize, nblocks) {
                (0, _) | (_, 0) => Some(0),
                _ => stride.checked_mul(nblocks - 1).and_then(|last| last.checked_add(bsize)),
            };
            assert!(
                needed.is_some_and(|needed| needed <= len),
                "{routine}: {name} has {len} elements; expected enough for {self:?}"
            );
        }
        // With fewer than two blocks the strides are unused and may have any value.
        let stride = |stride| isize::try_from(stride).unwrap_or(isize::MAX);
        rma::Blocks::new(stride(dst), stride(sst), bsize, nblocks)
    }
}

/// These are complete on this side when they return; [`nonblocking`](Context::nonblocking) has others.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
/// let (left, right) = ((me + npes - 1) % npes, (me + 1) % npes);
/// let inbox = shmem.alloc::<u32>(6)?;
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
    /// Copies `source` to `dest` on PE `pe`.
    ///
    /// # Panics
    /// If the lengths differ.
    #[inline]
    #[track_caller]
    pub fn put<T: Element>(&self, dest: impl Part<T>, source: &[T], pe: usize) {
        let name = &Blocking("put");
        let dest = dest.part(Key);
        same_len(name, ("source", source.len()), ("dest", dest.len()));
        rma::put(name, self.ctx, dest.object(), source.into(), register(pe));
    }

    /// As [`put`](Self::put), from this PE's own copy of symmetric memory.
    ///
    /// # Panics
    /// If the lengths differ, or if `pe` is this PE and the two overlap.
    #[inline]
    #[track_caller]
    pub fn put_from<T: Element>(&self, dest: impl Part<T>, source: impl Part<T>, pe: usize) {
        let name = &Blocking("put_from");
        let (dest, source) = (dest.part(Key), source.part(Key));
        same_len(name, ("source", source.len()), ("dest", dest.len()));
        let pe = register(pe);
        if dest.overlaps(source) {
            self.assert_other(name, pe);
        }
        rma::put(name, self.ctx, dest.object(), source.source(), pe);
    }

    /// Copies PE `pe`'s `source` to `dest`.
    ///
    /// # Panics
    /// If the lengths differ.
    #[inline]
    #[track_caller]
    pub fn get<T: Element>(&self, dest: &mut [T], source: impl Part<T>, pe: usize) {
        let name = &Blocking("get");
        let source = source.part(Key);
        same_len(name, ("source", source.len()), ("dest", dest.len()));
        rma::get(name, self.ctx, dest.into(), source.object(), register(pe));
    }

    /// As [`get`](Self::get), to this PE's own copy of symmetric memory.
    ///
    /// # Panics
    /// If the lengths differ, or if `pe` is this PE and the two overlap.
    #[inline]
    #[track_caller]
    pub fn get_into<T: Element>(&self, dest: impl Part<T>, source: impl Part<T>, pe: usize) {
        let name = &Blocking("get_into");
        let (dest, source) = (dest.part(Key), source.part(Key));
        same_len(name, ("source", source.len()), ("dest", dest.len()));
        let pe = register(pe);
        if dest.overlaps(source) {
            self.assert_other(name, pe);
        }
        rma::get(name, self.ctx, dest.dest(), source.object(), pe);
    }

    /// Panics if `pe` is this PE. The core checks whether `pe` exists.
    #[track_caller]
    fn assert_other(&self, routine: Routine, pe: PeArg) {
        let world = world_pe(self.ctx.handle(), pe_number(pe));
        let me = query::my_pe(&Blocking("my_pe")) as usize;
        if world == Some(me) {
            overlap(routine);
        }
    }

    /// Stores one element on PE `pe`.
    ///
    /// # Panics
    /// If `dest` is empty.
    #[inline]
    #[track_caller]
    pub fn p<T: Element>(&self, dest: impl Part<T>, value: T, pe: usize) {
        let name = &Blocking("p");
        let dest = dest.part(Key);
        rma::p(name, self.ctx, dest.first(name), value, register(pe));
    }

    /// Loads one element from PE `pe`.
    ///
    /// # Panics
    /// If `source` is empty.
    #[inline]
    #[track_caller]
    pub fn g<T: Element>(&self, source: impl Part<T>, pe: usize) -> T {
        let name = &Blocking("g");
        let source = source.part(Key);
        rma::g(name, self.ctx, source.first(name), register(pe))
    }

    /// Copies `nelems` elements, `sst` apart in `source`, to `dest` on PE `pe`, `dst` apart there.
    /// Strides are at least 1.
    ///
    /// # Panics
    /// If `dest` or `source` is too short.
    #[track_caller]
    pub fn iput<T: Element>(
        &self,
        dest: impl Part<T>,
        source: &[T],
        dst: usize,
        sst: usize,
        nelems: usize,
        pe: usize,
    ) {
        let name = &Blocking("iput");
        let dest = dest.part(Key);
        let blocks = Blocks { dst, sst, bsize: 1, nblocks: nelems };
        let blocks = blocks.checked(name, dest.len(), source.len());
        let (to, from) = (dest.object(), source.into());
        rma::iput(name, self.ctx, to, from, blocks, register(pe));
    }

    /// Copies `nelems` elements, `sst` apart in `source` on PE `pe`, to `dest`, `dst` apart there.
    /// Strides are at least 1.
    ///
    /// # Panics
    /// If `dest` or `source` is too short.
    #[track_caller]
    pub fn iget<T: Element>(
        &self,
        dest: &mut [T],
        source: impl Part<T>,
        dst: usize,
        sst: usize,
        nelems: usize,
        pe: usize,
    ) {
        let name = &Blocking("iget");
        let source = source.part(Key);
        let blocks = Blocks { dst, sst, bsize: 1, nblocks: nelems };
        let blocks = blocks.checked(name, dest.len(), source.len());
        let (to, from) = (dest.into(), source.object());
        rma::iget(name, self.ctx, to, from, blocks, register(pe));
    }

    /// As [`iput`](Self::iput), from this PE's own copy of symmetric memory.
    ///
    /// # Panics
    /// If `dest` or `source` is too short, or if `pe` is this PE and the two overlap.
    #[track_caller]
    pub fn iput_from<T: Element>(
        &self,
        dest: impl Part<T>,
        source: impl Part<T>,
        dst: usize,
        sst: usize,
        nelems: usize,
        pe: usize,
    ) {
        let name = &Blocking("iput_from");
        let (dest, source) = (dest.part(Key), source.part(Key));
        let blocks = Blocks { dst, sst, bsize: 1, nblocks: nelems };
        let blocks = blocks.checked(name, dest.len(), source.len());
        let (to, from, pe) = (dest.object(), source.source(), register(pe));
        if dest.overlaps(source) {
            self.assert_other(name, pe);
        }
        rma::iput(name, self.ctx, to, from, blocks, pe);
    }

    /// As [`iget`](Self::iget), to this PE's own copy of symmetric memory.
    ///
    /// # Panics
    /// If `dest` or `source` is too short, or if `pe` is this PE and the two overlap.
    #[track_caller]
    pub fn iget_into<T: Element>(
        &self,
        dest: impl Part<T>,
        source: impl Part<T>,
        dst: usize,
        sst: usize,
        nelems: usize,
        pe: usize,
    ) {
        let name = &Blocking("iget_into");
        let (dest, source) = (dest.part(Key), source.part(Key));
        let blocks = Blocks { dst, sst, bsize: 1, nblocks: nelems };
        let blocks = blocks.checked(name, dest.len(), source.len());
        let (to, from, pe) = (dest.dest(), source.object(), register(pe));
        if dest.overlaps(source) {
            self.assert_other(name, pe);
        }
        rma::iget(name, self.ctx, to, from, blocks, pe);
    }

    /// Copies blocks from `source` to `dest` on PE `pe`.
    ///
    /// ```standalone_crate
    /// # let shmem = oneshmem::init()?;
    /// // The two left columns of a 3 by 4 matrix, from one of 3 by 2.
    /// let matrix = shmem.alloc::<i16>(12)?;
    /// let blocks = oneshmem::Blocks { dst: 4, sst: 2, bsize: 2, nblocks: 3 };
    /// shmem.ibput(matrix.all(), &[1, 2, 3, 4, 5, 6], blocks, shmem.my_pe());
    /// assert_eq!(matrix.all().to_vec(), [1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0]);
    /// # shmem.free(matrix);
    /// # shmem.finalize();
    /// # Ok::<(), oneshmem::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `dest` or `source` is too short.
    #[track_caller]
    pub fn ibput<T: Element>(&self, dest: impl Part<T>, source: &[T], blocks: Blocks, pe: usize) {
        let name = &Blocking("ibput");
        let dest = dest.part(Key);
        let blocks = blocks.checked(name, dest.len(), source.len());
        let (to, from) = (dest.object(), source.into());
        rma::iput(name, self.ctx, to, from, blocks, register(pe));
    }

    /// Copies blocks from `source` on PE `pe` to `dest`.
    ///
    /// # Panics
    /// If `dest` or `source` is too short.
    #[track_caller]
    pub fn ibget<T: Element>(
        &self,
        dest: &mut [T],
        source: impl Part<T>,
        blocks: Blocks,
        pe: usize,
    ) {
        let name = &Blocking("ibget");
        let source = source.part(Key);
        let blocks = blocks.checked(name, dest.len(), source.len());
        let (to, from) = (dest.into(), source.object());
        rma::iget(name, self.ctx, to, from, blocks, register(pe));
    }
}
