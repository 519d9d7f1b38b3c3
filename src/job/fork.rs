//! A forked child of a PE gets private memory and is no PE.
//!
//! Data segment and heap are shared memory, so without care a child would scribble
//! on its parent. Before `fork` the parent copies the pages that exist; the child
//! lays the copies over its own: a snapshot, as `fork` promises. The peers' mirrors
//! are not inherited at all.
//!
//! `posix_spawn`, `system` and `popen` do not come here: their child runs another
//! program at once.
#![allow(unsafe_code)]

use super::{Job, existing};
use crate::atomics::{AtomicBool, Ordering};
use crate::error::Error;
use crate::memory::pages::Pages;
use crate::sys::{fd, map, process, signal};
use crate::translate::TABLE;
use std::cell::Cell;
use std::ops::Range;

thread_local! {
    /// The copies of data segment and heap made for the child that is about to be,
    /// 0 where there is none. Not a static: in a static program those are in the
    /// shared data segment, where parent and child would write over each other's.
    static SNAPSHOT: Cell<[usize; 2]> = const { Cell::new([0; 2]) };
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

/// What is shared.
fn parts(job: &Job) -> [&Range<usize>; 2] {
    [&job.layout.data, &job.layout.heap]
}

unsafe extern "C" fn before() {
    let Some(job) = existing().filter(|_| !is_child()) else { return };
    if !job.choice.backend.is_shared() {
        return; // Ordinary memory: fork itself gives the child its own.
    }
    let (control, pe) = (&job.control, job.pe);
    let pages = Pages::from_word(control.pe(pe).heap_pages.load(Ordering::Relaxed));
    let heap = match pages {
        // A file of huge pages does not tell where it holds any.
        Pages::Explicit(_) => {
            let used = job.heap.lock().unwrap_or_else(|e| e.into_inner()).untouched();
            copy(&job.layout.heap, std::iter::once(0..used))
        }
        _ => copy(&job.layout.heap, holding(job, control.heap_offset(pe), &job.layout.heap)),
    };
    let data = copy(&job.layout.data, holding(job, control.data_offset(pe), &job.layout.data));
    SNAPSHOT.set([data, heap]);
}

/// The stretches of `range`, which starts at `start` in the job's file, that hold pages.
fn holding(job: &Job, start: u64, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = start + range.len() as u64;
    let mut at = start;
    std::iter::from_fn(move || {
        let pages = fd::next_data(job.control.file(), at, end)?;
        at = pages.end;
        Some((pages.start - start) as usize..(pages.end - start) as usize)
    })
}

/// A private copy of these stretches of `range`; 0 if there is no memory.
fn copy(range: &Range<usize>, stretches: impl Iterator<Item = Range<usize>>) -> usize {
    let Ok(copy) = map::private_anywhere(range.len()) else { return 0 };
    for stretch in stretches {
        // SAFETY: both ranges are mapped, the stretch is within them, and a copy of
        // memory that others may be writing is what fork makes too.
        unsafe {
            std::ptr::copy_nonoverlapping(
                (range.start + stretch.start) as *const u8,
                (copy + stretch.start) as *mut u8,
                stretch.len(),
            );
        }
    }
    copy
}

unsafe extern "C" fn after_in_parent() {
    let Some(job) = existing() else { return };
    for (range, copy) in parts(job).into_iter().zip(SNAPSHOT.take()) {
        if copy != 0 {
            // SAFETY: the copy was for the child alone, which has its own.
            unsafe { map::unmap(copy as *mut u8, range.len()) };
        }
    }
}

unsafe extern "C" fn after_in_child() {
    let Some(job) = existing().filter(|_| !is_child()) else { return };
    let mut copies = parts(job).into_iter().zip(SNAPSHOT.get());
    // SAFETY: a copy replaces this process's own memory with equal bytes.
    let laid = |(range, copy): (&Range<usize>, usize)| unsafe {
        copy != 0 && map::move_over(copy, range.len(), range.start).is_ok()
    };
    if job.choice.backend.is_shared() && !copies.all(laid) {
        signal::write_stderr(b"oneshmem: a forked child cannot get private memory; ending it\n");
        process::flush_and_exit(1);
    }
    // Only now: in a static program these words lie in the data segment.
    CHILD.store(true, Ordering::Relaxed);
    TABLE.retire();
}
