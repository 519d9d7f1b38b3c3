//! The collectives of a team.
#![allow(unsafe_code)]

use super::memory::{SymmetricSlice, same_len};
use super::team::Team;
use crate::collectives::{self, Element, ReduceOp, Sum};
use crate::span::Span;

/// Collectives: all PEs of the team call them in the same order, with the same parts of the
/// same arrays where it is not said otherwise. Lengths that do not fit panic, and so do
/// symmetric arguments that overlap; those of reductions and scans may be the same.
///
/// ```standalone_crate
/// use oneshmem::{Max, Sum};
/// # let shmem = oneshmem::init()?;
/// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
/// let world = shmem.world();
/// let mine = shmem.alloc::<i64>(2).unwrap();
/// let all = shmem.alloc::<i64>(2).unwrap();
/// mine.all().write(&[1, me as i64]);
/// world.reduce::<_, Sum>(all.all(), mine.all());
/// assert_eq!(all.at(0).get(), npes as i64);
/// world.reduce::<_, Max>(all.all(), mine.all());
/// assert_eq!(all.at(1).get(), npes as i64 - 1);
/// world.sum_exscan(all.all(), mine.all());
/// assert_eq!(all.at(0).get(), me as i64);
/// world.broadcast(all.all(), mine.all(), npes - 1);
/// assert_eq!(all.at(1).get(), npes as i64 - 1);
///
/// // PE i gives i + 1 elements.
/// let parts = shmem.alloc::<u8>(npes).unwrap();
/// let whole = shmem.alloc::<u8>(npes * (npes + 1) / 2).unwrap();
/// parts.all().fill(me as u8);
/// let length = world.collect(whole.all(), parts.slice(..=me));
/// assert_eq!(length, whole.len());
/// assert_eq!(whole.at(0).get(), 0);
/// assert_eq!(whole.at(length - 1).get(), npes as u8 - 1);
/// # shmem.free(whole);
/// # shmem.free(parts);
/// # shmem.free(all);
/// # shmem.free(mine);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
impl Team<'_> {
    /// Waits until all PEs of the team have come here. Completes nothing: for that,
    /// [`quiet`](super::Context::quiet) first.
    pub fn sync(&self) {
        collectives::sync(&"Team::sync", self.handle());
    }

    /// PE `root`'s `source` goes to every PE's `dest`.
    pub fn broadcast<T: Element>(
        &self,
        dest: SymmetricSlice<'_, T>,
        source: SymmetricSlice<'_, T>,
        root: usize,
    ) {
        let (to, from, bytes) = distinct(dest, source, source.len());
        let (name, root) = (&"Team::broadcast", i32::try_from(root).unwrap_or(-1));
        // SAFETY: both are live, equally long and disjoint.
        unsafe { collectives::broadcast(name, self.handle(), to, from, part(bytes), root) };
    }

    /// All PEs' `source`s, one after the other; each is as long as its PE likes, but all
    /// start at the same element. Returns
    /// how many elements of `dest` they fill.
    pub fn collect<T: Element>(
        &self,
        dest: SymmetricSlice<'_, T>,
        source: SymmetricSlice<'_, T>,
    ) -> usize {
        let (to, from, bytes) = distinct(dest, source, dest.len());
        let name = &"Team::collect";
        // The other PEs' lengths are the only ones that a PE cannot check by itself.
        let filled = collectives::total(name, self.handle(), bytes) / size_of::<T>();
        assert!(filled <= dest.len(), "{} elements are too few for {filled}", dest.len());
        // SAFETY: `dest` has room for all sources; both live and disjoint.
        unsafe { collectives::collect(name, self.handle(), to, from, part(bytes)) };
        filled
    }

    /// All PEs' `source`s, equally long, one after the other.
    pub fn fcollect<T: Element>(&self, dest: SymmetricSlice<'_, T>, source: SymmetricSlice<'_, T>) {
        let (to, from, bytes) = distinct(dest, source, source.len() * self.n_pes());
        let name = &"Team::fcollect";
        // SAFETY: `dest` has room for every PE's source; both live and disjoint.
        unsafe { collectives::fcollect(name, self.handle(), to, from, part(bytes)) };
    }

    /// Block `i` of every PE's `source` goes to PE `i`, in the order of the PEs.
    pub fn alltoall<T: Element>(&self, dest: SymmetricSlice<'_, T>, source: SymmetricSlice<'_, T>) {
        let (to, from, bytes) = distinct(dest, source, source.len());
        let npes = self.n_pes();
        assert_eq!(source.len() % npes, 0, "{} elements in {npes} blocks", source.len());
        let (name, part) = (&"Team::alltoall", part(bytes / npes));
        // SAFETY: `npes` blocks on either side; both live and disjoint.
        unsafe { collectives::alltoall(name, self.handle(), to, from, part) };
    }

    /// As [`alltoall`](Self::alltoall), of blocks of `nelems` elements that are `dst`
    /// apart in `dest` and `sst` in `source`: element `e` of block `b` is the one of index
    /// `stride * (b * nelems + e)`. Strides are at least 1.
    ///
    /// ```standalone_crate
    /// # let shmem = oneshmem::init()?;
    /// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    /// let source = shmem.alloc::<u16>(npes).unwrap();
    /// let dest = shmem.alloc::<u16>(3 * npes).unwrap();
    /// source.all().fill(me as u16 + 1);
    /// shmem.world().alltoalls(dest.all(), source.all(), 3, 1, 1);
    /// for pe in 0..npes {
    ///     assert_eq!(dest.slice(3 * pe..3 * pe + 3).to_vec(), [pe as u16 + 1, 0, 0]);
    /// }
    /// # shmem.free(dest);
    /// # shmem.free(source);
    /// # shmem.finalize();
    /// # Ok::<(), oneshmem::Error>(())
    /// ```
    pub fn alltoalls<T: Element>(
        &self,
        dest: SymmetricSlice<'_, T>,
        source: SymmetricSlice<'_, T>,
        dst: usize,
        sst: usize,
        nelems: usize,
    ) {
        let elements = nelems.checked_mul(self.n_pes());
        for (name, stride, len) in [("dest", dst, dest.len()), ("source", sst, source.len())] {
            let needed = elements.and_then(|n| match n {
                0 => Some(0),
                n => (n - 1).checked_mul(stride)?.checked_add(1),
            });
            assert!(
                needed.is_some_and(|needed| needed <= len),
                "{name} has {len} elements, too few for blocks of {nelems}, {stride} apart"
            );
        }
        dest.assert_disjoint(source);
        let (name, team, size) = (&"Team::alltoalls", self.handle(), size_of::<T>());
        let (to, from) = (dest.pointer().cast(), source.pointer().cast());
        let [dst, sst] = [dst, sst].map(|stride| isize::try_from(stride).unwrap_or(isize::MAX));
        // SAFETY: both hold the strided elements, are live and disjoint.
        unsafe { collectives::alltoalls(name, team, to, from, dst, sst, nelems, size) };
    }

    /// Combines all PEs' `source`s element by element, in the order of the PEs:
    /// `team.reduce::<_, Sum>(dest, source)`. `dest` may be `source`.
    pub fn reduce<T: Element, O: ReduceOp<T>>(
        &self,
        dest: SymmetricSlice<'_, T>,
        source: SymmetricSlice<'_, T>,
    ) {
        let (to, from, n) = in_place_or_disjoint(dest, source);
        // SAFETY: equally long and live; the same or disjoint.
        unsafe { collectives::reduce::<T, O>(&"Team::reduce", self.handle(), to, from, n) };
    }

    /// The sums of the `source`s of the PEs up to this one. `dest` may be `source`.
    pub fn sum_inscan<T: Element>(&self, dest: SymmetricSlice<'_, T>, source: SymmetricSlice<'_, T>)
    where
        Sum: ReduceOp<T>,
    {
        let (to, from, n) = in_place_or_disjoint(dest, source);
        // SAFETY: as for `reduce`.
        unsafe { collectives::scan(&"Team::sum_inscan", self.handle(), to, from, n, true) };
    }

    /// The sums of the `source`s of the PEs before this one, zeros on the first. `dest`
    /// may be `source`.
    pub fn sum_exscan<T: Element>(&self, dest: SymmetricSlice<'_, T>, source: SymmetricSlice<'_, T>)
    where
        Sum: ReduceOp<T>,
    {
        let (to, from, n) = in_place_or_disjoint(dest, source);
        // SAFETY: as for `reduce`.
        unsafe { collectives::scan(&"Team::sum_exscan", self.handle(), to, from, n, false) };
    }
}

/// Two parts that have nothing in common, `dest` of `len` elements, and the bytes of
/// `source`.
fn distinct<T: Element>(
    dest: SymmetricSlice<'_, T>,
    source: SymmetricSlice<'_, T>,
    len: usize,
) -> (*mut u8, *const u8, usize) {
    same_len(dest.len(), len);
    dest.assert_disjoint(source);
    (dest.pointer().cast(), source.pointer().cast(), size_of::<T>() * source.len())
}

/// So many bytes, as the core takes them; they are in bounds.
fn part(bytes: usize) -> Span {
    Span::elements("nelems", bytes, 1)
}

/// Two parts that are the same or have nothing in common, and their length.
fn in_place_or_disjoint<T: Element>(
    dest: SymmetricSlice<'_, T>,
    source: SymmetricSlice<'_, T>,
) -> (*mut T, *const T, usize) {
    same_len(dest.len(), source.len());
    if dest.pointer() != source.pointer() {
        dest.assert_disjoint(source);
    }
    (dest.pointer(), source.pointer(), dest.len())
}
