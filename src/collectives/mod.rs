//! Collective routines (specification, section 9.10): barrier, sync, broadcast,
//! collect, fcollect, all-to-all, reductions and scans, on teams; [`active_set`]
//! has the deprecated forms on active sets.
//!
//! The algorithms are the crate `onenode`'s, functions over a [`Group`]; [`select`] says which
//! one a call runs.
//!
//! What the entry points here add: they find the team and check the arguments, before
//! anything is written. All return 0; what a PE gives is told as a [`Span`].
#![allow(unsafe_code)]

pub mod active_set;
pub(crate) mod agreement;
mod members;
mod psync;
mod run;
pub mod select;
#[cfg(test)]
mod tests;
pub mod tuning;

use crate::atomics::{Ordering, fence};
use crate::error::Routine;
use crate::failure;
use crate::span::Span;
use crate::team::{self, TEAM_WORLD, Team};
use agreement::{NONE, for_collective, for_nothing};
pub(crate) use members::TeamMembers;
use onenode::collectives::alltoall::{Alltoall, Blocks, Shape};
use onenode::collectives::broadcast::Broadcast;
use onenode::collectives::collect::{Collect, Parts};
pub(crate) use onenode::collectives::epochs::{Epochs, highest_step};
pub(crate) use onenode::collectives::group::{Group, Reach, Small};
pub use onenode::collectives::reduce;
use onenode::collectives::reduce::Reduce;
pub use onenode::collectives::reduce::{Element, Kernel, ReduceOp, Sum};
use onenode::collectives::scan::Scan;
use std::ffi::c_int;

// Under this name, the model checker puts its own in its place.
use onenode::collectives::group;
// Under these, the tests that are shared with the crate `onenode` know its modules.
#[cfg(test)]
use onenode::collectives::{algorithms, alltoall, broadcast, collect, epochs, scan, words};

/// A team as the algorithms see it, in a call of `routine`.
pub(crate) fn on_team(routine: Routine, team: &'static Team) -> Epochs<'static, TeamMembers> {
    Epochs::new(TeamMembers { routine, team }, team.clock())
}

/// An argument's address, and how much from there on the call accesses.
type Data = (usize, Span);

/// As [`on_team`], for a call that moves data: dest and source must be symmetric, in whole.
fn with_data(
    routine: Routine,
    team: &'static Team,
    dest: Data,
    source: Data,
) -> Epochs<'static, TeamMembers> {
    check_data(routine, dest, source);
    on_team(routine, team)
}

fn check_data(routine: Routine, (dest, written): Data, (source, read): Data) {
    members::check(routine, "dest", dest, written);
    members::check(routine, "source", source, read);
}

/// The PE number of a root.
fn checked_root(routine: Routine, root: c_int, size: usize) -> usize {
    usize::try_from(root).ok().filter(|root| *root < size).unwrap_or_else(|| {
        failure::misuse(
            routine,
            format_args!("PE_root = {root}"),
            format_args!("expected a PE number from 0 to {}", size - 1),
        )
    })
}

/// The shape of a strided all-to-all.
fn checked_shape(
    routine: Routine,
    (dst, sst): (isize, isize),
    nelems: usize,
    elem_bytes: usize,
) -> Shape {
    let stride = |name: &str, value: isize| {
        usize::try_from(value).ok().filter(|stride| *stride > 0).unwrap_or_else(|| {
            failure::misuse(
                routine,
                format_args!("{name} = {value}"),
                "expected a stride of at least 1",
            )
        })
    };
    Shape { dst: stride("dst", dst), sst: stride("sst", sst), nelems, elem_bytes }
}

/// What a strided all-to-all of `npes` PEs accesses of dest and of source.
fn spans(shape: Shape, npes: usize) -> [Span; 2] {
    let Shape { dst, sst, nelems, elem_bytes } = shape;
    [("dst", dst), ("sst", sst)].map(|(name, stride)| {
        let of = |n| Span::strided((name, stride as isize), n, elem_bytes);
        of(nelems).with_bytes(nelems.checked_mul(npes).and_then(|n| of(n).bytes))
    })
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
    run::sync(routine, &on_team(routine, for_collective(routine, team, 0, || [NONE; 3])));
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
    let team = for_collective(routine, team, bytes, agreed);
    let root = checked_root(routine, root, team.size());
    if bytes > 0 {
        let group = with_data(routine, team, (dest as usize, part), (source as usize, part));
        // SAFETY: the caller's promise, passed on.
        unsafe {
            run::broadcast(routine, &group, Broadcast { dest, source, bytes, root, root_too: true })
        }
    }
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
    let bytes = part.accessed;
    let group = on_team(routine, for_collective(routine, team, bytes, || [NONE; 3]));
    if bytes > 0 {
        check_data(routine, (dest as usize, part), (source as usize, part));
    }
    // SAFETY: the caller's promise, passed on.
    unsafe {
        run::collect(routine, &group, dest, source, bytes);
    }
    0
}

/// The sum of the `bytes` that each PE of the team gives: what a [`collect`] of them
/// needs of room.
pub(crate) fn total(routine: Routine, team: usize, bytes: usize) -> usize {
    let (mut total, mut mine) = (0, Small::default());
    mine[0] = bytes as u64;
    let group = on_team(routine, team::required(routine, team));
    group.exchange(&mine, |_, theirs| total += theirs[0] as usize);
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
        let team = for_collective(routine, team, bytes, agreed);
        let all = part.times(team.size());
        let group = with_data(routine, team, (dest as usize, all), (source as usize, part));
        // SAFETY: the caller's promise, passed on.
        unsafe {
            run::fcollect(routine, &group, Collect { dest, source, parts: Parts::Equal(bytes) })
        }
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
        let team = for_collective(routine, team, bytes, agreed);
        let all = part.times(team.size());
        let group = with_data(routine, team, (dest as usize, all), (source as usize, all));
        // SAFETY: the caller's promise, passed on.
        unsafe {
            run::alltoall(routine, &group, Alltoall { dest, source, blocks: Blocks::Dense(bytes) })
        }
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
        let shape = checked_shape(routine, (dst, sst), nelems, elem_bytes);
        let team = for_collective(routine, team, nelems.saturating_mul(elem_bytes), agreed);
        let [written, read] = spans(shape, team.size());
        let group = with_data(routine, team, (dest as usize, written), (source as usize, read));
        // SAFETY: the caller's promise, passed on.
        unsafe {
            let blocks = Blocks::Strided(shape);
            run::alltoall(routine, &group, Alltoall { dest, source, blocks });
        }
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
        let part = Span::elements("nreduce", n, kernel.bytes());
        let team = for_collective(routine, team, part.accessed, agreed);
        let group = with_data(routine, team, (dest as usize, part), (source as usize, part));
        // SAFETY: the caller's promise, passed on.
        unsafe { run::reduce(routine, &group, Reduce { dest, source, n, kernel }) }
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
        let part = Span::elements("nelems", n, kernel.bytes());
        let team = for_collective(routine, team, part.accessed, agreed);
        let group = with_data(routine, team, (dest as usize, part), (source as usize, part));
        // SAFETY: the caller's promise, passed on.
        unsafe { run::scan(routine, &group, Scan { dest, source, n, kernel, inclusive }) }
    }
    0
}
