//! The collective routines on teams (specification, section 9.10). They find the team, and all
//! return 0.
#![allow(unsafe_code)]

use super::agreement::{NONE, for_collective, for_nothing};
use super::arrays::Arrays;
use super::{
    Element, EpochGroup, Group, Kernel, ReduceOp, Small, Sum, TeamMembers, run, with_team,
};
use crate::atomics::{Ordering, fence};
use crate::error::Routine;
use crate::span::Span;
use crate::team::{self, TEAM_WORLD, Team};
use std::ffi::c_int;

/// A team on this node as the algorithms see it, in a call of `routine`.
pub(crate) fn on_team(routine: Routine, team: &'static Team) -> EpochGroup<'static, TeamMembers> {
    EpochGroup::new(TeamMembers { routine, team }, team.epoch())
}

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
    // SAFETY: this routine asks the same of its callers, for what `run` makes of them.
    let arrays = unsafe { Arrays::new(dest, source) };
    let bytes = part.accessed;
    let agreed = || [("nelems in bytes", bytes), ("PE_root", root as usize), NONE];
    collective!(routine, team, bytes, agreed, |group| {
        run::broadcast(routine, group, arrays, part, root, true)
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
    // SAFETY: this routine asks the same of its callers, for what `run` makes of them.
    let arrays = unsafe { Arrays::new(dest, source) };
    collective!(routine, team, part.accessed, || [NONE; 3], |group| {
        run::collect(routine, group, arrays, part)
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
    // SAFETY: this routine asks the same of its callers, for what `run` makes of them.
    let arrays = unsafe { Arrays::new(dest, source) };
    let bytes = part.accessed;
    let agreed = || [("nelems in bytes", bytes), NONE, NONE];
    if bytes == 0 {
        for_nothing(routine, team, agreed());
    } else {
        collective!(routine, team, bytes, agreed, |group| {
            run::fcollect(routine, group, arrays, part)
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
    // SAFETY: this routine asks the same of its callers, for what `run` makes of them.
    let arrays = unsafe { Arrays::new(dest, source) };
    let bytes = part.accessed;
    let agreed = || [("nelems in bytes", bytes), NONE, NONE];
    if bytes == 0 {
        for_nothing(routine, team, agreed());
    } else {
        collective!(routine, team, bytes, agreed, |group| {
            run::alltoall(routine, group, arrays, part)
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
    // SAFETY: this routine asks the same of its callers, for what `run` makes of them.
    let arrays = unsafe { Arrays::new(dest, source) };
    let agreed = || [("nelems", nelems), ("dst", dst as usize), ("sst", sst as usize)];
    if nelems == 0 || elem_bytes == 0 {
        for_nothing(routine, team, agreed());
    } else {
        let bytes = nelems.saturating_mul(elem_bytes);
        collective!(routine, team, bytes, agreed, |group| {
            run::alltoalls(routine, group, arrays, (dst, sst), nelems, elem_bytes);
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
    // SAFETY: this routine asks the same of its callers, for what `run` makes of them.
    let arrays = unsafe { Arrays::new(dest, source) };
    reduce_with(routine, team, arrays, n, Kernel::of::<T, O>())
}

/// As [`reduce`], compiled once for all types.
fn reduce_with(
    routine: Routine,
    team: usize,
    arrays: Arrays<'_>,
    n: usize,
    kernel: Kernel,
) -> c_int {
    let agreed = || [("nreduce", n), NONE, NONE];
    if n == 0 {
        for_nothing(routine, team, agreed());
    } else {
        let bytes = n.saturating_mul(kernel.bytes());
        collective!(routine, team, bytes, agreed, |group| {
            run::reduce(routine, group, arrays, n, kernel)
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
    // SAFETY: this routine asks the same of its callers, for what `run` makes of them.
    let arrays = unsafe { Arrays::new(dest, source) };
    let kernel = Kernel::of::<T, Sum>();
    scan_with(routine, team, arrays, n, kernel, inclusive)
}

/// As [`scan`], compiled once for all types.
fn scan_with(
    routine: Routine,
    team: usize,
    arrays: Arrays<'_>,
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
            run::scan(routine, group, arrays, n, kernel, inclusive)
        });
    }
    0
}
