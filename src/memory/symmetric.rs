//! The symmetric heap's routines (specification, section 9.3).
//!
//! All are collective: every PE makes the same call, each PE's own allocator returns the same
//! result, and a barrier makes the result safe to use. PEs exchange nothing, except under
//! `SHMEM_DEBUG` the arguments, to check that they are the same.
#![allow(unsafe_code)]

use super::guards;
use super::heap::GRANULE;
use super::space::Space;
use crate::argument::memory::Block;
use crate::atomics::Ordering;
use crate::collectives;
use crate::env;
use crate::error::Routine;
use crate::failure;
use crate::job::{Job, job};
use crate::message;
use crate::timeline::event::Kind;
use crate::timeline::recorder;
use onenode_core::sys::map;
use std::ffi::c_long;
use std::fmt;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::OnceLock;

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
    agree(job, routine, "size", size);
    if size == 0 {
        return null_mut();
    }
    let block = allocate(job, space, routine, Some(size), GRANULE);
    collectives::barrier_all(routine);
    block.map_or(null_mut(), |offset| space.address(offset))
}

/// `shmem_malloc_with_hints`: all memory of a node is equally good for the uses that the
/// specification's hints describe, so they have no effect. A partition named in the hints is tried
/// before the heap.
pub fn malloc_with_hints(routine: Routine, size: usize, hints: c_long) -> *mut u8 {
    let job = job(routine);
    agree(job, routine, "hints", hints as usize);
    let id = ((hints & HINT_PARTITION) >> PARTITION_SHIFT).checked_sub(1);
    let partition = id.and_then(|id| job.partition(usize::try_from(id).ok()?));
    let Some(partition) = partition else { return malloc(routine, size) };
    agree(job, routine, "size", size);
    if size == 0 {
        return null_mut();
    }
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
    agree(job, routine, "alignment", alignment);
    agree(job, routine, "size", size);
    if size == 0 {
        return null_mut();
    }
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
    agree(job, routine, "count", count);
    agree(job, routine, "size", size);
    if count == 0 || size == 0 {
        return null_mut();
    }
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
    let result = match resize(space, ptr, offset, size) {
        true => ptr,
        // SAFETY: no PE uses a `Block` any more: all have reached the barrier above. `block_at` has
        // found `offset` to be that of a block.
        false => unsafe { relocate(job, space, routine, offset, size) },
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

/// Moves a block to a new one of `size` bytes.
///
/// # Safety
/// No PE uses the block.
unsafe fn relocate(
    job: &Job,
    space: &Space,
    routine: Routine,
    offset: usize,
    size: usize,
) -> *mut u8 {
    let Some(new) = allocate(job, space, routine, Some(size), GRANULE) else { return null_mut() };
    let kept = space.pool().size_of(offset).unwrap_or(0).min(size);
    let (from, to) = (space.address(offset), space.address(new));
    if is_watched() {
        forget(space, routine, offset);
    }
    // SAFETY: both blocks have `kept` bytes, and blocks do not overlap.
    unsafe {
        match job.devices().filter(|devices| devices.find(from.addr()).is_some()) {
            Some(devices) => devices.copy(to, from, kept),
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
    if ptr.is_null() {
        agree(job, routine, "the offset of ptr", usize::MAX);
        return;
    }
    let (space, offset) = block_at(job, routine, ptr);
    let watched = is_watched();
    if watched && env::debugging() {
        agree_on_block(job, routine, space, offset);
    }
    // Peers may still use the block before they make this call.
    collectives::barrier_all(routine);
    if watched {
        forget(space, routine, offset);
    }
    if space.pool().free(offset).is_err() {
        not_a_block(job, routine, ptr);
    }
}

/// Allocates. `None` stands for a size that overflows. Under `SHMEM_DEBUG`, reports why it fails.
pub(crate) fn allocate(
    job: &Job,
    space: &Space,
    routine: Routine,
    size: Option<usize>,
    align: usize,
) -> Option<usize> {
    if is_watched() {
        return allocate_watched(job, space, routine, size, align);
    }
    let possible = align.is_power_of_two() && align <= space.largest_alignment();
    space.allocate(size.filter(|_| possible)?, align)
}

/// Whether blocks are checked, under `SHMEM_DEBUG`, or recorded in a timeline.
#[inline]
fn is_watched() -> bool {
    static WATCHED: OnceLock<bool> = OnceLock::new();
    *WATCHED.get_or_init(|| env::debugging() || recorder::recorder().is_some())
}

/// [`allocate`] where blocks are watched.
#[cold]
fn allocate_watched(
    job: &Job,
    space: &Space,
    routine: Routine,
    size: Option<usize>,
    align: usize,
) -> Option<usize> {
    let possible = align.is_power_of_two() && align <= space.largest_alignment();
    let block = match env::debugging() {
        true => allocate_debugged(job, space, routine, size, align),
        false => size.filter(|_| possible).and_then(|size| space.allocate(size, align)),
    };
    if let (Some(_), Some(size)) = (block, size) {
        recorder::note(routine.name(), Kind::Allocated, size);
    }
    block
}

/// What is done about a block that is about to be freed, where blocks are watched.
#[cold]
fn forget(space: &Space, routine: Routine, offset: usize) {
    if env::debugging() {
        guards::forget(space.address(offset).addr());
    }
    if let Some(size) = space.pool().size_of(offset) {
        recorder::note(routine.name(), Kind::Freed, size);
    }
}

/// [`allocate`] under `SHMEM_DEBUG`: with a guard, if there is room for both.
#[cold]
fn allocate_debugged(
    job: &Job,
    space: &Space,
    routine: Routine,
    size: Option<usize>,
    align: usize,
) -> Option<usize> {
    let possible = align.is_power_of_two() && align <= space.largest_alignment();
    let block = size.filter(|_| possible).and_then(|size| {
        let guarded = allocate_guarded(job, space, size, align);
        guarded.or_else(|| space.allocate(size, align))
    });
    // Every PE fails in the same way, so one report is enough.
    if block.is_none() && job.pe() == 0 {
        message::say(Refusal { job, routine, size, align, space });
        message::say_caller();
    }
    block
}

/// Allocates a block with a guard, unless it is on a device.
fn allocate_guarded(job: &Job, space: &Space, size: usize, align: usize) -> Option<usize> {
    if job.devices().is_some_and(|it| it.find(space.range().start).is_some()) {
        return None;
    }
    let offset = space.allocate(guards::with_guard(size)?, align)?;
    // SAFETY: the block has just been allocated with this room, and stays until `free`, `relocate` or
    // the end of the lifetime.
    unsafe { guards::lay(space.address(offset), size) };
    Some(offset)
}

/// Why an allocation failed.
struct Refusal<'a> {
    job: &'a Job,
    routine: Routine,
    size: Option<usize>,
    align: usize,
    space: &'a Space,
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} returns NULL: ", self.routine)?;
        match self.size {
            None => write!(f, "more bytes were asked for than can be counted")?,
            Some(size) => write!(f, "{size} bytes were asked for")?,
        }
        if self.align != GRANULE {
            write!(f, " at a multiple of {}", self.align)?;
        }
        if !self.align.is_power_of_two() {
            return write!(f, "; expected a power of two as alignment");
        }
        let largest = self.space.largest_alignment();
        if self.align > largest {
            return write!(f, "; the largest alignment is {largest}");
        }
        let (usage, bytes) = (self.space.pool().usage(), self.space.range().len());
        let (name, variable) = match self.job.partition_of(self.space.range().start) {
            None => ("the symmetric heap".into(), env::SYMMETRIC_SIZE.name.into()),
            Some(partition) => {
                let id = partition.spec().id;
                (format!("partition {id}"), format!("the SIZE of SHMEM_SYMMETRIC_PARTITION{id}"))
            }
        };
        write!(
            f,
            "; {} of {bytes} bytes of {name} are free, the largest piece has {}; set {variable} \
             to have more",
            usage.free, usage.largest,
        )
    }
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
        let partition = job.partition_of(space.range().start);
        let number = partition.map_or(0, |partition| partition.spec().id + 1);
        agree(job, routine, "the partition of ptr, plus 1", number);
    }
    agree(job, routine, "the offset of ptr", offset);
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
