//! Storage of arrays: symmetric memory, and the team whose PEs share it.
#![allow(unsafe_code)]

use crate::error::{Error, Result};
use oneshmem::{Element, Max, Shmem, Symmetric, SymmetricSlice, Team};
use std::ops::Range;

/// Equally many elements on all PEs. Other PEs use them by copies and atomics, except in a
/// [`phase`](Self::phase). Only this file makes references to them.
#[derive(Debug)]
pub(crate) struct Storage<'a, T> {
    shmem: &'a Shmem,
    /// All PEs. Nobody else has this team, so its PEs meet only in the calls of this file.
    team: Team<'a>,
    elements: Symmetric<'a, T>,
}

impl<'a, T: Element> Storage<'a, T> {
    /// Allocates `per_pe` zeroed elements on every PE, which is a function of `arguments`. Collective.
    pub(crate) fn new(
        routine: &'static str,
        shmem: &'a Shmem,
        arguments: &[(&'static str, usize)],
        per_pe: usize,
    ) -> Result<Self> {
        let team = shmem.world().split_strided(0, 1, shmem.n_pes(), None);
        let Ok(Some(team)) = team else { return Err(Error::NoTeam { routine }) };
        let elements =
            agree(routine, shmem, &team, arguments).and_then(|()| Ok(shmem.alloc(per_pe)?));
        match elements {
            Ok(elements) => Ok(Self { shmem, team, elements }),
            Err(error) => {
                team.destroy();
                Err(error)
            }
        }
    }

    #[inline]
    pub(crate) fn shmem(&self) -> &'a Shmem {
        self.shmem
    }

    /// Element `offset` of a PE.
    #[inline]
    #[track_caller]
    pub(crate) fn at(&self, offset: usize) -> SymmetricSlice<'_, T> {
        self.elements.at(offset)
    }

    /// Elements of a PE.
    #[track_caller]
    pub(crate) fn slice(&self, range: Range<usize>) -> SymmetricSlice<'_, T> {
        self.elements.slice(range)
    }

    /// Calls `work` with this PE's elements in `range`, while no PE uses them otherwise. Collective: it begins
    /// when all puts of all PEs are complete, and ends when all PEs have ended it.
    pub(crate) fn phase<R>(&mut self, range: Range<usize>, work: impl FnOnce(&mut [T]) -> R) -> R {
        /// Ends the phase, also if `work` panics: before all have ended it, no PE gets its array back.
        struct End<'a, 'b>(&'a Team<'b>);
        impl Drop for End<'_, '_> {
            fn drop(&mut self) {
                self.0.sync();
            }
        }
        let own = self.elements.slice(range);
        self.shmem.quiet();
        self.team.sync();
        let _end = End(&self.team);
        // SAFETY: nobody else uses the elements until `work` returns. This PE does not: `self` is borrowed
        // mutably, and `own` is not used again. Another PE reaches them only through its own value of this
        // array, which is neither cloned nor sent to threads. All begin phases together, because once
        // there is an array its team meets at the beginning and at the end of a phase and nowhere else, and
        // phases do not nest. So that PE, too, is in this function, which borrows its value mutably until the
        // team has met again, after `work`; and what it began before is complete, by its quiet. That the values
        // of all PEs are this array, and exist, is by the collective calls that allocate and free memory:
        // in each, `Shmem` compares place and length on all PEs.
        let own = unsafe { own.as_mut_slice() };
        work(own)
    }

    /// Frees the elements. Collective.
    pub(crate) fn free(self) {
        self.shmem.free(self.elements);
        self.team.destroy();
    }
}

/// Whether all PEs have the same arguments; the first that differs is the error. Collective.
fn agree(
    routine: &'static str,
    shmem: &Shmem,
    team: &Team<'_>,
    arguments: &[(&'static str, usize)],
) -> Result<()> {
    // The greatest complement is that of the least value.
    let values = arguments.iter().flat_map(|(_, value)| [*value as u64, !*value as u64]);
    let extremes = shmem.alloc::<u64>(2 * arguments.len())?;
    extremes.all().write(&values.collect::<Vec<_>>());
    team.reduce::<_, Max>(extremes.all(), extremes.all());
    let found = extremes.all().to_vec();
    shmem.free(extremes);
    let differs = |(&(argument, here), found): (&(&'static str, usize), &[u64])| {
        let (most, least) = (found[0], !found[1]);
        let here = here as u64;
        (least < most).then_some(Error::Unequal { routine, argument, here, least, most })
    };
    arguments.iter().zip(found.chunks_exact(2)).find_map(differs).map_or(Ok(()), Err)
}
