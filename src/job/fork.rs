//! A forked child of a PE gets private memory and is no PE.
//!
//! Data segment and heap are shared memory, so without care a child would scribble
//! on its parent. Before `fork` the parent copies the pages that exist; the child
//! lays the copies over its own: a snapshot, as `fork` promises. The peers' mirrors
//! are not inherited at all.
//!
//! In a static program the data segment holds the C library's own data, too, which the child
//! sets to rights before any handler of ours runs. That would be the parent's, whose other
//! threads are using it. So where there are other threads such a child does not inherit the
//! data segment, and its first access to it puts the copy there.
//!
//! Our handlers are registered when the library is loaded, before the program's own: so the copy
//! is made after their preparation, and their work in the child is on the child's memory. A copy
//! is not of one instant where other threads are writing; neither is what `fork` makes.
//!
//! `posix_spawn`, `system` and `popen` do not come here: their child runs another
//! program at once.
#![allow(unsafe_code)]

use super::partitions::Partition;
use super::{Job, existing};
use crate::atomics::{AtomicBool, Ordering};
use crate::error::Error;
use crate::sys::{ending, signal};
use crate::translate::TABLE;
use onenode::backend::Slots;
use onenode::pages::Pages;
use onenode::segment::without;
use onenode::sys::{fd, map, process, program, raw, threads};
use std::cell::Cell;
use std::ops::Range;
use std::os::fd::BorrowedFd;

thread_local! {
    /// The copies of data segment, heap and all partitions made for the child that is about to be,
    /// 0 where there is none. Not a static: in a static program those are in the
    /// shared data segment, where parent and child would write over each other's.
    static SNAPSHOT: Cell<[usize; 3]> = const { Cell::new([0; 3]) };
    /// Whether the data segment's copy takes its place at the child's first access.
    static ON_ACCESS: Cell<bool> = const { Cell::new(false) };
}
static CHILD: AtomicBool = AtomicBool::new(false);
/// Whether the program is static.
static STATIC: AtomicBool = AtomicBool::new(false);
/// Whether a thread is between `before` and `after_in_parent` with the data segment withheld.
static WITHHELD: AtomicBool = AtomicBool::new(false);

/// Whether this process is a forked child of a PE.
pub(super) fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}

/// Whether the handlers are registered.
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// Has every later `fork` do this, if it can be.
pub(super) fn register() {
    let done = process::at_fork(before, after_in_parent, after_in_child).is_ok();
    REGISTERED.store(done, Ordering::Relaxed);
}

/// The same, told if it cannot be.
pub(super) fn prepare() -> Result<(), Error> {
    STATIC.store(program::is_static(), Ordering::Relaxed);
    if REGISTERED.load(Ordering::Relaxed) {
        return Ok(());
    }
    Ok(process::at_fork(before, after_in_parent, after_in_child)?)
}

/// What is shared, each with the address of its copy, 0 if there is none. The partitions' copies
/// are one behind the other.
fn parts(
    job: &Job,
    [data, heap, mut partitions]: [usize; 3],
) -> impl Iterator<Item = (&Range<usize>, usize)> {
    let copies = job.mapped_partitions().iter().map(move |partition| {
        let (range, copy) = (partition.space().range(), partitions);
        partitions += if copy == 0 { 0 } else { range.len() };
        (range, copy)
    });
    [(&job.layout.data, data), (&job.layout.heap, heap)].into_iter().chain(copies)
}

unsafe extern "C" fn before() {
    let Some(job) = existing().filter(|_| !is_child()) else { return };
    if !job.choice.backend.is_shared() {
        return; // Ordinary memory: fork itself gives the child its own.
    }
    let (control, pe) = (&job.control, job.pe);
    let pages = Pages::from_word(control.pe(pe).slot.heap_pages.load(Ordering::Relaxed));
    let (layout, file) = (&job.layout, control.file().ok());
    let heap = match (pages, file) {
        // A file of huge pages does not tell where it holds any; nor does one that the program
        // has closed everywhere.
        (Pages::Explicit(_), _) | (_, None) => {
            copy(&layout.heap, std::iter::once(0..job.heap.pool().untouched()))
        }
        (_, Some(file)) => copy(&layout.heap, holding(file, control.heap_offset(pe), &layout.heap)),
    };
    let data = match file {
        None => copy(&layout.data, std::iter::once(0..layout.data.len())),
        Some(file) => copy(&layout.data, holding(file, control.data_offset(pe), &layout.data)),
    };
    SNAPSHOT.set([data, heap, copy_partitions(job)]);
    if data != 0 && STATIC.load(Ordering::Relaxed) && !threads::alone() {
        withhold(&job.layout.data, &job.data.system, data);
    }
}

/// Private copies of the partitions as far as they are in use, in one piece; 0 if there are none.
fn copy_partitions(job: &Job) -> usize {
    let spaces = || job.mapped_partitions().iter().map(Partition::space);
    let bytes: usize = spaces().map(|space| space.range().len()).sum();
    let Some(copies) = (bytes > 0).then(|| map::private_anywhere(bytes).ok()).flatten() else {
        return 0;
    };
    let mut at = copies;
    for space in spaces() {
        let used = space.pool().untouched();
        // SAFETY: as in `copy`.
        unsafe { raw::copy(space.range().start, at, used) };
        at += space.range().len();
    }
    copies
}

/// Keeps the data segment from the child, which is to find the copy in its place.
fn withhold(data: &Range<usize>, system: &Range<usize>, copy: usize) {
    while WITHHELD.swap(true, Ordering::Acquire) {
        process::yield_cpu(); // Another thread forks.
    }
    // Not in the rare program whose data segment has code of the system's in a gap.
    if system.is_empty() && signal::expect_missing(data, copy) && map::inherit(data, false) {
        ON_ACCESS.set(true);
    } else {
        // The program handles faults itself.
        signal::expect_nothing();
        WITHHELD.store(false, Ordering::Release);
    }
}

/// The stretches of `range`, which starts at `start` in `file`, that hold pages.
fn holding(
    file: BorrowedFd<'_>,
    start: u64,
    range: &Range<usize>,
) -> impl Iterator<Item = Range<usize>> {
    let end = start + range.len() as u64;
    let mut at = start;
    std::iter::from_fn(move || {
        let pages = fd::next_data(file, at, end)?;
        at = pages.end;
        Some((pages.start - start) as usize..(pages.end - start) as usize)
    })
}

/// A private copy of these stretches of `range`; 0 if there is no memory.
fn copy(range: &Range<usize>, stretches: impl Iterator<Item = Range<usize>>) -> usize {
    let Ok(copy) = map::private_anywhere(range.len()) else { return 0 };
    for stretch in stretches {
        // Not `memcpy`: sanitizers see to it that it does not touch the gaps between variables.
        // SAFETY: both ranges are mapped, the stretch is within them, and a copy of
        // memory that others may be writing is what fork makes too.
        unsafe { raw::copy(range.start + stretch.start, copy + stretch.start, stretch.len()) };
    }
    copy
}

unsafe extern "C" fn after_in_parent() {
    let Some(job) = existing() else { return };
    if ON_ACCESS.take() {
        map::inherit(&job.layout.data, true);
        signal::expect_nothing();
        WITHHELD.store(false, Ordering::Release);
    }
    for (range, copy) in parts(job, SNAPSHOT.take()) {
        if copy != 0 {
            // SAFETY: the copy was for the child alone, which has its own.
            unsafe { map::unmap(copy as *mut u8, range.len()) };
        }
    }
}

unsafe extern "C" fn after_in_child() {
    let Some(job) = existing().filter(|_| !is_child()) else { return };
    // To come here was an access.
    let in_place = usize::from(ON_ACCESS.take());
    let mut copies = parts(job, SNAPSHOT.get()).skip(in_place);
    let system = &job.data.system;
    let laid = |(range, copy): (&Range<usize>, usize)| {
        copy != 0
            && without(range.clone(), system).all(|part| {
                let from = copy + (part.start - range.start);
                // SAFETY: a copy replaces this process's own memory with equal bytes.
                unsafe { map::move_over(from, part.len(), part.start) }.is_ok()
            })
    };
    if job.choice.backend.is_shared() && !copies.all(laid) {
        signal::write_stderr(b"oneshmem: a forked child cannot get private memory; ending it\n");
        // The streams' content is the parent's to write.
        ending::exit_now(1);
    }
    if job.choice.backend.is_shared() {
        let partitions = job.mapped_partitions().iter().map(Partition::space);
        for space in std::iter::once(&job.heap).chain(partitions) {
            space.extent.inherit(space.range());
        }
    }
    // Only now: in a static program these words lie in the data segment.
    CHILD.store(true, Ordering::Relaxed);
    TABLE.retire();
}
