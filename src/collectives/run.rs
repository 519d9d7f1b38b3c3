//! From a call to its algorithm: asks [`select`](super::select) and runs what it says.
//! The algorithms are functions over a [`Group`], so this is once for teams and once for
//! active sets.
#![allow(unsafe_code)]

use super::alltoall::pairwise::{self, Completion};
use super::alltoall::{self, Alltoall, Blocks, coloured::COLOURED, shift::SHIFT, xor::XOR};
use super::barrier;
use super::broadcast::{self, Broadcast};
use super::collect::{self, Collect, Parts};
use super::group::{Group, SMALL_BYTES};
use super::reduce::{self, Reduce};
use super::scan::{self, Scan};
use super::select::{self, choose, degree};
use super::tree::Tree;
use crate::error::Routine;
use onenode::sys::process;

/// Up to this many bytes every member combines everything: one step less is worth
/// more than reading `size` sources instead of two.
const WHOLE_BYTES: usize = 2048;
const _: () = assert!(WHOLE_BYTES <= reduce::BLOCK_BYTES);

/// Waits until all members have called it.
#[inline]
pub fn sync(routine: Routine, group: &impl Group) {
    sync_by(choose(routine, group.size(), 0), group);
}

#[inline]
pub fn sync_by(by: select::Barrier, group: &impl Group) {
    use select::Barrier as By;
    match by {
        By::Direct => group.sync(),
        By::Linear => barrier::tree::sync(group, Tree::Flat),
        By::KAry => barrier::tree::sync(group, Tree::KAry(degree())),
        By::KNomial => barrier::tree::sync(group, Tree::KNomial(degree())),
        By::Grouped => barrier::tree::sync(group, Tree::Grouped(process::cpus_of_a_cache())),
        By::Dissemination => barrier::dissemination::sync(group),
    }
}

/// # Safety
/// As [`broadcast::direct::run`].
pub unsafe fn broadcast(routine: Routine, group: &impl Group, call: Broadcast) {
    let by = choose(routine, group.size(), call.bytes);
    // SAFETY: the caller's promise, passed on.
    unsafe { broadcast_by(by, group, call) }
}

/// # Safety
/// As [`broadcast::direct::run`].
pub unsafe fn broadcast_by(by: select::Broadcast, group: &impl Group, call: Broadcast) {
    use select::Broadcast as By;
    // SAFETY: the caller's promise, passed on; all algorithms ask the same.
    unsafe {
        match by {
            By::Direct => broadcast::direct::run(group, call),
            By::Linear => broadcast::linear::run(group, call),
            By::KAry => broadcast::tree::run(group, call, Tree::KAry(degree())),
            By::Binomial => broadcast::tree::run(group, call, Tree::KNomial(2)),
            By::ScatterCollect => broadcast::scatter_collect::run(group, call),
            By::Small => broadcast::small::run(group, call),
        }
    }
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
        collect_by(by, group, Collect { dest, source, parts })
    }
}

/// # Safety
/// As [`collect::direct::run`].
pub unsafe fn collect_by(by: select::Collect, group: &impl Group, call: Collect) {
    use select::Collect as By;
    // SAFETY: the caller's promise, passed on; all algorithms ask the same.
    unsafe {
        match by {
            By::Direct if matches!(call.parts, Parts::Varying { all_fitted: true, .. }) => {}
            By::Direct => collect::direct::run(group, &call),
            By::Linear => collect::linear::run(group, &call),
            By::Ring => collect::ring::run(group, &call),
            By::RecursiveDoubling => collect::recursive_doubling::run(group, &call),
            By::Bruck => collect::bruck::in_place(group, &call),
        }
    }
}

/// # Safety
/// As [`collect::direct::run`]; all parts have one length.
pub unsafe fn fcollect(routine: Routine, group: &impl Group, call: Collect) {
    let by = choose(routine, group.size(), call.parts.bytes(0, 1));
    // SAFETY: the caller's promise, passed on.
    unsafe { fcollect_by(by, group, call) }
}

/// # Safety
/// As [`collect::direct::run`]; all parts have one length.
pub unsafe fn fcollect_by(by: select::Fcollect, group: &impl Group, call: Collect) {
    use select::Fcollect as By;
    // SAFETY: the caller's promise, passed on; all algorithms ask the same.
    unsafe {
        match by {
            By::Direct => collect::direct::run(group, &call),
            By::Linear => collect::linear::run(group, &call),
            By::Ring => collect::ring::run(group, &call),
            By::RecursiveDoubling => collect::recursive_doubling::run(group, &call),
            By::Bruck => collect::bruck::rotated(group, &call),
            By::BruckInPlace => collect::bruck::in_place(group, &call),
            By::Neighbour => collect::neighbour::run(group, &call),
            By::Small => collect::small::run(group, &call),
        }
    }
}

/// # Safety
/// As [`alltoall::direct::run`].
pub unsafe fn alltoall(routine: Routine, group: &impl Group, call: Alltoall) {
    let size = group.size();
    let by = match call.blocks {
        Blocks::Dense(bytes) => choose(routine, size, bytes),
        Blocks::Strided(shape) => {
            choose::<select::Alltoalls>(routine, size, shape.nelems * shape.elem_bytes).0
        }
    };
    // SAFETY: the caller's promise, passed on.
    unsafe { alltoall_by(by, group, call) }
}

/// # Safety
/// As [`alltoall::direct::run`].
pub unsafe fn alltoall_by(by: select::Alltoall, group: &impl Group, call: Alltoall) {
    use select::Alltoall as By;
    let (schedule, completion) = match by {
        // SAFETY: the caller's promise, passed on.
        By::Direct => return unsafe { alltoall::direct::run(group, call) },
        By::Shift => (SHIFT, Completion::Barrier),
        By::ShiftCounter => (SHIFT, Completion::Counter),
        By::Xor => (XOR, Completion::Barrier),
        By::XorCounter => (XOR, Completion::Counter),
        By::Coloured => (COLOURED, Completion::Barrier),
        By::ColouredCounter => (COLOURED, Completion::Counter),
        // SAFETY: the caller's promise, passed on.
        By::Small => return unsafe { alltoall::small::run(group, call) },
    };
    // SAFETY: the caller's promise, passed on.
    unsafe { pairwise::run(group, call, schedule, completion) }
}

/// # Safety
/// As [`reduce::sliced::run`].
pub unsafe fn reduce(routine: Routine, group: &impl Group, call: Reduce) {
    let by = choose(routine, group.size(), call.n.saturating_mul(call.kernel.bytes()));
    // SAFETY: the caller's promise, passed on.
    unsafe { reduce_by(by, group, call) }
}

/// # Safety
/// As [`reduce::sliced::run`].
pub unsafe fn reduce_by(by: select::Reduce, group: &impl Group, call: Reduce) {
    use select::Reduce as By;
    let bytes = call.n.saturating_mul(call.kernel.bytes());
    // SAFETY: the caller's promise, passed on; all algorithms ask the same, but for the
    // sizes that the selector sees to.
    unsafe {
        match by {
            By::Direct if bytes <= SMALL_BYTES => reduce::small::run(group, call),
            By::Direct if bytes <= WHOLE_BYTES => reduce::whole::run(group, call),
            By::Direct | By::Sliced => reduce::sliced::run(group, call),
            By::Small => reduce::small::run(group, call),
            By::Whole => reduce::whole::run(group, call),
            By::Linear => reduce::linear::run(group, call),
            By::Binomial => reduce::binomial::run(group, call),
            By::RecursiveDoubling => reduce::recursive_doubling::run(group, call),
            By::Rabenseifner => reduce::rabenseifner::run(group, call),
        }
    }
}

/// # Safety
/// As [`scan::direct::run`].
pub unsafe fn scan(routine: Routine, group: &impl Group, call: Scan) {
    let by = choose(routine, group.size(), call.n.saturating_mul(call.kernel.bytes()));
    // SAFETY: the caller's promise, passed on.
    unsafe { scan_by(by, group, call) }
}

/// # Safety
/// As [`scan::direct::run`].
pub unsafe fn scan_by(by: select::Scan, group: &impl Group, call: Scan) {
    use select::Scan as By;
    // SAFETY: the caller's promise, passed on; all algorithms ask the same.
    unsafe {
        match by {
            By::Direct => scan::direct::run(group, call),
            By::Linear => scan::linear::run(group, call),
            By::RecursiveDoubling => scan::recursive_doubling::run(group, call),
        }
    }
}
