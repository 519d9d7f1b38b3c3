//! The collectives of a team.

use super::slice::{Key, Part, SymmetricSlice, same_len};
use super::team::Team;
use crate::collectives::arrays::Arrays;
use crate::collectives::{self, Element, ReduceOp, Sum};
use crate::span::Span;
use oneshmem_job::error::{Called::Blocking, Routine};

/// Collectives. All PEs of the team call them in the same order. They pass the same parts of the
/// same arrays, unless a routine says otherwise.
///
/// ```standalone_crate
/// use oneshmem::{Max, Sum};
/// # let shmem = oneshmem::init()?;
/// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
/// let world = shmem.world();
/// let mine = shmem.alloc::<i64>(2)?;
/// let all = shmem.alloc::<i64>(2)?;
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
/// let parts = shmem.alloc::<u8>(npes)?;
/// let whole = shmem.alloc::<u8>(npes * (npes + 1) / 2)?;
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
    /// Waits until every PE of the team has called it. Completes no communication: call
    /// [`quiet`](super::Context::quiet) first for that.
    pub fn sync(&self) {
        collectives::sync(&Blocking("Team::sync"), self.handle());
    }

    /// Copies `source` on PE `root` to `dest` on every PE.
    ///
    /// # Panics
    /// If `dest` and `source` differ in length or overlap.
    #[track_caller]
    pub fn broadcast<T: Element>(&self, dest: impl Part<T>, source: impl Part<T>, root: usize) {
        let (dest, source) = (dest.part(Key), source.part(Key));
        let (name, root) = (&Blocking("Team::broadcast"), i32::try_from(root).unwrap_or(-1));
        let (arrays, bytes) = distinct(name, dest, source, source.len());
        collectives::broadcast(name, self.handle(), arrays, part(bytes), root);
    }

    /// Concatenates the `source`s of all PEs. Lengths may differ between PEs, but all `source`s
    /// start at the same element. Returns the number of elements written to `dest`.
    ///
    /// # Panics
    /// If `dest` cannot hold the elements, or `dest` and `source` overlap.
    #[track_caller]
    pub fn collect<T: Element>(&self, dest: impl Part<T>, source: impl Part<T>) -> usize {
        let (dest, source) = (dest.part(Key), source.part(Key));
        let name = &Blocking("Team::collect");
        let (arrays, bytes) = distinct(name, dest, source, dest.len());
        // A PE cannot check the other PEs' lengths by itself.
        let filled = collectives::total(name, self.handle(), bytes) / size_of::<T>();
        assert!(
            filled <= dest.len(),
            "{name}: dest has {} elements; expected {filled}, as many as the sources together",
            dest.len()
        );
        collectives::collect(name, self.handle(), arrays, part(bytes));
        filled
    }

    /// Concatenates the `source`s of all PEs, which have equal lengths.
    ///
    /// # Panics
    /// If the lengths of `dest` and `source` do not match, or the two overlap.
    #[track_caller]
    pub fn fcollect<T: Element>(&self, dest: impl Part<T>, source: impl Part<T>) {
        let (dest, source) = (dest.part(Key), source.part(Key));
        let name = &Blocking("Team::fcollect");
        let (arrays, bytes) = distinct(name, dest, source, source.len() * self.n_pes());
        collectives::fcollect(name, self.handle(), arrays, part(bytes));
    }

    /// Copies block `i` of every PE's `source` to PE `i`, which stores the blocks in PE order.
    ///
    /// # Panics
    /// If the lengths of `dest` and `source` do not match, or the two overlap.
    #[track_caller]
    pub fn alltoall<T: Element>(&self, dest: impl Part<T>, source: impl Part<T>) {
        let (dest, source) = (dest.part(Key), source.part(Key));
        let (name, npes) = (&Blocking("Team::alltoall"), self.n_pes());
        let (arrays, bytes) = distinct(name, dest, source, source.len());
        assert!(
            source.len() % npes == 0,
            "{name}: source has {} elements; expected a multiple of {npes}, the number of PEs",
            source.len()
        );
        collectives::alltoall(name, self.handle(), arrays, part(bytes / npes));
    }

    /// As [`alltoall`](Self::alltoall), with blocks of `nelems` elements that are `dst` apart in
    /// `dest` and `sst` apart in `source`. Element `e` of block `b` has index
    /// `stride * (b * nelems + e)`. Strides are at least 1.
    ///
    /// ```standalone_crate
    /// # let shmem = oneshmem::init()?;
    /// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    /// let source = shmem.alloc::<u16>(npes)?;
    /// let dest = shmem.alloc::<u16>(3 * npes)?;
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
    ///
    /// # Panics
    /// If `dest` or `source` is too short, or the two overlap.
    #[track_caller]
    pub fn alltoalls<T: Element>(
        &self,
        dest: impl Part<T>,
        source: impl Part<T>,
        dst: usize,
        sst: usize,
        nelems: usize,
    ) {
        let (dest, source) = (dest.part(Key), source.part(Key));
        let routine = &Blocking("Team::alltoalls");
        let elements = nelems.checked_mul(self.n_pes());
        for (name, stride, len) in [("dest", dst, dest.len()), ("source", sst, source.len())] {
            let needed = elements.and_then(|n| match n {
                0 => Some(0),
                n => (n - 1).checked_mul(stride)?.checked_add(1),
            });
            assert!(
                needed.is_some_and(|needed| needed <= len),
                "{routine}: {name} has {len} elements; expected enough for a block of {nelems} for each PE, \
                 {stride} apart"
            );
        }
        dest.assert_disjoint(routine, source);
        let (arrays, elem_bytes) = (dest.with(source), size_of::<T>());
        let [dst, sst] = [dst, sst].map(|stride| isize::try_from(stride).unwrap_or(isize::MAX));
        let call = collectives::Alltoalls { arrays, dst, sst, nelems, elem_bytes };
        collectives::alltoalls(routine, self.handle(), call);
    }

    /// Copies a block of any length from every PE to every PE. PE `i` of the team gets the `source_lens[i]`
    /// elements of `source` from `source_offsets[i]` on. What comes from PE `i` goes to `dest` from
    /// `dest_offsets[i]` on, and `dest_lens[i]` gets its length.
    ///
    /// ```standalone_crate
    /// # let shmem = oneshmem::init()?;
    /// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    /// let [source, dest] = [shmem.alloc::<u8>(npes)?, shmem.alloc::<u8>(npes)?];
    /// let [offsets, lens] = [shmem.alloc::<usize>(npes)?, shmem.alloc::<usize>(npes)?];
    /// source.all().fill(me as u8);
    /// lens.at(npes - 1).set(1); // All elements go to the last PE.
    /// let (places, mut got) = ((0..npes).collect::<Vec<_>>(), vec![0; npes]);
    /// shmem.world().alltoallv(
    ///     (dest.all(), &places, &mut got),
    ///     (source.all(), offsets.all(), lens.all()),
    /// );
    /// assert_eq!(got, vec![usize::from(me == npes - 1); npes]);
    /// # shmem.free(lens);
    /// # shmem.free(offsets);
    /// # shmem.free(dest);
    /// # shmem.free(source);
    /// # shmem.finalize();
    /// # Ok::<(), oneshmem::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a table has not as many elements as the team has PEs, or `dest` overlaps with `source` or a table.
    #[track_caller]
    pub fn alltoallv<T: Element>(
        &self,
        (dest, dest_offsets, dest_lens): (impl Part<T>, &[usize], &mut [usize]),
        (source, source_offsets, source_lens): (
            impl Part<T>,
            SymmetricSlice<'_, usize>,
            SymmetricSlice<'_, usize>,
        ),
    ) {
        let routine = &Blocking("Team::alltoallv");
        let (dest, source) = (dest.part(Key), source.part(Key));
        dest.assert_disjoint(routine, source);
        dest.assert_disjoint(routine, source_offsets);
        dest.assert_disjoint(routine, source_lens);
        let npes = self.n_pes();
        for (name, len) in [
            ("dest_offsets", dest_offsets.len()),
            ("dest_lens", dest_lens.len()),
            ("source_offsets", source_offsets.len()),
            ("source_lens", source_lens.len()),
        ] {
            same_len(routine, (name, len), ("the team", npes));
        }
        let call = collectives::Alltoallv {
            arrays: dest.with(source),
            t_offsets: dest_offsets.into(),
            t_sizes: dest_lens.into(),
            s_offsets: source_offsets.table(),
            s_sizes: source_lens.table(),
            unit: size_of::<T>(),
            most: [dest.len(), source.len()],
        };
        collectives::alltoallv(routine, self.handle(), call);
    }

    /// Combines the `source`s of all PEs element by element, in PE order:
    /// `team.reduce::<_, Sum>(dest, source)`. `dest` may be `source`.
    ///
    /// # Panics
    /// If the lengths differ, or if `dest` and `source` overlap without being the same.
    #[track_caller]
    pub fn reduce<T: Element, O: ReduceOp<T>>(&self, dest: impl Part<T>, source: impl Part<T>) {
        let (dest, source) = (dest.part(Key), source.part(Key));
        let name = &Blocking("Team::reduce");
        let (arrays, n) = in_place_or_disjoint(name, dest, source);
        collectives::reduce::<T, O>(name, self.handle(), arrays, n);
    }

    /// Sums the `source`s of the PEs up to and including this one. `dest` may be `source`.
    ///
    /// # Panics
    /// If the lengths differ, or if `dest` and `source` overlap without being the same.
    #[track_caller]
    pub fn sum_inscan<T: Element>(&self, dest: impl Part<T>, source: impl Part<T>)
    where
        Sum: ReduceOp<T>,
    {
        let (dest, source) = (dest.part(Key), source.part(Key));
        let name = &Blocking("Team::sum_inscan");
        let (arrays, n) = in_place_or_disjoint(name, dest, source);
        collectives::scan::<T>(name, self.handle(), arrays, n, true);
    }

    /// Sums the `source`s of the PEs before this one; the first PE gets zeros. `dest` may be
    /// `source`.
    ///
    /// # Panics
    /// If the lengths differ, or if `dest` and `source` overlap without being the same.
    #[track_caller]
    pub fn sum_exscan<T: Element>(&self, dest: impl Part<T>, source: impl Part<T>)
    where
        Sum: ReduceOp<T>,
    {
        let (dest, source) = (dest.part(Key), source.part(Key));
        let name = &Blocking("Team::sum_exscan");
        let (arrays, n) = in_place_or_disjoint(name, dest, source);
        collectives::scan::<T>(name, self.handle(), arrays, n, false);
    }
}

/// Checks that the two parts are disjoint and that `dest` has `len` elements. Returns the arrays
/// and the size of `source` in bytes.
#[track_caller]
fn distinct<'a, T: Element>(
    routine: Routine,
    dest: SymmetricSlice<'a, T>,
    source: SymmetricSlice<'a, T>,
    len: usize,
) -> (Arrays<'a>, usize) {
    same_len(routine, ("dest", dest.len()), ("the result", len));
    dest.assert_disjoint(routine, source);
    (dest.with(source), size_of::<T>() * source.len())
}

/// A size in bytes in the core's type. The caller has checked the bounds.
fn part(bytes: usize) -> Span {
    Span::elements("nelems", bytes, 1)
}

/// Checks that the two parts are the same or disjoint, and equally long. Returns the arrays and the
/// number of elements.
#[track_caller]
fn in_place_or_disjoint<'a, T: Element>(
    routine: Routine,
    dest: SymmetricSlice<'a, T>,
    source: SymmetricSlice<'a, T>,
) -> (Arrays<'a>, usize) {
    same_len(routine, ("source", source.len()), ("dest", dest.len()));
    if dest.pointer() != source.pointer() {
        dest.assert_disjoint(routine, source);
    }
    (dest.with(source), dest.len())
}
