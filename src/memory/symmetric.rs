//! The symmetric heap's routines (specification, section 9.3).
//!
//! All are collective: every PE makes the same call, each PE's own allocator gives
//! the same answer, and a barrier makes the answer safe to use. Nothing is
//! exchanged but, under `SHMEM_DEBUG`, the arguments, to see that they are the same.
#![allow(unsafe_code)]

use super::heap::{GRANULE, Heap};
use crate::atomics::Ordering;
use crate::collectives;
use crate::env;
use crate::error::Routine;
use crate::failure;
use crate::job::{Job, job};
use crate::message;
use onenode::layout::HEAP_ALIGNMENT;
use std::ffi::c_long;
use std::fmt;
use std::ptr::null_mut;
use std::sync::MutexGuard;

/// The largest alignment a block can have: what all PEs' heaps have, because with a
/// larger one a block would have another offset on each PE.
fn largest_alignment(job: &Job) -> usize {
    HEAP_ALIGNMENT.min(1 << job.heap_base().trailing_zeros())
}

/// `shmem_malloc`: a block of `size` bytes on every PE, or null on all.
pub fn malloc(routine: Routine, size: usize) -> *mut u8 {
    let job = job(routine);
    agree(job, routine, "size", size);
    if size == 0 {
        return null_mut();
    }
    let block = allocate(job, routine, Some(size), GRANULE);
    collectives::barrier_all(routine);
    block.map_or(null_mut(), |offset| address(job, offset))
}

/// `shmem_malloc_with_hints`: all memory of a node is equally good for what the
/// hints announce, so they change nothing.
pub fn malloc_with_hints(routine: Routine, size: usize, _hints: c_long) -> *mut u8 {
    malloc(routine, size)
}

/// `shmem_align`: as [`malloc`], at a multiple of `alignment`, which must be a power of two
/// but, unlike in the specification, no multiple of a pointer's size. Null otherwise, as
/// other implementations return it.
pub fn align(routine: Routine, alignment: usize, size: usize) -> *mut u8 {
    let job = job(routine);
    agree(job, routine, "alignment", alignment);
    agree(job, routine, "size", size);
    if size == 0 {
        return null_mut();
    }
    let block = allocate(job, routine, Some(size), alignment);
    collectives::barrier_all(routine);
    block.map_or(null_mut(), |offset| address(job, offset))
}

/// `shmem_calloc`: `count` objects of `size` bytes, zero on every PE.
pub fn calloc(routine: Routine, count: usize, size: usize) -> *mut u8 {
    let job = job(routine);
    agree(job, routine, "count", count);
    agree(job, routine, "size", size);
    if count == 0 || size == 0 {
        return null_mut();
    }
    let bytes = count.checked_mul(size);
    let used_before = heap(job).untouched();
    let block = allocate(job, routine, bytes, GRANULE);
    if let (Some(offset), Some(bytes)) = (block, bytes) {
        // What no block has covered yet is zero still: writing it would only cost pages.
        let dirty = used_before.saturating_sub(offset).min(bytes);
        // SAFETY: inside the block just allocated, which no PE knows of yet.
        unsafe { address(job, offset).write_bytes(0, dirty) };
    }
    collectives::barrier_all(routine);
    block.map_or(null_mut(), |offset| address(job, offset))
}

/// `shmem_realloc`: the block at `ptr` with `size` bytes and what it held, or null
/// on all PEs and the block as it was.
///
/// # Safety
/// No PE uses the block until the call has returned there.
pub unsafe fn realloc(routine: Routine, ptr: *mut u8, size: usize) -> *mut u8 {
    if ptr.is_null() {
        return malloc(routine, size);
    }
    if size == 0 {
        free(routine, ptr);
        return null_mut();
    }
    let job = job(routine);
    let offset = block_at(job, routine, ptr);
    agree(job, routine, "the offset of ptr", offset);
    agree(job, routine, "size", size);
    // Peers may still be writing what they put before they came here.
    collectives::barrier_all(routine);
    let in_place = resize(job, offset, size);
    // SAFETY: the caller's promise; `offset` is a block's.
    let result = if in_place { ptr } else { unsafe { relocate(job, routine, offset, size) } };
    collectives::barrier_all(routine);
    result
}

/// Moves a block to a new one of `size` bytes.
///
/// # Safety
/// No PE uses the block.
unsafe fn relocate(job: &Job, routine: Routine, offset: usize, size: usize) -> *mut u8 {
    let Some(new) = allocate(job, routine, Some(size), GRANULE) else { return null_mut() };
    let kept = heap(job).size_of(offset).unwrap_or(0).min(size);
    let (from, to) = (address(job, offset), address(job, new));
    // SAFETY: both blocks have `kept` bytes, and blocks do not overlap.
    unsafe { to.copy_from_nonoverlapping(from, kept) };
    if heap(job).free(offset).is_err() {
        failure::fatal(format_args!("{routine}: the block was freed by another thread meanwhile"));
    }
    to
}

/// `shmem_free`.
pub fn free(routine: Routine, ptr: *mut u8) {
    let job = job(routine);
    if ptr.is_null() {
        agree(job, routine, "the offset of ptr", usize::MAX);
        return;
    }
    let offset = block_at(job, routine, ptr);
    agree(job, routine, "the offset of ptr", offset);
    // Peers may still be using it before they come here.
    collectives::barrier_all(routine);
    if heap(job).free(offset).is_err() {
        not_a_block(job, routine, ptr);
    }
}

fn heap(job: &Job) -> MutexGuard<'_, Heap> {
    job.heap.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn address(job: &Job, offset: usize) -> *mut u8 {
    (job.heap_base() + offset) as *mut u8
}

/// Makes a block at least `size` bytes long where it is, if there is room.
fn resize(job: &Job, offset: usize, size: usize) -> bool {
    let mut heap = heap(job);
    let resized = heap.resize(offset, size) == Ok(true);
    job.extent.reach(heap.untouched());
    resized
}

/// Allocates; `None` asks for more than can be counted. Says why not under
/// `SHMEM_DEBUG`.
fn allocate(job: &Job, routine: Routine, size: Option<usize>, align: usize) -> Option<usize> {
    let largest = largest_alignment(job);
    let mut heap = heap(job);
    let possible = align.is_power_of_two() && align <= largest;
    let block = size.filter(|_| possible).and_then(|size| heap.allocate(size, align));
    job.extent.reach(heap.untouched());
    // Every PE fails alike, so that one need say it.
    if block.is_none() && job.pe() == 0 && env::debugging() {
        message::say(Refusal { routine, size, align, largest, heap: &heap });
    }
    block
}

/// Why an allocation came to nothing.
struct Refusal<'a> {
    routine: Routine,
    size: Option<usize>,
    align: usize,
    largest: usize,
    heap: &'a Heap,
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
        if self.align > self.largest {
            return write!(f, "; the largest alignment is {}", self.largest);
        }
        let (usage, bytes) = (self.heap.usage(), self.heap.bytes());
        write!(
            f,
            "; {} of {bytes} bytes of the symmetric heap are free, the largest piece has {}; \
             set {} to have more",
            usage.free,
            usage.largest,
            env::SYMMETRIC_SIZE.name
        )
    }
}

/// The offset of the block that starts at `ptr`; ends the job if there is none.
fn block_at(job: &Job, routine: Routine, ptr: *mut u8) -> usize {
    let offset = (ptr as usize).wrapping_sub(job.heap_base());
    if heap(job).size_of(offset).is_none() {
        not_a_block(job, routine, ptr);
    }
    offset
}

#[cold]
fn not_a_block(job: &Job, routine: Routine, ptr: *mut u8) -> ! {
    let base = job.heap_base();
    let (nearest, bytes) = {
        let heap = heap(job);
        // Below the heap, the nearest block is the first.
        (heap.nearest((ptr as usize).saturating_sub(base)), heap.bytes())
    };
    let nearest = match nearest {
        Some((start, size)) => {
            format!("the nearest block starts at {:#x} and has {size} bytes", base + start)
        }
        None => "there is no block now".into(),
    };
    failure::misuse(
        routine,
        format_args!("ptr = {ptr:p}"),
        format_args!(
            "expected the start of a block of the symmetric heap {base:#x}..{:#x} that is not \
             freed yet; {nearest}",
            base + bytes
        ),
    )
}

/// Under `SHMEM_DEBUG`, ends the job unless every PE of this node has come with the same value of
/// an argument.
fn agree(job: &Job, routine: Routine, argument: &str, value: usize) {
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
    // Nobody replaces its value before all have looked.
    collectives::barrier_all(routine);
}
