//! The symmetric heap's routines (specification, section 9.3).
//!
//! All are collective: every PE makes the same call, each PE's own allocator returns the same
//! result, and a barrier makes the result safe to use. PEs exchange nothing here, except under
//! `SHMEM_DEBUG` the arguments, to check that they are the same.
#![allow(unsafe_code)]

pub(crate) mod sites;
mod watched;

use crate::argument::memory::Block;
use crate::atomics::Ordering;
use crate::call::job;
use crate::collectives;
use crate::failure;
use crate::memory::guards;
use crate::memory::heap::GRANULE;
use crate::memory::space::Space;
use crate::pe::Job;
use onenode_core::sys::map;
use oneshmem_job::env;
use oneshmem_job::error::Routine;
use oneshmem_job::remote::StridedBlocks;
use std::ffi::c_long;
use std::ops::Range;
use std::ptr::null_mut;

/// The bits of hints that hold the number of a partition plus 1; 0 for none.
pub const HINT_PARTITION: c_long = 0xff << PARTITION_SHIFT;
const PARTITION_SHIFT: u32 = 16;

/// `shmem_malloc`: allocates a block of `size` bytes on every PE; null on all PEs if it fails.
pub fn malloc(routine: Routine, size: usize) -> *mut u8 {
    let job = job(routine);
    malloc_in(job, job.heap(), routine, size)
}

/// [`malloc`] from a partition or the heap.
pub(crate) fn malloc_in(job: &Job, space: &Space, routine: Routine, size: usize) -> *mut u8 {
    // No action, here and below, so one PE may do it alone.
    if size == 0 {
        return null_mut();
    }
    agree(job, routine, "size", size);
    let block = allocate(job, space, routine, Some(size), GRANULE);
    collectives::barrier_all(routine);
    block.map_or(null_mut(), |offset| space.address(offset))
}

/// `shmem_malloc_with_hints`: all memory of a node is equally good for the uses that the
/// specification's hints describe, so they have no effect. A partition named in the hints is tried
/// before the heap.
pub fn malloc_with_hints(routine: Routine, size: usize, hints: c_long) -> *mut u8 {
    let job = job(routine);
    if size == 0 {
        return null_mut();
    }
    agree(job, routine, "hints", hints as usize);
    let id = ((hints & HINT_PARTITION) >> PARTITION_SHIFT).checked_sub(1);
    let partition = id.and_then(|id| job.partition(usize::try_from(id).ok()?));
    let Some(partition) = partition else { return malloc(routine, size) };
    agree(job, routine, "size", size);
    let block = match partition.space().allocate(size, GRANULE) {
        Some(offset) => Some((partition.space(), offset)),
        None => allocate(job, job.heap(), routine, Some(size), GRANULE).map(|o| (job.heap(), o)),
    };
    collectives::barrier_all(routine);
    block.map_or(null_mut(), |(space, offset)| space.address(offset))
}

/// `shmem_align`: like [`malloc`], at a multiple of `alignment`, which must be a power of two but,
/// unlike in the specification, need not be a multiple of a pointer's size. Null otherwise, as in
/// other implementations.
pub fn align(routine: Routine, alignment: usize, size: usize) -> *mut u8 {
    let job = job(routine);
    align_in(job, job.heap(), routine, alignment, size)
}

/// [`align`] from a partition or the heap.
pub(crate) fn align_in(
    job: &Job,
    space: &Space,
    routine: Routine,
    alignment: usize,
    size: usize,
) -> *mut u8 {
    if size == 0 {
        return null_mut();
    }
    agree(job, routine, "alignment", alignment);
    agree(job, routine, "size", size);
    let block = allocate(job, space, routine, Some(size), alignment);
    collectives::barrier_all(routine);
    block.map_or(null_mut(), |offset| space.address(offset))
}

/// `shmem_calloc`: allocates `count` objects of `size` bytes, zeroed on every PE.
pub fn calloc(routine: Routine, count: usize, size: usize) -> *mut u8 {
    let job = job(routine);
    calloc_in(job, job.heap(), routine, count, size)
}

/// [`calloc`] from a partition or the heap.
pub(crate) fn calloc_in(
    job: &Job,
    space: &Space,
    routine: Routine,
    count: usize,
    size: usize,
) -> *mut u8 {
    if count == 0 || size == 0 {
        return null_mut();
    }
    agree(job, routine, "count", count);
    agree(job, routine, "size", size);
    let bytes = count.checked_mul(size);
    let zero_from = space.pool().zero_from();
    let block = allocate(job, space, routine, bytes, GRANULE);
    if let (Some(offset), Some(bytes)) = (block, bytes) {
        // Memory that no block has covered is still zero.
        let dirty = zero_from.saturating_sub(offset).min(bytes);
        let block = space.address(offset);
        // SAFETY: inside the block just allocated, which no PE knows of yet.
        unsafe {
            match job.devices().filter(|devices| devices.find(block.addr()).is_some()) {
                Some(devices) => devices.set(block, 0, dirty),
                None => {
                    block.write_bytes(0, dirty);
                    make_pages(block.add(dirty).addr()..block.add(bytes).addr());
                }
            }
        }
    }
    collectives::barrier_all(routine);
    block.map_or(null_mut(), |offset| space.address(offset))
}

/// Makes the pages of fresh memory at once, which takes about two thirds of the time of a fault for
/// each. Leaves the page that it shares with the block before, so that small blocks take few calls.
fn make_pages(memory: Range<usize>) {
    let start = memory.start.next_multiple_of(map::page_size());
    // Kitten allocates all pages at the start.
    if start < memory.end && !cfg!(feature = "smartmap") {
        // If the kernel cannot do so, it makes each page at the first touch.
        let _ = map::populate(start, memory.end - start);
    }
}

/// `shmem_realloc`: resizes the block at `ptr` to `size` bytes and keeps its contents, in the heap
/// or partition that it is in. On failure, returns null on all PEs and leaves the block unchanged.
pub fn realloc(routine: Routine, block: Block, size: usize) -> *mut u8 {
    let ptr = block.at();
    if ptr.is_null() {
        return malloc(routine, size);
    }
    if size == 0 {
        free(routine, block);
        return null_mut();
    }
    let job = job(routine);
    let (space, offset) = block_at(job, routine, ptr);
    agree_on_block(job, routine, space, offset);
    agree(job, routine, "size", size);
    // Peers may still be writing data that they put before this call.
    collectives::barrier_all(routine);
    if env::debugging() {
        failure::if_any(routine, guards::damage_of(ptr.addr()));
    }
    let result = match resize(space, ptr, offset, size) {
        true => ptr,
        false => relocate(job, space, routine, (block, offset), size),
    };
    collectives::barrier_all(routine);
    result
}

/// Resizes a block in place, with its guard.
fn resize(space: &Space, ptr: *mut u8, offset: usize, size: usize) -> bool {
    if !env::debugging() || !guards::has(ptr.addr()) {
        return space.resize(offset, size);
    }
    let resized = guards::with_guard(size).is_some_and(|bytes| space.resize(offset, bytes));
    if resized {
        // SAFETY: the block has just got this room, and stays until `free` or `relocate`.
        unsafe { guards::lay(ptr, size) };
    }
    resized
}

/// Moves a block, whose offset has been found, to a new one of `size` bytes. All PEs have reached the barrier of
/// the call.
fn relocate(
    job: &Job,
    space: &Space,
    routine: Routine,
    (block, offset): (Block, usize),
    size: usize,
) -> *mut u8 {
    let Some(new) = allocate(job, space, routine, Some(size), GRANULE) else { return null_mut() };
    let kept = space.pool().size_of(offset).unwrap_or(0).min(size);
    let (from, to) = (block.at(), space.address(new));
    if watched::is_watched() {
        watched::forget(space, routine, offset);
    }
    // SAFETY: both blocks have `kept` bytes, and blocks do not overlap. No PE uses a `Block` any more.
    unsafe {
        match job.devices().filter(|devices| devices.find(from.addr()).is_some()) {
            Some(devices) => devices.copy(to, from, StridedBlocks::one(kept)),
            None => to.copy_from_nonoverlapping(from, kept),
        }
    }
    if space.pool().free(offset).is_err() {
        failure::fatal(format_args!("{routine}: the block was freed by another thread meanwhile"));
    }
    to
}

/// `shmem_free`: frees a block of the heap or of a partition.
pub fn free(routine: Routine, block: Block) {
    let (job, ptr) = (job(routine), block.at());
    // No action, so one PE may do it alone.
    if ptr.is_null() {
        return;
    }
    let (space, offset) = block_at(job, routine, ptr);
    let is_watched = watched::is_watched();
    if is_watched && env::debugging() {
        agree_on_block(job, routine, space, offset);
    }
    // Peers may still use the block before they make this call.
    collectives::barrier_all(routine);
    if is_watched {
        watched::forget(space, routine, offset);
    }
    if space.pool().free(offset).is_err() {
        not_a_block(job, routine, ptr);
    }
}

/// Allocates. `None` stands for a size that overflows. Says why it fails.
pub(crate) fn allocate(
    job: &Job,
    space: &Space,
    routine: Routine,
    size: Option<usize>,
    align: usize,
) -> Option<usize> {
    let block = space.possible(size, align).and_then(|size| match watched::is_watched() {
        true => watched::allocate(job, space, routine, size, align),
        false => space.allocate(size, align),
    });
    if block.is_none() {
        watched::refused(job, space, routine, size, align);
    }
    block
}

/// The block that starts at `ptr`; ends the job if there is none.
pub(crate) fn block_at(job: &Job, routine: Routine, ptr: *mut u8) -> (&Space, usize) {
    let space = job.space_of(ptr as usize);
    let offset = (ptr as usize).wrapping_sub(space.range().start);
    if space.pool().size_of(offset).is_none() {
        not_a_block(job, routine, ptr);
    }
    (space, offset)
}

#[cold]
pub(crate) fn not_a_block(job: &Job, routine: Routine, ptr: *mut u8) -> ! {
    let space = job.space_of(ptr as usize);
    let range = space.range();
    // For an address below the heap, the nearest block is the first.
    let nearest = space.pool().nearest((ptr as usize).saturating_sub(range.start));
    let nearest = match nearest {
        Some((start, size)) => {
            format!("the nearest block starts at {:#x} and has {size} bytes", range.start + start)
        }
        None => "there is no block now".into(),
    };
    let name = match job.partition_of(range.start) {
        None => "the symmetric heap".into(),
        Some(partition) => format!("partition {}", partition.spec().id),
    };
    failure::misuse(
        routine,
        format_args!("ptr = {ptr:p}"),
        format_args!(
            "expected the start of a block of {name} {:#x}..{:#x} that is not freed yet; {nearest}",
            range.start, range.end
        ),
    )
}

/// Under `SHMEM_DEBUG`, ends the job unless every PE names the same block.
fn agree_on_block(job: &Job, routine: Routine, space: &Space, offset: usize) {
    if !job.partitions().is_empty() {
        let number = partition_number(job, space);
        agree(job, routine, "the partition of ptr, plus 1", number);
    }
    agree(job, routine, "the offset of ptr", offset);
}

/// The name of a block on all PEs: the number of its partition plus 1, 0 for the heap, and the block's
/// offset there.
pub(crate) fn name_of(routine: Routine, block: *const u8) -> (usize, usize) {
    let job = job(routine);
    let space = job.space_of(block.addr());
    (partition_number(job, space), block.addr().wrapping_sub(space.range().start))
}

/// The number of the partition plus 1, 0 for the heap.
fn partition_number(job: &Job, space: &Space) -> usize {
    job.partition_of(space.range().start).map_or(0, |partition| partition.spec().id + 1)
}

/// Under `SHMEM_DEBUG`, ends the job unless every PE of this node passes the same value of an
/// argument.
pub(crate) fn agree(job: &Job, routine: Routine, argument: &str, value: usize) {
    if !env::debugging() {
        return;
    }
    let control = job.control();
    control.pe(job.pe()).argument.store(value as u64, Ordering::Release);
    collectives::barrier_all(routine);
    let of = |pe: usize| control.pe(pe).argument.load(Ordering::Acquire) as usize;
    if let Some(other) = job.near().find(|pe| of(*pe) != value) {
        failure::misuse(
            routine,
            format_args!("{argument} = {value}"),
            format_args!(
                "PE {other} called with {}; all PEs must make the same calls with the same \
                 arguments",
                of(other)
            ),
        );
    }
    // No PE replaces its value before all have compared it.
    collectives::barrier_all(routine);
}
