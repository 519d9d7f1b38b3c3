//! A forked child of a PE gets private memory and is no PE.
//!
//! The data segment is shared memory, so without care a child would scribble on
//! its parent. Before `fork` the parent copies the pages that exist; the child lays
//! the copy over its data segment: a snapshot, as `fork` promises. The child's view of the
//! heap becomes copy-on-write, and the peers' mirrors are not inherited at all.
//!
//! `posix_spawn`, `system` and `popen` do not come here: their child runs another
//! program at once.
#![allow(unsafe_code)]

use super::existing;
use crate::atomics::{AtomicBool, Ordering};
use crate::error::Error;
use crate::sys::{fd, map, process, signal};
use crate::translate::TABLE;
use std::cell::Cell;

thread_local! {
    /// The copy made for the child that is about to be, 0 if there is none. Not a
    /// static: in a static program those are in the shared data segment, where
    /// parent and child would write over each other's.
    static SNAPSHOT: Cell<usize> = const { Cell::new(0) };
}
static CHILD: AtomicBool = AtomicBool::new(false);

/// Whether this process is a forked child of a PE.
pub(super) fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}

/// Has every later `fork` do this.
pub(super) fn prepare() -> Result<(), Error> {
    process::at_fork(before, after_in_parent, after_in_child)
}

unsafe extern "C" fn before() {
    let Some(job) = existing().filter(|_| !is_child()) else { return };
    if !job.choice.backend.is_shared() {
        return; // Ordinary memory: fork itself gives the child its own.
    }
    let data = &job.layout.data;
    let Ok(copy) = map::private_anywhere(data.len()) else {
        signal::write_stderr(b"oneshmem: no memory to copy the data segment for fork\n");
        return;
    };
    let start = job.control.data_offset(job.pe);
    let end = start + data.len() as u64;
    let mut at = start;
    while let Some(pages) = fd::next_data(job.control.file(), at, end) {
        let offset = (pages.start - start) as usize;
        let bytes = (pages.end - pages.start) as usize;
        // SAFETY: both ranges are mapped, `offset + bytes` is within the segment,
        // and a copy of memory that others may be writing is what fork makes too.
        unsafe {
            std::ptr::copy_nonoverlapping(
                (data.start + offset) as *const u8,
                (copy + offset) as *mut u8,
                bytes,
            );
        }
        at = pages.end;
    }
    SNAPSHOT.set(copy);
}

unsafe extern "C" fn after_in_parent() {
    let Some(job) = existing() else { return };
    let copy = SNAPSHOT.take();
    if copy != 0 {
        // SAFETY: the parent's copy was for the child alone, which has its own.
        unsafe { map::unmap(copy as *mut u8, job.layout.data.len()) };
    }
}

unsafe extern "C" fn after_in_child() {
    let Some(job) = existing().filter(|_| !is_child()) else { return };
    let (data, heap) = (&job.layout.data, &job.layout.heap);
    let copy = SNAPSHOT.get();
    // SAFETY: the copy replaces this process's own data segment with equal bytes;
    // the heap's place is this process's own as well.
    let done = unsafe {
        let offset = job.control.heap_offset(job.pe);
        !job.choice.backend.is_shared()
            || copy != 0
                && map::move_over(copy, data.len(), data.start).is_ok()
                && map::private_over(heap.start, heap.len(), job.control.file(), offset).is_ok()
    };
    if !done {
        signal::write_stderr(b"oneshmem: a forked child cannot get private memory; ending it\n");
        process::flush_and_exit(1);
    }
    // Only now: in a static program these words lie in the data segment.
    CHILD.store(true, Ordering::Relaxed);
    TABLE.retire();
}
