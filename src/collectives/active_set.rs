//! Collectives on active sets (specification, section 9.10; deprecated in version 1.5): the PEs
//! `start + i * 2^log_stride`, `i < size`, of the world.
//!
//! They run the teams' algorithms over the user's `pSync` array, or over the control words of the
//! team of all PEs. The routines return nothing; wrong arguments are reported.

use super::alltoallv::Alltoallv;
use super::arrays::Arrays;
use super::far_set::{self, FarSet};
use super::members::ActiveSet;
use super::psync::{BARRIER_WORDS, MOST_WORDS, PSync};
use super::run::{self, Alltoalls, Collective};
use super::team_of_set;
use super::teams::details;
use super::{apart, far, near, on_team, psync_use};
use crate::argument::memory::PSyncArray;
use crate::atomics::{Ordering, fence};
use crate::call::{self, job};
use crate::failure;
use crate::pe::about::About;
use crate::span::Span;
use crate::stats;
use crate::team::{self, TEAM_WORLD, Team, Triplet};
use crate::translate::TABLE;
use onenode_core::collectives::reduce::{Element, Kernel, ReduceOp};
use oneshmem_job::env;
use oneshmem_job::error::Routine;
use oneshmem_job::stats::Class;
use std::cell::Cell;
use std::ffi::{c_int, c_long};

/// `SHMEM_BARRIER_SYNC_SIZE`. Programs are compiled with these sizes, so they leave room for
/// algorithms with more rounds.
pub const BARRIER_SYNC_SIZE: usize = 16;
/// `SHMEM_BCAST_SYNC_SIZE`.
pub const BCAST_SYNC_SIZE: usize = 32;
/// `SHMEM_COLLECT_SYNC_SIZE`.
pub const COLLECT_SYNC_SIZE: usize = 32;
/// `SHMEM_REDUCE_SYNC_SIZE`.
pub const REDUCE_SYNC_SIZE: usize = 32;
/// `SHMEM_ALLTOALL_SYNC_SIZE`.
pub const ALLTOALL_SYNC_SIZE: usize = 32;
/// `SHMEM_ALLTOALLS_SYNC_SIZE`.
pub const ALLTOALLS_SYNC_SIZE: usize = 32;
/// `SHMEM_SYNC_SIZE`: enough for any collective.
pub const SYNC_SIZE: usize = 32;
/// `SHMEM_REDUCE_MIN_WRKDATA_SIZE`; the library does not use `pWrk` itself.
pub const REDUCE_MIN_WRKDATA_SIZE: usize = 16;

const _: () = assert!(BARRIER_WORDS <= BARRIER_SYNC_SIZE && MOST_WORDS <= SYNC_SIZE);

/// `PE_start`, `logPE_stride`, `PE_size`.
pub type SetArguments = (c_int, c_int, c_int);

/// The active set of a call to which this PE contributes `bytes` bytes. Ends the job unless the set
/// is valid and this PE is a member.
fn checked(routine: Routine, set: SetArguments, psync: PSyncArray, bytes: usize) -> ActiveSet {
    let (start, log_stride, size) = set;
    let job = job(routine);
    let (npes, me) = (job.npes(), job.pe());
    let wrong = |name: &str, value: c_int, expected: &str| -> ! {
        failure::misuse(routine, format_args!("{name} = {value}"), expected)
    };
    let Some(first) = usize::try_from(start).ok().filter(|pe| *pe < npes) else {
        wrong("PE_start", start, &format!("expected a PE number from 0 to {}", npes - 1))
    };
    let Ok(log) = u32::try_from(log_stride) else {
        wrong("logPE_stride", log_stride, "expected at least 0")
    };
    let Some(size) = usize::try_from(size).ok().filter(|size| *size > 0) else {
        wrong("PE_size", size, "expected at least 1")
    };
    // A set of one PE may have any stride; no PE is 2^31 from another.
    let stride = 1usize << log.min(31);
    if (npes - 1 - first) / stride < size - 1 {
        failure::misuse(
            routine,
            format_args!("PE_start = {start}, logPE_stride = {log_stride}, PE_size = {size}"),
            format_args!("expected an active set whose last PE is at most {}", npes - 1),
        );
    }
    let member = me.checked_sub(first).filter(|distance| distance % stride == 0);
    let Some(me) = member.map(|distance| distance / stride).filter(|index| *index < size) else {
        failure::misuse(
            routine,
            format_args!("PE_start = {start}, logPE_stride = {log_stride}, PE_size = {size}"),
            format_args!(
                "expected a call by members of the active set only; PE {me} is not one of them"
            ),
        )
    };
    if psync.address() % align_of::<c_long>() != 0 {
        failure::misuse(
            routine,
            format_args!("pSync = {:#x}", psync.address()),
            "expected the address of an aligned array of long",
        );
    }
    if !TABLE.is_whole() {
        far::complete(routine);
    }
    if stats::are_taken() {
        stats::count(routine, Class::Collective, bytes, None);
    }
    ActiveSet { routine, start: first, stride, size, me, psync }
}

/// The team of all PEs, if the set has all PEs, and none can be in two collectives at once. Its
/// control words serve the set better than `pSync`, which has to be restored before a PE returns.
fn as_team(set: &ActiveSet) -> Option<&'static Team> {
    let job = job(set.routine);
    let about = || About::ActiveSet(set.routine, [set.start, set.stride, set.size]);
    (set.size == job.npes() && job.has_one_call_at_a_time(about)).then(|| {
        set.check_psync();
        team::required(set.routine, TEAM_WORLD)
    })
}

/// Carries out a collective on an active set, whichever nodes its members are on.
#[inline(always)]
fn carry_out<C: Collective<Output = ()> + Copy>(set: ActiveSet, call: C) {
    if TABLE.is_whole() {
        return match as_team(&set) {
            Some(team) => call.run(set.routine, &near(set.routine, team)),
            None => call.run(set.routine, &PSync(set)),
        };
    }
    apart(move || {
        let mut progress = call::begin(set.routine);
        let _in_use = env::debugging().then(|| psync_use::begin(&set));
        let (routine, size) = (set.routine, set.size);
        if let Some(team) = as_team(&set) {
            on_team(routine, team, call);
        } else if let Some(group) = far_set::on_set(set) {
            match own_team(&set, &group) {
                Some(team) => on_team(routine, team, call),
                None => call.run(routine, &group),
            }
        } else {
            call.run(routine, &PSync(set));
        }
        progress.describe(|| details(&call, size, job(routine).nodes().is_some()));
    })
}

/// The team that stands for a set over several nodes.
fn own_team(set: &ActiveSet, group: &PSync<FarSet>) -> Option<&'static Team> {
    let ActiveSet { routine, start, stride, size, me, psync } = *set;
    set.check_psync();
    let members = Triplet { start, stride, size, me };
    let agree = |agreement: team_of_set::Agreement| agreement.run(routine, group);
    team_of_set::of_set(job(routine), members, psync.address(), agree)
}

/// `shmem_barrier`: completes this PE's operations on the default context, then waits for all
/// members.
pub fn barrier(routine: Routine, set: SetArguments, psync: PSyncArray) {
    fence(Ordering::SeqCst);
    sync(routine, set, psync);
}

/// `shmem_sync` on an active set: waits for all members.
pub fn sync(routine: Routine, set: SetArguments, psync: PSyncArray) {
    let set = checked(routine, set, psync, 0);
    carry_out(set, run::Barrier);
}

/// `shmem_broadcast32` and 64: copies the `part` of member `root`'s source to the dest of every
/// other member.
pub fn broadcast(
    routine: Routine,
    set: SetArguments,
    arrays: Arrays<'_>,
    part: Span,
    root: c_int,
    psync: PSyncArray,
) {
    let set = checked(routine, set, psync, part.accessed);
    carry_out(set, run::Broadcast { arrays, part, root, root_too: false });
}

/// `shmem_collect32` and 64: concatenates all sources; each member's `part` may have any size.
pub fn collect(
    routine: Routine,
    set: SetArguments,
    arrays: Arrays<'_>,
    part: Span,
    psync: PSyncArray,
) {
    let set = checked(routine, set, psync, part.accessed);
    carry_out(set, run::Collect { arrays, part, mean: &Cell::new(None) });
}

/// `shmem_fcollect32` and 64: concatenates all sources, one `part` of each.
pub fn fcollect(
    routine: Routine,
    set: SetArguments,
    arrays: Arrays<'_>,
    part: Span,
    psync: PSyncArray,
) {
    if part.accessed > 0 {
        let set = checked(routine, set, psync, part.accessed);
        carry_out(set, run::Fcollect { arrays, part });
    }
}

/// `shmem_alltoall32` and 64: copies a `part` from each member to each member.
pub fn alltoall(
    routine: Routine,
    set: SetArguments,
    arrays: Arrays<'_>,
    part: Span,
    psync: PSyncArray,
) {
    if part.accessed > 0 {
        let set = checked(routine, set, psync, part.accessed);
        carry_out(set, run::Alltoall { arrays, part });
    }
}

/// `shmem_alltoalls32` and 64: copies elements from each member to each member, at equal distances in dest
/// and in source.
pub fn alltoalls(routine: Routine, set: SetArguments, call: Alltoalls<'_>, psync: PSyncArray) {
    if call.nelems > 0 && call.elem_bytes > 0 {
        let set = checked(routine, set, psync, call.nelems.saturating_mul(call.elem_bytes));
        carry_out(set, call);
    }
}

/// `shmemx_alltoallv`: copies a block of any length from each member to each member.
pub fn alltoallv(routine: Routine, set: SetArguments, call: Alltoallv<'_>, psync: PSyncArray) {
    carry_out(checked(routine, set, psync, call.bytes()), call);
}

/// `shmem_int_sum_to_all` and its variants: combines `n` elements of all members with `O`; all
/// members get the result.
pub fn reduce<T: Element, O: ReduceOp<T>>(
    routine: Routine,
    set: SetArguments,
    arrays: Arrays<'_>,
    n: c_int,
    psync: PSyncArray,
) {
    let kernel = Kernel::of::<T, O>();
    reduce_with(routine, set, arrays, n, kernel, psync)
}

/// As [`reduce`], compiled once for all types.
fn reduce_with(
    routine: Routine,
    set: SetArguments,
    arrays: Arrays<'_>,
    n: c_int,
    kernel: Kernel,
    psync: PSyncArray,
) {
    let Ok(n) = usize::try_from(n) else {
        failure::misuse(routine, format_args!("nreduce = {n}"), "expected at least 0")
    };
    if n > 0 {
        let set = checked(routine, set, psync, n.saturating_mul(kernel.bytes()));
        carry_out(set, run::Reduce { arrays, n, kernel });
    }
}
