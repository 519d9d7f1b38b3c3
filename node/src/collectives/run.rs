//! From the name of an algorithm to the function. `degree` is that of trees.
#![allow(unsafe_code)]

use super::algorithms;
use super::alltoall::pairwise::{self, Completion};
use super::alltoall::{self, Alltoall, coloured::COLOURED, shift::SHIFT, xor::XOR};
use super::barrier;
use super::broadcast::{self, Broadcast};
use super::collect::{self, Collect, Parts};
use super::group::{Group, SMALL_BYTES};
use super::reduce::{self, Reduce};
use super::scan::{self, Scan};
use super::tree::Tree;
use crate::sys::process;

/// Up to this many bytes every member combines everything: one step less is worth
/// more than reading `size` sources instead of two.
const WHOLE_BYTES: usize = 2048;
const _: () = assert!(WHOLE_BYTES <= reduce::BLOCK_BYTES);

/// Waits until all members have called it.
#[inline]
pub fn sync(by: algorithms::Barrier, degree: usize, group: &impl Group) {
    use algorithms::Barrier as By;
    match by {
        By::Direct => group.sync(),
        By::Linear => barrier::tree::sync(group, Tree::Flat),
        By::KAry => barrier::tree::sync(group, Tree::KAry(degree)),
        By::KNomial => barrier::tree::sync(group, Tree::KNomial(degree)),
        By::Grouped => barrier::tree::sync(group, Tree::Grouped(process::cpus_of_a_cache())),
        By::Dissemination => barrier::dissemination::sync(group),
    }
}

/// # Safety
/// As [`broadcast::direct::run`].
pub unsafe fn broadcast(
    by: algorithms::Broadcast,
    degree: usize,
    group: &impl Group,
    call: Broadcast,
) {
    use algorithms::Broadcast as By;
    // SAFETY: the caller's promise, passed on; all algorithms ask the same.
    unsafe {
        match by {
            By::Direct => broadcast::direct::run(group, call),
            By::Linear => broadcast::linear::run(group, call),
            By::KAry => broadcast::tree::run(group, call, Tree::KAry(degree)),
            By::Binomial => broadcast::tree::run(group, call, Tree::KNomial(2)),
            By::ScatterCollect => broadcast::scatter_collect::run(group, call),
            By::Small => broadcast::small::run(group, call),
        }
    }
}

/// # Safety
/// As [`collect::direct::run`].
pub unsafe fn collect(by: algorithms::Collect, group: &impl Group, call: Collect) {
    use algorithms::Collect as By;
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
pub unsafe fn fcollect(by: algorithms::Fcollect, group: &impl Group, call: Collect) {
    use algorithms::Fcollect as By;
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
pub unsafe fn alltoall(by: algorithms::Alltoall, group: &impl Group, call: Alltoall) {
    use algorithms::Alltoall as By;
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
pub unsafe fn reduce(by: algorithms::Reduce, group: &impl Group, call: Reduce) {
    use algorithms::Reduce as By;
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
pub unsafe fn scan(by: algorithms::Scan, group: &impl Group, call: Scan) {
    use algorithms::Scan as By;
    // SAFETY: the caller's promise, passed on; all algorithms ask the same.
    unsafe {
        match by {
            By::Direct => scan::direct::run(group, call),
            By::Linear => scan::linear::run(group, call),
            By::RecursiveDoubling => scan::recursive_doubling::run(group, call),
        }
    }
}
