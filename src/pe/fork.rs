//! Handles `fork`: a forked child of a PE gets private memory and is not a PE.
//!
//! The data segment and the heap are shared memory, so without care a child would overwrite its
//! parent's. Before `fork` the parent copies the existing pages; the child maps the copies over its
//! own addresses: a snapshot, as `fork` promises. The peers' mirrors are not inherited at all.
//!
//! In a static program the data segment also holds the C library's own data, which the C library
//! repairs in the child before any of our handlers run. Without care it would repair the parent's,
//! which other threads are using. So if there are other threads, such a child does not inherit the
//! data segment, and its first access maps the copy there. A C library that blocks signals at that
//! time (glibc 2.41) makes this impossible: such a child ends, and the parent says so.
//!
//! Our handlers are registered when the library is loaded, before the program's own. So the copy is
//! made after the program's preparations, and the program's handlers in the child work on the
//! child's memory. If other threads are writing, the copy is not of one instant; nor is `fork`'s
//! own.
//!
//! `posix_spawn`, `system` and `popen` do not use this: their child runs another program at once.
#![allow(unsafe_code)]

use super::partitions::Partition;
use super::{Job, existing};
use crate::atomics::{AtomicBool, Ordering};
use crate::sys::signal;
use crate::translate::TABLE;
use onenode_core::pages::Pages;
use onenode_core::segment::without;
use onenode_core::sys::{fd, map, maps, process, program, raw, threads};
use oneshmem_job::error::Error;
use std::cell::Cell;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::OnceLock;

thread_local! {
    /// The copies of data segment, heap and all partitions for the child being created; 0 where
    /// there is none. Not a static: in a static program those lie in the shared data segment, where
    /// parent and child would overwrite each other's.
    static SNAPSHOT: Cell<[usize; 3]> = const { Cell::new([0; 3]) };
    /// The parts of the data segment that the program has protected, for the child being created.
    static PROTECTED: Cell<Protected> = const { Cell::new(Protected { at: 0, count: 0 }) };
    /// Whether the copy of the data segment is put in place at the child's first access.
    static ON_ACCESS: Cell<bool> = const { Cell::new(false) };
}
static CHILD: AtomicBool = AtomicBool::new(false);
/// Whether the program is static.
static STATIC: AtomicBool = AtomicBool::new(false);
/// Whether a thread is between `before` and `after_in_parent` with the data segment withheld.
static WITHHELD: AtomicBool = AtomicBool::new(false);
/// Reports that the child being created will end.
static LOST: OnceLock<fn()> = OnceLock::new();

/// Parts of the data segment that may not be read and written, as the program has said by mprotect(2), in a
/// mapping of their own, which the child inherits.
#[derive(Clone, Copy)]
struct Protected {
    at: usize,
    count: usize,
}

/// A range and what may be done with it.
type Part = (Range<usize>, i32);

impl Protected {
    /// Notes what is protected now; nothing if there is no memory, or the system does not say.
    fn note(job: &Job) -> Self {
        let of_program = without(job.layout.data().clone(), job.data.system());
        let parts: Vec<Part> = of_program.flat_map(|pages| maps::protected(&pages)).collect();
        let bytes = size_of_val(&parts[..]);
        let place = (bytes > 0).then(|| map::private_anywhere(bytes).ok()).flatten();
        let Some(at) = place else { return Self { at: 0, count: 0 } };
        // SAFETY: new memory with room for all of them, aligned to pages.
        unsafe { std::ptr::copy_nonoverlapping(parts.as_ptr(), at as *mut Part, parts.len()) };
        Self { at, count: parts.len() }
    }

    fn parts(&self) -> &[Part] {
        match self.count {
            0 => &[],
            // SAFETY: `note` has written as many there, which stay until `drop_all`.
            count => unsafe { std::slice::from_raw_parts(self.at as *const Part, count) },
        }
    }

    /// The readable parts of `stretch`, offsets from `start`.
    fn readable(&self, start: usize, stretch: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let end = stretch.end;
        let holes = self.unreadable().map(move |part| part.start - start..part.end - start);
        let last = std::iter::once(end..end);
        holes.chain(last).scan(stretch.start, move |at, hole| {
            let before = *at..hole.start.clamp(*at, end.max(*at));
            *at = hole.end.max(*at);
            Some(before)
        })
    }

    /// The parts that cannot be read, in order.
    fn unreadable(&self) -> impl Iterator<Item = &Range<usize>> {
        let parts = self.parts().iter();
        parts.filter(|part| part.1 & libc::PROT_READ == 0).map(|(range, _)| range)
    }

    /// Protects all parts as noted.
    fn restore(&self) {
        for (range, protection) in self.parts() {
            // SAFETY: a part of this process's data, which was protected so before fork.
            unsafe { map::set_protection(range, *protection) };
        }
    }

    /// Forgets them.
    fn drop_all(self) {
        if self.count > 0 {
            // SAFETY: made by `note` for this, and nothing refers to it any more.
            unsafe { map::unmap(self.at as *mut u8, size_of_val(self.parts())) };
        }
    }
}

/// Whether this process is a forked child of a PE.
pub(crate) fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}

/// Whether the handlers are registered.
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// Registers the handlers for every later `fork`, if possible.
pub(super) fn register() {
    let done = process::at_fork(before, after_in_parent, after_in_child).is_ok();
    REGISTERED.store(done, Ordering::Relaxed);
}

/// Registers the handlers if that has not succeeded yet, and reports the error. `lost` reports
/// before a fork that the child will end.
pub(crate) fn prepare(lost: fn()) -> Result<(), Error> {
    LOST.get_or_init(|| lost);
    STATIC.store(program::is_static(), Ordering::Relaxed);
    if REGISTERED.load(Ordering::Relaxed) {
        return Ok(());
    }
    Ok(process::at_fork(before, after_in_parent, after_in_child)?)
}

/// The shared ranges, each with the address of its copy, or 0 if there is none. The partitions'
/// copies follow each other.
fn parts(
    job: &Job,
    [data, heap, mut partitions]: [usize; 3],
) -> impl Iterator<Item = (&Range<usize>, usize)> {
    let copies = job.mapped_partitions().iter().map(move |partition| {
        let (range, copy) = (partition.space().range(), partitions);
        partitions += if copy == 0 { 0 } else { range.len() };
        (range, copy)
    });
    [(job.layout.data(), data), (job.layout.heap(), heap)].into_iter().chain(copies)
}

extern "C" fn before() {
    let Some(job) = existing().filter(|_| !is_child()) else { return };
    if !job.choice.is_in_files() {
        return; // Ordinary memory: fork itself gives the child its own.
    }
    let (control, pe) = (&job.control, job.pe);
    let pages = control.pe(pe).slot.pages();
    let (layout, file) = (&job.layout, control.job().file().ok());
    let heap = match (pages, file) {
        // A file of huge pages does not say which parts hold data. Nor can a file be asked that the
        // program has closed everywhere.
        (Pages::Explicit(_), _) | (_, None) => {
            OwnMemory::heap(job).copy(std::iter::once(0..job.heap.pool().untouched()))
        }
        (_, Some(file)) => {
            OwnMemory::heap(job).copy(holding(file, control.heap_offset(pe), layout.heap()))
        }
    };
    let protected = Protected::note(job);
    let readable = |stretch| protected.readable(layout.data().start, stretch);
    let data = match file {
        None => OwnMemory::data(job).copy(readable(0..layout.data().len())),
        Some(file) => {
            let stretches = holding(file, control.data_offset(pe), layout.data());
            OwnMemory::data(job).copy(stretches.flat_map(readable))
        }
    };
    if let Some(file) = file.filter(|_| data != 0) {
        for part in protected.unreadable() {
            let offset = part.start - layout.data().start;
            let from = control.data_offset(pe) + offset as u64;
            // SAFETY: the copy has room for each part of the data segment, at the same offset.
            unsafe {
                let to = std::ptr::with_exposed_provenance_mut(data + offset);
                raw::read(file.as_raw_fd(), to, part.len(), Some(from))
            };
        }
    }
    PROTECTED.set(protected);
    SNAPSHOT.set([data, heap, copy_partitions(job)]);
    if data != 0 && STATIC.load(Ordering::Relaxed) && !threads::alone() {
        if let Some(lost) = LOST.get().filter(|_| process::fork_blocks_signals()) {
            lost();
        }
        withhold(job, data);
    }
}

/// Private copies of the used parts of all partitions, in one mapping; 0 if there is none.
fn copy_partitions(job: &Job) -> usize {
    let spaces = || job.mapped_partitions().iter().map(Partition::space);
    let bytes: usize = spaces().map(|space| space.range().len()).sum();
    let Some(copies) = (bytes > 0).then(|| map::private_anywhere(bytes).ok()).flatten() else {
        return 0;
    };
    let mut at = copies;
    for space in spaces() {
        let used = space.pool().untouched();
        // SAFETY: blocks of the partition, which is mapped, and room for them. Others may be writing
        // meanwhile, as for the copy that fork makes.
        unsafe { raw::copy(space.range().start, at, used) };
        at += space.range().len();
    }
    copies
}

/// Withholds the data segment from the child, whose first access then puts its copy, at `copy`, in its place.
fn withhold(job: &Job, copy: usize) {
    let data = job.layout.data();
    while WITHHELD.swap(true, Ordering::Acquire) {
        process::yield_cpu(); // Another thread forks.
    }
    // Not in the rare program that has system code in a gap of its data segment.
    // SAFETY: `before` has made the copy of the data segment, which the child's first access puts in its place.
    let withheld = job.data.system().is_empty()
        && unsafe { signal::expect_missing(data, copy) && map::withhold(data) };
    if withheld {
        ON_ACCESS.set(true);
    } else {
        // The program handles faults itself.
        signal::expect_nothing();
        WITHHELD.store(false, Ordering::Release);
    }
}

/// The parts of `range` that hold pages. `range` starts at `start` in `file`.
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

/// Memory of this PE that is readable for the life of the process.
struct OwnMemory<'j>(&'j Range<usize>);

impl<'j> OwnMemory<'j> {
    /// The data segment.
    fn data(job: &'j Job) -> Self {
        Self(job.layout.data())
    }

    /// The heap: what is beyond its blocks may not be accessible, but no caller of `copy` names that.
    fn heap(job: &'j Job) -> Self {
        Self(job.layout.heap())
    }

    /// A private copy of these parts of it, offsets from its start; 0 if there is no memory.
    fn copy(self, stretches: impl Iterator<Item = Range<usize>>) -> usize {
        let Self(range) = self;
        let Ok(copy) = map::private_anywhere(range.len()) else { return 0 };
        for stretch in stretches {
            let (start, end) = (stretch.start, stretch.end.min(range.len()));
            // Not `memcpy`: sanitizers forbid it to touch the gaps between variables.
            // SAFETY: both ranges contain the part copied, and the one is readable, the other new.
            // Others may be writing the memory meanwhile, as for the copy that fork makes.
            unsafe { raw::copy(range.start + start, copy + start, end.saturating_sub(start)) };
        }
        copy
    }
}

extern "C" fn after_in_parent() {
    let Some(job) = existing() else { return };
    PROTECTED.replace(Protected { at: 0, count: 0 }).drop_all();
    if ON_ACCESS.take() {
        map::inherit(job.layout.data());
        signal::expect_nothing();
        WITHHELD.store(false, Ordering::Release);
    }
    for (range, copy) in parts(job, SNAPSHOT.take()) {
        if copy != 0 {
            // SAFETY: the copy was only for the child, which has its own mapping of it.
            unsafe { map::unmap(copy as *mut u8, range.len()) };
        }
    }
}

extern "C" fn after_in_child() {
    let Some(job) = existing().filter(|_| !is_child()) else { return };
    // Running this code was an access to the data segment.
    let in_place = usize::from(ON_ACCESS.take());
    let mut copies = parts(job, SNAPSHOT.get()).skip(in_place);
    let system = job.data.system();
    let laid = |(range, copy): (&Range<usize>, usize)| {
        copy != 0
            && without(range.clone(), system).all(|part| {
                let from = copy + (part.start - range.start);
                // SAFETY: the copy replaces this process's own memory with equal bytes.
                unsafe { map::move_over(from, part.len(), part.start) }.is_ok()
            })
    };
    if job.choice.is_in_files() && !copies.all(laid) {
        signal::write_stderr(b"oneshmem: a forked child cannot get private memory; ending it\n");
        // The content of the streams is for the parent to write.
        process::exit_now(1);
    }
    let protected = PROTECTED.replace(Protected { at: 0, count: 0 });
    protected.restore();
    protected.drop_all();
    if job.choice.is_in_files() {
        let partitions = job.mapped_partitions().iter().map(Partition::space);
        for space in std::iter::once(&job.heap).chain(partitions) {
            space.inherit(&job.layout);
        }
    }
    // Only now: in a static program these variables lie in the data segment.
    CHILD.store(true, Ordering::Relaxed);
    TABLE.retire();
}
