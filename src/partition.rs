//! Memory from partitions: the routines of the heap, with a partition's number.
//!
//! Routines that allocate for a program are collective, as those of the heap. [`take`] and [`give`]
//! are local, for runtimes that call them in the same order on every PE.

use crate::argument::memory::Block;
use crate::atomics::Ordering;
use crate::call::job;
use crate::failure;
use crate::heap;
use crate::memory::heap::{GRANULE, Usage};
use crate::message;
use crate::pe::partitions::Partition;
use crate::pe::{Job, existing};
use crate::slow;
use crate::translate::{PeArg, pe_number};
use oneshmem_job::env;
use oneshmem_job::error::Routine;
use oneshmem_job::partition::order::Step;
use std::io;
use std::ptr::null_mut;

/// The partition of this number, if there is one; its absence is reported under `SHMEM_DEBUG`.
fn find(job: &'static Job, routine: Routine, id: i32) -> Option<&'static Partition> {
    let partition = usize::try_from(id).ok().and_then(|id| job.partition(id));
    if partition.is_none() && job.pe() == 0 && env::debugging() {
        message::say(format_args!(
            "{routine} returns NULL: there is no partition {id}; set SHMEM_SYMMETRIC_PARTITION{id} \
             to have one"
        ));
    }
    partition
}

/// As [`find`], for a collective call.
fn agreed(job: &'static Job, routine: Routine, id: i32) -> Option<&'static Partition> {
    heap::agree(job, routine, "id", id as usize);
    find(job, routine, id)
}

/// `shmemx_partition_malloc`: a block of `size` bytes of partition `id` on every PE, or null on
/// all.
pub fn malloc(routine: Routine, size: usize, id: i32) -> *mut u8 {
    let job = job(routine);
    let Some(partition) = agreed(job, routine, id) else { return null_mut() };
    heap::malloc_in(job, partition.space(), routine, size)
}

/// `shmemx_partition_align`: as [`malloc`], at a multiple of `alignment`, a power of two.
pub fn align(routine: Routine, alignment: usize, size: usize, id: i32) -> *mut u8 {
    let job = job(routine);
    let Some(partition) = agreed(job, routine, id) else { return null_mut() };
    heap::align_in(job, partition.space(), routine, alignment, size)
}

/// `shmemx_partition_calloc`: `count` objects of `size` bytes, zero on every PE.
pub fn calloc(routine: Routine, count: usize, size: usize, id: i32) -> *mut u8 {
    let job = job(routine);
    let Some(partition) = agreed(job, routine, id) else { return null_mut() };
    heap::calloc_in(job, partition.space(), routine, count, size)
}

/// `shmemx_partition_take`: allocates a block of `size` bytes of partition `id` on this PE; null if
/// there is no room. The block is symmetric if all PEs take and give in the same order.
pub fn take(routine: Routine, size: usize, id: i32) -> *mut u8 {
    let job = job(routine);
    let Some(space) = find(job, routine, id).map(Partition::space) else { return null_mut() };
    if size == 0 {
        return null_mut();
    }
    compare(job, routine, Step::take(id as usize, size));
    let block = heap::allocate(job, space, routine, Some(size), GRANULE);
    block.map_or(null_mut(), |offset| space.address(offset))
}

/// `shmemx_partition_give`: frees a block from [`take`], on this PE.
pub fn give(routine: Routine, block: Block) {
    let (job, ptr) = (job(routine), block.at());
    if ptr.is_null() {
        return;
    }
    let Some(partition) = job.partition_of(ptr as usize) else {
        failure::misuse(
            routine,
            format_args!("ptr = {ptr:p}"),
            "expected a block from shmemx_partition_take; it is in no partition",
        )
    };
    let (space, offset) = heap::block_at(job, routine, ptr);
    debug_assert_eq!(space.range(), partition.space().range());
    compare(job, routine, Step::give(partition.spec().id, offset));
    if space.pool().free(offset).is_err() {
        heap::not_a_block(job, routine, ptr);
    }
}

/// `shmemx_device_ptr`: the address at which kernels on this PE's device can access PE `pe`'s copy
/// of a block on a device; null if the block is not on a device, or there is no such PE.
pub fn device_ptr(routine: Routine, ptr: *const u8, pe: PeArg) -> *mut u8 {
    let npes = job(routine).npes();
    let pe = usize::try_from(pe_number(pe)).ok().filter(|pe| *pe < npes);
    let address = pe.and_then(|pe| slow::device_address(routine, ptr.addr(), pe));
    address.map_or(null_mut(), |address| address as *mut u8)
}

/// `shmemx_partition_persist`: writes memory of a partition of files to this PE's file. `false` if
/// `ptr` is not in such a partition.
///
/// # Errors
/// If the file cannot be written.
pub fn persist(routine: Routine, ptr: *const u8, bytes: usize) -> io::Result<bool> {
    let (job, start) = (job(routine), ptr as usize);
    let Some(partition) = job.partition_of(start) else { return Ok(false) };
    let range = partition.space().range();
    if bytes > range.end - start {
        failure::misuse(
            routine,
            format_args!("bytes = {bytes}"),
            format_args!("expected at most {} from ptr = {ptr:p} on", range.end - start),
        );
    }
    partition.persist(&(start..start + bytes))
}

/// Under `SHMEM_DEBUG`, reports once if this PE's step differs from the one a peer has made: blocks
/// taken from then on are not symmetric.
fn compare(job: &Job, routine: Routine, step: Step) {
    if !env::debugging() {
        return;
    }
    let control = job.control();
    let step = control.pe(job.pe()).order.note(step);
    for pe in job.near() {
        if let Some(theirs) = control.pe(pe).order.instead_of(step) {
            if control.header().order_reported.swap(1, Ordering::Relaxed) == 0 {
                message::say(format_args!(
                    "{routine}: this PE {step} where PE {pe} {theirs}: blocks are symmetric only if \
                     all PEs take and give back alike, and arrays only if all map the same ones in \
                     the same order"
                ));
            }
            return;
        }
    }
}

/// The symmetric memory that an address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// The partition of this number.
    Partition(usize),
    /// The symmetric heap or the data segment.
    Slot,
    /// Not symmetric memory.
    Elsewhere,
}

/// `shmemx_partition_of`: the symmetric memory that `ptr` is in.
pub fn of(routine: Routine, ptr: *const u8) -> Whereabouts {
    let job = job(routine);
    match job.partition_of(ptr as usize) {
        Some(partition) => Whereabouts::Partition(partition.spec().id),
        None if job.layout().contains(ptr as usize) => Whereabouts::Slot,
        None => Whereabouts::Elsewhere,
    }
}

/// `shmemx_partition_info`: partition `id` and how full it is on this PE; `None` if there is none.
pub fn info(routine: Routine, id: i32) -> Option<(&'static Partition, Usage)> {
    job(routine);
    let partition = existing()?.partition(usize::try_from(id).ok()?)?;
    Some((partition, partition.space().pool().usage()))
}
