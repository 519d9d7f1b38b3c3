//! Queries about PEs and addresses (specification, sections 9.1, 9.4 and 9.5): numbers,
//! accessibility, and pointers for direct loads and stores.

use crate::call::job;
use crate::slow;
use crate::team;
use crate::translate::{self, PeArg, pe_number};
use oneshmem_job::error::Routine;
use oneshmem_job::remote::DeviceMemory;

/// `shmem_my_pe`.
#[inline]
pub fn my_pe(routine: Routine) -> i32 {
    job(routine).pe as i32
}

/// `shmem_n_pes`.
#[inline]
pub fn n_pes(routine: Routine) -> i32 {
    job(routine).npes as i32
}

/// `shmem_ptr`: the address at which this PE can load and store PE `pe`'s copy of `address`; null
/// if `address` is not symmetric or there is no such PE.
#[inline(always)]
pub fn ptr(routine: Routine, address: *const u8, pe: PeArg) -> *mut u8 {
    translate::pointer(
        address as usize,
        pe,
        |target| target as *mut u8,
        |miss| slow::pointer(miss, pe, routine),
    )
}

/// `shmem_team_ptr`: as [`ptr`], for PE `pe` of a team; null for `SHMEM_TEAM_INVALID`.
pub fn team_ptr(routine: Routine, handle: usize, address: *const u8, pe: PeArg) -> *mut u8 {
    job(routine);
    match team::get(routine, handle).and_then(|team| team.world_pe(pe_number(pe))) {
        Some(pe) => ptr(routine, address, pe),
        None => std::ptr::null_mut(),
    }
}

/// `shmem_pe_accessible`: whether there is such a PE.
pub fn pe_accessible(routine: Routine, pe: PeArg) -> bool {
    usize::try_from(pe_number(pe)).is_ok_and(|pe| pe < job(routine).npes)
}

/// `shmemx_equal_addresses`: whether the heap and the partitions in the processor's memory have the same
/// addresses on all PEs. Waits until all have initialised.
pub fn equal_addresses(routine: Routine) -> bool {
    let job = job(routine);
    (0..job.npes).all(|pe| job.heap_address(pe) == job.layout.heap().start as u64)
}

/// `shmem_addr_accessible`: whether `address` is symmetric, and PE `pe` exists and has a counterpart of
/// it.
pub fn addr_accessible(routine: Routine, address: *const u8, pe: PeArg) -> bool {
    let job = job(routine);
    let is_device = |devices: &dyn DeviceMemory| devices.find(address as usize).is_some();
    let is_symmetric =
        job.layout.contains(address as usize) || job.devices().is_some_and(is_device);
    is_symmetric
        && pe_accessible(routine, pe)
        && slow::is_accessible(job, address as usize, pe_number(pe) as usize)
}
