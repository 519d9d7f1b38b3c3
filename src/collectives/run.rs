//! From a call to its algorithm: asks [`select`](super::select) and runs what it says.
//! The algorithms are functions over a [`Group`], so this is once for teams and once for
//! active sets.
#![allow(unsafe_code)]

use super::select::{choose, degree};
use crate::error::Routine;
use onenode::collectives::algorithms::Alltoalls;
use onenode::collectives::alltoall::{Alltoall, Blocks};
use onenode::collectives::broadcast::Broadcast;
use onenode::collectives::collect::{self, Collect};
use onenode::collectives::group::Group;
use onenode::collectives::reduce::Reduce;
use onenode::collectives::run as by;
use onenode::collectives::scan::Scan;

/// Waits until all members have called it.
#[inline]
pub fn sync(routine: Routine, group: &impl Group) {
    by::sync(choose(routine, group.size(), 0), degree(), group);
}

/// # Safety
/// As [`broadcast::direct::run`].
pub unsafe fn broadcast(routine: Routine, group: &impl Group, call: Broadcast) {
    let by = choose(routine, group.size(), call.bytes);
    // SAFETY: the caller's promise, passed on.
    unsafe { by::broadcast(by, degree(), group, call) }
}

/// # Safety
/// As [`collect::direct::run`].
pub unsafe fn collect(
    routine: Routine,
    group: &impl Group,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) {
    let size = group.size();
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let parts = collect::small::exchange_lengths(group, dest, source, bytes);
        let by = choose(routine, size, parts.bytes(0, size) / size);
        by::collect(by, group, Collect { dest, source, parts })
    }
}

/// # Safety
/// As [`collect::direct::run`]; all parts have one length.
pub unsafe fn fcollect(routine: Routine, group: &impl Group, call: Collect) {
    let by = choose(routine, group.size(), call.parts.bytes(0, 1));
    // SAFETY: the caller's promise, passed on.
    unsafe { by::fcollect(by, group, call) }
}

/// # Safety
/// As [`alltoall::direct::run`].
pub unsafe fn alltoall(routine: Routine, group: &impl Group, call: Alltoall) {
    let size = group.size();
    let by = match call.blocks {
        Blocks::Dense(bytes) => choose(routine, size, bytes),
        Blocks::Strided(shape) => {
            choose::<Alltoalls>(routine, size, shape.nelems * shape.elem_bytes).0
        }
    };
    // SAFETY: the caller's promise, passed on.
    unsafe { by::alltoall(by, group, call) }
}

/// # Safety
/// As [`reduce::sliced::run`].
pub unsafe fn reduce(routine: Routine, group: &impl Group, call: Reduce) {
    let by = choose(routine, group.size(), call.n.saturating_mul(call.kernel.bytes()));
    // SAFETY: the caller's promise, passed on.
    unsafe { by::reduce(by, group, call) }
}

/// # Safety
/// As [`scan::direct::run`].
pub unsafe fn scan(routine: Routine, group: &impl Group, call: Scan) {
    let by = choose(routine, group.size(), call.n.saturating_mul(call.kernel.bytes()));
    // SAFETY: the caller's promise, passed on.
    unsafe { by::scan(by, group, call) }
}
