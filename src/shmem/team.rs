//! Teams: the PEs of a collective, and contexts that number PEs as a team does.
#![allow(unsafe_code)]

use super::memory::{Part, same_len};
use super::operations::Context;
use crate::collectives::{self, Element, ReduceOp, Sum};
use crate::context::{self, Handle};
use crate::team::{self, TEAM_INVALID, TEAM_WORLD};
use std::marker::PhantomData;
use std::ops::Deref;

/// Some PEs of the job, numbered from 0 (specification, section 9.4). Destroyed by
/// [`destroy`](Self::destroy), never by being dropped. All methods but the
/// questions are collective over the team.
///
/// ```standalone_crate
/// use oneshmem::{Max, Sum};
/// # let shmem = oneshmem::init()?;
/// let world = shmem.world();
/// let mine = shmem.alloc::<i64>(2).unwrap();
/// let all = shmem.alloc::<i64>(2).unwrap();
/// mine.all().write(&[1, shmem.my_pe() as i64]);
/// world.reduce::<_, Sum>(all.all(), mine.all());
/// assert_eq!(all.at(0).get(), shmem.n_pes() as i64);
/// world.reduce::<_, Max>(all.all(), mine.all());
/// assert_eq!(all.at(1).get(), shmem.n_pes() as i64 - 1);
/// # shmem.free(all);
/// # shmem.free(mine);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Team<'a> {
    handle: usize,
    session: PhantomData<&'a ()>,
}

impl<'a> Team<'a> {
    pub(super) fn world(session: PhantomData<&'a ()>) -> Self {
        Self { handle: TEAM_WORLD, session }
    }

    /// This PE's number in the team.
    pub fn my_pe(&self) -> usize {
        team::my_pe(&"Team::my_pe", self.handle) as usize
    }

    /// Number of PEs in the team.
    pub fn n_pes(&self) -> usize {
        team::n_pes(&"Team::n_pes", self.handle) as usize
    }

    /// What PE `pe` of this team is numbered in `other`, if it is in both.
    pub fn translate_pe(&self, pe: usize, other: &Team<'_>) -> Option<usize> {
        let pe = i32::try_from(pe).ok()?;
        let there = team::translate_pe(&"Team::translate_pe", self.handle, pe, other.handle);
        usize::try_from(there).ok()
    }

    /// A team of this team's PEs `start + i * stride`, `i < size`. `Ok(None)` on the
    /// PEs that are not among them; `Err(())`, on all PEs alike, if there is no such
    /// team.
    #[allow(clippy::result_unit_err)] // There is one reason, and the core does not name it.
    pub fn split_strided(
        &self,
        start: usize,
        stride: isize,
        size: usize,
    ) -> Result<Option<Team<'a>>, ()> {
        let [Ok(start), Ok(stride), Ok(size)] =
            [i32::try_from(start), i32::try_from(stride), i32::try_from(size)]
        else {
            return Err(());
        };
        let mut handle = TEAM_INVALID;
        let config = std::ptr::null();
        // SAFETY: the handle is a local; a mask of 0 leaves the configuration alone.
        let status = unsafe {
            team::split::split_strided(
                &"Team::split_strided",
                self.handle,
                start,
                stride,
                size,
                config,
                0,
                &mut handle,
            )
        };
        match (status, handle) {
            (0, TEAM_INVALID) => Ok(None),
            (0, handle) => Ok(Some(Self { handle, session: PhantomData })),
            _ => Err(()),
        }
    }

    /// Ends the team. Not for the world.
    pub fn destroy(self) {
        team::destroy(&"Team::destroy", self.handle);
    }

    /// A context that numbers PEs as this team does; `None` if there is no more.
    pub fn create_context(&self) -> Option<TeamContext<'a>> {
        let mut handle = context::CTX_INVALID;
        // SAFETY: the handle is a local.
        let status =
            unsafe { context::team_create(&"Team::create_context", self.handle, 0, &mut handle) };
        // SAFETY: the core has just made it.
        (status == 0).then(|| TeamContext { context: Context::new(unsafe { Handle::new(handle) }) })
    }

    /// Waits until all PEs of the team have come here.
    pub fn sync(&self) {
        collectives::sync(&"Team::sync", self.handle);
    }

    /// PE `root`'s `source` goes to every PE's `dest`.
    pub fn broadcast<T: Element>(&self, dest: Part<'_, T>, source: Part<'_, T>, root: usize) {
        same_len(dest.len(), source.len());
        dest.assert_disjoint(source);
        let root = i32::try_from(root).unwrap_or(-1);
        // SAFETY: both are live, equally long and disjoint.
        unsafe {
            collectives::broadcast(
                &"Team::broadcast",
                self.handle,
                dest.pointer().cast(),
                source.pointer().cast(),
                size_of::<T>() * source.len(),
                root,
            );
        }
    }

    /// All PEs' `source`s, equally long, one after the other.
    pub fn fcollect<T: Element>(&self, dest: Part<'_, T>, source: Part<'_, T>) {
        same_len(dest.len(), source.len() * self.n_pes());
        dest.assert_disjoint(source);
        // SAFETY: `dest` has room for every PE's source; both live and disjoint.
        unsafe {
            collectives::fcollect(
                &"Team::fcollect",
                self.handle,
                dest.pointer().cast(),
                source.pointer().cast(),
                size_of::<T>() * source.len(),
            );
        }
    }

    /// Block `i` of every PE's `source` goes to PE `i`, in the order of the PEs.
    pub fn alltoall<T: Element>(&self, dest: Part<'_, T>, source: Part<'_, T>) {
        same_len(dest.len(), source.len());
        dest.assert_disjoint(source);
        let npes = self.n_pes();
        assert_eq!(source.len() % npes, 0, "{} elements in {npes} blocks", source.len());
        // SAFETY: `npes` blocks on either side; both live and disjoint.
        unsafe {
            collectives::alltoall(
                &"Team::alltoall",
                self.handle,
                dest.pointer().cast(),
                source.pointer().cast(),
                size_of::<T>() * source.len() / npes,
            );
        }
    }

    /// Combines all PEs' `source`s element by element, in the order of the PEs:
    /// `team.reduce::<_, Sum>(dest, source)`. `dest` may be `source`.
    pub fn reduce<T: Element, O: ReduceOp<T>>(&self, dest: Part<'_, T>, source: Part<'_, T>) {
        let n = in_place_or_disjoint(dest, source);
        // SAFETY: equally long and live; the same or disjoint.
        unsafe {
            collectives::reduce::<T, O>(
                &"Team::reduce",
                self.handle,
                dest.pointer(),
                source.pointer(),
                n,
            );
        }
    }

    /// The sums of the `source`s of the PEs up to this one, or up to the one before
    /// it. `dest` may be `source`.
    pub fn scan<T: Element>(&self, dest: Part<'_, T>, source: Part<'_, T>, inclusive: bool)
    where
        Sum: ReduceOp<T>,
    {
        let n = in_place_or_disjoint(dest, source);
        // SAFETY: as for `reduce`.
        unsafe {
            collectives::scan(
                &"Team::scan",
                self.handle,
                dest.pointer(),
                source.pointer(),
                n,
                inclusive,
            );
        }
    }
}

/// The common length of two parts that are the same or have nothing in common.
fn in_place_or_disjoint<T: Element>(dest: Part<'_, T>, source: Part<'_, T>) -> usize {
    same_len(dest.len(), source.len());
    if dest.pointer() != source.pointer() {
        dest.assert_disjoint(source);
    }
    dest.len()
}

/// A context of a team: a [`Context`] whose PE numbers are the team's. Destroyed by
/// being dropped, which completes its communication; that is not collective.
#[derive(Debug)]
pub struct TeamContext<'a> {
    context: Context<'a, Handle>,
}

impl<'a> Deref for TeamContext<'a> {
    type Target = Context<'a, Handle>;

    fn deref(&self) -> &Self::Target {
        &self.context
    }
}

impl Drop for TeamContext<'_> {
    fn drop(&mut self) {
        use crate::translate::Numbering;
        context::destroy(&"TeamContext::drop", self.context.numbering().handle());
    }
}
