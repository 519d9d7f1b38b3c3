//! Memory ordering (specification, section 9.12): fence and quiet.
//!
//! On one node an operation is complete when its call returns, except that stores may be in the
//! processor's store buffer. So there is nothing to wait for: `fence` keeps earlier accesses before
//! later ones, and `quiet` also makes earlier stores visible to every PE before any later load.

use crate::argument::{self, memory::In};
use crate::atomics::{Ordering, fence as barrier};
use crate::call;
use crate::context::exists;
use crate::slow;
use crate::stats;
use crate::timeline::recorder::Details;
use crate::translate::{Numbering, TABLE};
use oneshmem_job::error::Routine;
use oneshmem_job::stats::Class;
use std::ffi::c_int;

/// Orders this PE's earlier operations on each PE before its later ones. On x86-64 this is only a
/// compiler barrier, because the processor keeps stores in order (and a copy past the caches ends
/// with `sfence`).
#[inline(always)]
pub fn fence() {
    // Acquire too: earlier fetching operations stay before later stores.
    barrier(Ordering::AcqRel);
}

/// Completes this PE's earlier operations on all PEs.
///
/// A full barrier: without it a later load may overtake an earlier store, and two
/// PEs that each put, quiet and get could both miss the other's value.
#[inline(always)]
pub fn quiet(routine: Routine) {
    if !TABLE.is_whole() {
        return quiet_slow(routine);
    }
    barrier(Ordering::SeqCst);
}

#[cold]
#[inline(never)]
fn quiet_slow(routine: Routine) {
    // Ends the process if there is no job.
    let job = call::job(routine);
    let mut call = call::begin(routine);
    stats::count(routine, Class::Quiet, 0, None);
    call.describe(|| Details {
        class: Class::Quiet,
        bytes: 0,
        peer: None,
        place: 0,
        algorithm: None,
    });
    barrier(Ordering::SeqCst);
    job.complete();
}

/// [`fence`] for one context; does nothing for `SHMEM_CTX_INVALID`. It orders all contexts of a PE,
/// which is more than the specification requires.
#[inline(always)]
pub fn ctx_fence<C: Numbering>(routine: Routine, ctx: C) {
    if exists(routine, ctx) {
        fence();
    }
}

/// [`quiet`] for one context; does nothing for `SHMEM_CTX_INVALID`.
#[inline(always)]
pub fn ctx_quiet<C: Numbering>(routine: Routine, ctx: C) {
    if exists(routine, ctx) {
        quiet(routine);
    }
}

/// [`quiet`] for the operations on the `npes` PEs at `pes`, numbered as in `ctx`'s team. The array
/// may be missing if `npes` is 0.
#[inline]
pub fn pe_quiet<C: Numbering>(routine: Routine, ctx: C, pes: Option<In<'_, c_int>>, npes: usize) {
    if !exists(routine, ctx) || npes == 0 {
        return;
    }
    let pes = argument::required(routine, "target_pes", pes);
    for i in 0..npes {
        slow::check_pe(routine, ctx.handle(), pes.get(i) as u32 as usize);
    }
    quiet(routine);
}
