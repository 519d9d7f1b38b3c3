//! The collective routines on teams (specification, section 9.10). They look up the team, and all
//! return 0.

use super::agreement::{Agreed, NONE, for_collective, for_nothing};
use super::alltoallv::Alltoallv;
use super::arrays::Arrays;
use super::run::{self, Alltoalls, Collective, Exchange};
use super::{Element, EpochGroup, Kernel, ReduceOp, Small, Sum, TeamMembers, apart, far};
use crate::atomics::{Ordering, fence};
use crate::span::Span;
use crate::team::{self, TEAM_WORLD, Team};
use crate::timeline::recorder::Details;
use oneshmem_job::error::Routine;
use oneshmem_job::stats::Class;
use std::cell::Cell;
use std::ffi::c_int;

/// The algorithms' group for a team whose members are all on this node, in a call of `routine`.
pub(crate) fn near(routine: Routine, team: &'static Team) -> EpochGroup<'static, TeamMembers> {
    EpochGroup::new(TeamMembers { routine, team }, team.epoch())
}

/// Carries out a collective on a team, whichever nodes its members are on.
pub(crate) fn on_team<C: Collective>(routine: Routine, team: &'static Team, call: C) -> C::Output {
    match far::on_team(routine, team) {
        None => call.run(routine, &near(routine, team)),
        Some(group) => call.run(routine, &group),
    }
}

/// Carries out a collective on the team of a handle, to which this PE contributes so many bytes. Uncommon
/// cases are in a separate function.
#[inline(always)]
fn carry_out<C: Collective<Output = ()> + Copy>(
    routine: Routine,
    handle: usize,
    bytes: usize,
    agreed: impl FnOnce() -> Agreed,
    call: C,
) {
    match team::in_use(handle) {
        Some(team) => call.run(routine, &near(routine, team)),
        None => apart(move || {
            let (team, mut progress) = for_collective(routine, handle, bytes, &agreed());
            on_team(routine, team, call);
            progress
                .describe(|| details(&call, team.size(), far::on_team(routine, team).is_some()));
        }),
    }
}

/// The details of a collective that was carried out, for the timeline.
pub(super) fn details<C: Collective>(call: &C, members: usize, over_nodes: bool) -> Details {
    Details {
        class: Class::Collective,
        bytes: call.choice().map_or(0, |(_, bytes)| bytes),
        peer: None,
        place: 0,
        algorithm: call.algorithm(members, over_nodes),
    }
}

/// `shmem_barrier_all`: completes this PE's operations on the default context, then waits for all
/// PEs.
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
    carry_out(routine, team, 0, || [NONE; 3], run::Barrier);
    0
}

/// `shmem_broadcast`: copies the `part` of the source of the team's PE `root` to the dest of every
/// PE of the team.
pub fn broadcast(
    routine: Routine,
    team: usize,
    arrays: Arrays<'_>,
    part: Span,
    root: c_int,
) -> c_int {
    let bytes = part.accessed;
    let agreed = || [("nelems in bytes", bytes), ("PE_root", root as usize), NONE];
    carry_out(routine, team, bytes, agreed, run::Broadcast { arrays, part, root, root_too: true });
    0
}

/// `shmem_collect`: concatenates all sources; each PE's `part` may have any size.
pub fn collect(routine: Routine, team: usize, arrays: Arrays<'_>, part: Span) -> c_int {
    let call = run::Collect { arrays, part, mean: &Cell::new(None) };
    carry_out(routine, team, part.accessed, || [NONE; 3], call);
    0
}

/// The sum of the `bytes` that the PEs of the team pass: the room that a [`collect`] of them needs.
pub(crate) fn total(routine: Routine, team: usize, bytes: usize) -> usize {
    let (mut total, mut mine) = (0, Small::default());
    mine[0] = bytes as u64;
    let add = |_, theirs: &Small| total += theirs[0] as usize;
    on_team(routine, team::required(routine, team), Exchange(&mine, add));
    total
}

/// `shmem_fcollect`: concatenates all sources, one `part` of each PE.
pub fn fcollect(routine: Routine, team: usize, arrays: Arrays<'_>, part: Span) -> c_int {
    let bytes = part.accessed;
    let agreed = || [("nelems in bytes", bytes), NONE, NONE];
    if bytes == 0 {
        for_nothing(routine, team, agreed());
    } else {
        carry_out(routine, team, bytes, agreed, run::Fcollect { arrays, part });
    }
    0
}

/// `shmem_alltoall`: copies a `part` from each PE to each PE.
pub fn alltoall(routine: Routine, team: usize, arrays: Arrays<'_>, part: Span) -> c_int {
    let bytes = part.accessed;
    let agreed = || [("nelems in bytes", bytes), NONE, NONE];
    if bytes == 0 {
        for_nothing(routine, team, agreed());
    } else {
        carry_out(routine, team, bytes, agreed, run::Alltoall { arrays, part });
    }
    0
}

/// `shmem_alltoalls`: copies elements from each PE to each PE, at equal distances in dest and in source.
pub fn alltoalls(routine: Routine, team: usize, call: Alltoalls<'_>) -> c_int {
    let Alltoalls { dst, sst, nelems, elem_bytes, .. } = call;
    let agreed = || [("nelems", nelems), ("dst", dst as usize), ("sst", sst as usize)];
    if nelems == 0 || elem_bytes == 0 {
        for_nothing(routine, team, agreed());
    } else {
        carry_out(routine, team, nelems.saturating_mul(elem_bytes), agreed, call);
    }
    0
}

/// `shmemx_alltoallvmem`: copies a block of any length from each PE to each PE.
pub fn alltoallv(routine: Routine, team: usize, call: Alltoallv<'_>) {
    carry_out(routine, team, call.bytes(), || [NONE; 3], call);
}

/// `shmem_and_reduce` and its variants: combines `n` elements of all PEs of the team with `O`; all
/// get the result.
pub fn reduce<T: Element, O: ReduceOp<T>>(
    routine: Routine,
    team: usize,
    arrays: Arrays<'_>,
    n: usize,
) -> c_int {
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
        carry_out(routine, team, bytes, agreed, run::Reduce { arrays, n, kernel });
    }
    0
}

/// `shmem_sum_inscan` and `shmem_sum_exscan`: sums the sources of all PEs before this one in the
/// team, and its own if `inclusive`.
pub fn scan<T: Element>(
    routine: Routine,
    team: usize,
    arrays: Arrays<'_>,
    n: usize,
    inclusive: bool,
) -> c_int
where
    Sum: ReduceOp<T>,
{
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
        carry_out(routine, team, bytes, agreed, run::Scan { arrays, n, kernel, inclusive });
    }
    0
}
