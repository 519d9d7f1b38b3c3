//! Memory ordering (specification, section 9.10): fence and quiet.
//!
//! On one node an operation is complete when its call returns, up to the store
//! buffer of the processor. So there is nothing to wait for: `fence` keeps
//! earlier accesses before later ones, `quiet` also makes earlier stores visible
//! to every PE before any later load.
#![allow(unsafe_code)]

use crate::argument;
use crate::atomics::{Ordering, fence as barrier};
use crate::context::exists;
use crate::error::Routine;
use crate::job;
use crate::slow;
use crate::stats::{self, Class};
use crate::translate::{Numbering, TABLE};
use std::ffi::c_int;

/// Orders this PE's earlier operations on each PE before its later ones. A
/// compiler barrier on x86-64, which keeps stores in order (and a copy past the
/// caches ends with `sfence`).
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
    // Ends the process if there is no job to be quiet in.
    let job = job::job(routine);
    stats::count(Class::Quiet, 0, None);
    barrier(Ordering::SeqCst);
    job.complete();
}

/// [`fence`] for one context; nothing to do for `SHMEM_CTX_INVALID`. All contexts
/// of a PE are ordered alike here, which is more than is asked for.
#[inline(always)]
pub fn ctx_fence<C: Numbering>(routine: Routine, ctx: C) {
    if exists(routine, ctx) {
        fence();
    }
}

/// [`quiet`] for one context; nothing to do for `SHMEM_CTX_INVALID`.
#[inline(always)]
pub fn ctx_quiet<C: Numbering>(routine: Routine, ctx: C) {
    if exists(routine, ctx) {
        quiet(routine);
    }
}

/// [`quiet`] towards the `npes` PEs at `pes`, numbered as in `ctx`'s team.
///
/// # Safety
/// `pes` is readable for `npes` numbers; it may be anything if `npes` is 0.
#[inline]
pub unsafe fn pe_quiet<C: Numbering>(routine: Routine, ctx: C, pes: *const c_int, npes: usize) {
    if !exists(routine, ctx) || npes == 0 {
        return;
    }
    argument::not_null(routine, "target_pes", pes);
    for i in 0..npes {
        // SAFETY: in bounds of the array the caller vouches for.
        let pe = unsafe { pes.add(i).read() } as u32 as usize;
        slow::check_pe(routine, ctx.handle(), pe);
    }
    quiet(routine);
}
