//! Collective routines (specification, section 9.10): barrier, sync, broadcast,
//! collect, fcollect, all-to-all, reductions and scans, on teams; [`active_set`]
//! has the deprecated forms on active sets.
//!
//! The algorithms are the crate `onenode`'s, functions over a [`Group`]; [`select`] says which
//! one a call runs.
//!
//! What the entry points here add: they find the team; [`run`] checks the data, before
//! anything is written. All return 0; what a PE gives is told as a [`Span`].
#![allow(unsafe_code)]

pub mod active_set;
pub(crate) mod agreement;
mod device;
pub(crate) mod far;
mod far_set;
mod members;
mod names;
mod psync;
mod run;
pub mod select;
mod subscription;
#[cfg(test)]
mod tests;
pub mod tuning;

use crate::atomics::{Ordering, fence};
use crate::error::Routine;
use crate::span::Span;
use crate::team::{self, TEAM_WORLD, Team};
use agreement::{NONE, for_collective, for_nothing};
pub(crate) use members::TeamMembers;
pub(crate) use onenode::collectives::epoch_group::{EpochGroup, highest_step};
pub(crate) use onenode::collectives::group::{Group, Reach, Small};
pub use onenode::collectives::reduce;
pub use onenode::collectives::reduce::{Element, Kernel, ReduceOp, Sum};
use std::ffi::c_int;

// Under these names, the model checker puts its own in their places.
use onenode::collectives::{group, scratch};
// Under these, the tests that are shared with the crate `onenode` know its modules.
#[cfg(test)]
use onenode::collectives::{
    algorithm, alltoall, barrier, broadcast, collect, epoch_group, message, scan, words,
};

/// A team on this node as the algorithms see it, in a call of `routine`.
pub(crate) fn on_team(routine: Routine, team: &'static Team) -> EpochGroup<'static, TeamMembers> {
    EpochGroup::new(TeamMembers { routine, team }, team.epoch())
}

/// Calls with the group that a team is, wherever its members are.
macro_rules! with_team {
    ($routine:expr, $team:expr, |$group:ident| $call:expr) => {
        match $crate::collectives::far::on_team($routine, $team) {
            None => {
                let $group = &$crate::collectives::on_team($routine, $team);
                $call
            }
            Some(group) => {
                let $group = &group;
                $call
            }
        }
    };
}
pub(crate) use with_team;

/// Carries out a collective on the team of a handle: at once if all is as it is mostly, else apart.
macro_rules! collective {
    ($routine:expr, $handle:expr, $bytes:expr, $agreed:expr, |$group:ident| $call:expr) => {
        match team::in_use($handle) {
            Some(team) => {
                let $group = &on_team($routine, team);
                $call
            }
            None => apart(|| {
                let team = for_collective($routine, $handle, $bytes, &$agreed());
                with_team!($routine, team, |$group| $call)
            }),
        }
    };
}

#[cold]
#[inline(never)]
fn apart(call: impl FnOnce()) {
    call();
}

/// `shmem_barrier_all`: completes what this PE has issued on the default context,
/// then waits for all PEs.
pub fn barrier_all(routine: Routine) {
    fence(Ordering::SeqCst);
    sync_all(routine);
}

/// `shmem_sync_all`: waits for all PEs.
pub fn sync_all(routine: Routine) {
    sync(routine, TEAM_WORLD);
}

/// `shmem_team_sync`: waits for all PEs of the team.
pub fn sync(routine: Routine, team: usize) -> c_int {
    collective!(routine, team, 0, || [NONE; 3], |group| run::sync(routine, group));
    0
}

/// `shmem_broadcast`: the `part` of the source of the team's PE `root` goes to the dest
/// of every PE of the team.
///
/// # Safety
/// `source` is readable at the root and `dest` writable for it, not
/// overlapping, and no PE accesses them in conflict with the call.
pub unsafe fn broadcast(
    routine: Routine,
    team: usize,
    dest: *mut u8,
    source: *const u8,
    part: Span,
    root: c_int,
) -> c_int {
    let bytes = part.accessed;
    let agreed = || [("nelems in bytes", bytes), ("PE_root", root as usize), NONE];
    collective!(routine, team, bytes, agreed, |group| {
        // SAFETY: the caller's promise, passed on.
        unsafe { run::broadcast(routine, group, dest, source, part, root, true) }
    });
    0
}

/// `shmem_collect`: the concatenation of all sources, of which each PE has a `part`
/// as large as it likes.
///
/// # Safety
/// `source` is readable for it, `dest` writable for all PEs', not
/// overlapping, and no PE accesses them in conflict with the call.
pub unsafe fn collect(
    routine: Routine,
    team: usize,
    dest: *mut u8,
    source: *const u8,
    part: Span,
) -> c_int {
    collective!(routine, team, part.accessed, || [NONE; 3], |group| {
        // SAFETY: the caller's promise, passed on.
        unsafe { run::collect(routine, group, dest, source, part) }
    });
    0
}

/// The sum of the `bytes` that each PE of the team gives: what a [`collect`] of them
/// needs of room.
pub(crate) fn total(routine: Routine, team: usize, bytes: usize) -> usize {
    let (mut total, mut mine) = (0, Small::default());
    mine[0] = bytes as u64;
    let add = |_, theirs: &Small| {
        total += theirs[0] as usize;
        Ok(())
    };
    let Ok(()) =
        with_team!(routine, team::required(routine, team), |group| group.exchange(&mine, add));
    total
}

/// `shmem_fcollect`: the concatenation of all sources, a `part` of each PE.
///
/// # Safety
/// `source` is readable for it, `dest` writable for all PEs', not
/// overlapping, and no PE accesses them in conflict with the call.
pub unsafe fn fcollect(
    routine: Routine,
    team: usize,
    dest: *mut u8,
    source: *const u8,
    part: Span,
) -> c_int {
    let bytes = part.accessed;
    let agreed = || [("nelems in bytes", bytes), NONE, NONE];
    if bytes == 0 {
        for_nothing(routine, team, agreed());
    } else {
        collective!(routine, team, bytes, agreed, |group| {
            // SAFETY: the caller's promise, passed on.
            unsafe { run::fcollect(routine, group, dest, source, part) }
        });
    }
    0
}

/// `shmem_alltoall`: a `part` from each PE to each PE.
///
/// # Safety
/// `source` is readable and `dest` writable for one a PE, not overlapping,
/// and no PE accesses them in conflict with the call.
pub unsafe fn alltoall(
    routine: Routine,
    team: usize,
    dest: *mut u8,
    source: *const u8,
    part: Span,
) -> c_int {
    let bytes = part.accessed;
    let agreed = || [("nelems in bytes", bytes), NONE, NONE];
    if bytes == 0 {
        for_nothing(routine, team, agreed());
    } else {
        collective!(routine, team, bytes, agreed, |group| {
            // SAFETY: the caller's promise, passed on.
            unsafe { run::alltoall(routine, group, dest, source, part) }
        });
    }
    0
}

/// `shmem_alltoalls`: `nelems` elements of `elem_bytes` bytes from each PE to each
/// PE, `dst` elements apart in dest and `sst` in source.
///
/// # Safety
/// `source` is readable and `dest` writable at the strided indices, not overlapping,
/// and no PE accesses them in conflict with the call.
#[allow(clippy::too_many_arguments)] // The specification's list.
pub unsafe fn alltoalls(
    routine: Routine,
    team: usize,
    dest: *mut u8,
    source: *const u8,
    dst: isize,
    sst: isize,
    nelems: usize,
    elem_bytes: usize,
) -> c_int {
    let agreed = || [("nelems", nelems), ("dst", dst as usize), ("sst", sst as usize)];
    if nelems == 0 || elem_bytes == 0 {
        for_nothing(routine, team, agreed());
    } else {
        let bytes = nelems.saturating_mul(elem_bytes);
        collective!(routine, team, bytes, agreed, |group| {
            // SAFETY: the caller's promise, passed on.
            unsafe {
                run::alltoalls(routine, group, dest, source, (dst, sst), nelems, elem_bytes);
            }
        });
    }
    0
}

/// `shmem_and_reduce` and its kin: `n` elements combined by `O` over all PEs of the
/// team, to all of them.
///
/// # Safety
/// `source` is readable and `dest` writable for `n` elements; they are equal or do
/// not overlap, and no PE accesses them in conflict with the call.
pub unsafe fn reduce<T: Element, O: ReduceOp<T>>(
    routine: Routine,
    team: usize,
    dest: *mut T,
    source: *const T,
    n: usize,
) -> c_int {
    // SAFETY: the caller's promise, passed on.
    unsafe { reduce_with(routine, team, dest.cast(), source.cast(), n, Kernel::of::<T, O>()) }
}

/// As [`reduce`], compiled once for all types.
///
/// # Safety
/// As [`reduce`].
unsafe fn reduce_with(
    routine: Routine,
    team: usize,
    dest: *mut u8,
    source: *const u8,
    n: usize,
    kernel: Kernel,
) -> c_int {
    let agreed = || [("nreduce", n), NONE, NONE];
    if n == 0 {
        for_nothing(routine, team, agreed());
    } else {
        let bytes = n.saturating_mul(kernel.bytes());
        collective!(routine, team, bytes, agreed, |group| {
            // SAFETY: the caller's promise, passed on.
            unsafe { run::reduce(routine, group, dest, source, n, kernel) }
        });
    }
    0
}

/// `shmem_sum_inscan` and `shmem_sum_exscan`: the sums of the sources of all PEs
/// before this one in the team, its own included if `inclusive`.
///
/// # Safety
/// `source` is readable and `dest` writable for `n` elements; they are equal or do
/// not overlap, and no PE accesses them in conflict with the call.
pub unsafe fn scan<T: Element>(
    routine: Routine,
    team: usize,
    dest: *mut T,
    source: *const T,
    n: usize,
    inclusive: bool,
) -> c_int
where
    Sum: ReduceOp<T>,
{
    let kernel = Kernel::of::<T, Sum>();
    // SAFETY: the caller's promise, passed on.
    unsafe { scan_with(routine, team, dest.cast(), source.cast(), n, kernel, inclusive) }
}

/// As [`scan`], compiled once for all types.
///
/// # Safety
/// As [`scan`].
unsafe fn scan_with(
    routine: Routine,
    team: usize,
    dest: *mut u8,
    source: *const u8,
    n: usize,
    kernel: Kernel,
    inclusive: bool,
) -> c_int {
    let agreed = || [("nelems", n), NONE, NONE];
    if n == 0 {
        for_nothing(routine, team, agreed());
    } else {
        let bytes = n.saturating_mul(kernel.bytes());
        collective!(routine, team, bytes, agreed, |group| {
            // SAFETY: the caller's promise, passed on.
            unsafe { run::scan(routine, group, dest, source, n, kernel, inclusive) }
        });
    }
    0
}
