//! How much of the symmetric heap is in use, for tools that read all memory.
//!
//! A core dump contains the heap up to the highest point that the allocator has reached, and no
//! peer's mirror. valgrind searches all readable memory for pointers, so when it interprets the
//! program, memory beyond that point is made unreadable, in mirrors too.
//!
//! The point moves in doubling steps, so few allocations make a system call.
#![allow(unsafe_code)]

use crate::atomics::{AtomicUsize, Ordering};
use crate::sys::mutex;
use crate::sys::{map, raw};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// The point is a multiple of this, or of the heap's page size if that is larger.
const STEP: usize = 2 << 20;

/// The part of a heap in use. Before the first lifetime it is empty.
#[derive(Debug, Default)]
pub struct Extent {
    /// Bytes from the heap's start. Changes under the lock only.
    reached: AtomicUsize,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    heap: Range<usize>,
    /// The heap's page size.
    unit: usize,
    /// Where peers' heaps are mapped here.
    mirrors: Vec<usize>,
}

impl Extent {
    fn places(&self) -> MutexGuard<'_, Places> {
        mutex::lock(&self.places)
    }

    /// Begins a new lifetime's heap with pages of `unit` bytes. Its first `made` bytes exist
    /// already. There are no mirrors.
    ///
    /// # Safety
    /// The heap is mapped for its allocator alone, which [`reach`](Self::reach) is told of: until the
    /// next call, nobody accesses what is beyond, and nobody else sets who may access it.
    pub unsafe fn begin(&self, heap: &Range<usize>, unit: usize, made: usize) {
        let mut places = self.places();
        *places = Places { heap: heap.clone(), unit: unit.max(STEP), mirrors: Vec::new() };
        let reached = made.next_multiple_of(places.unit).min(heap.len());
        self.reached.store(reached, Ordering::Relaxed);
        let unused = heap.start + reached..heap.end;
        map::dump(&unused, false);
        // SAFETY: the caller guarantees that nobody accesses what is beyond.
        unsafe { hide(unused) };
    }

    /// Marks the first `bytes` bytes as in use.
    pub fn reach(&self, bytes: usize) {
        if bytes <= self.reached.load(Ordering::Relaxed) {
            return;
        }
        let places = self.places();
        let old = self.reached.load(Ordering::Relaxed);
        // Kitten has no dumps and no valgrind, so `begin` is never called there.
        if bytes <= old || places.heap.is_empty() {
            return;
        }
        let new = bytes.max(2 * old).next_multiple_of(places.unit).min(places.heap.len());
        let at = |start: usize| start + old..start + new;
        map::dump(&at(places.heap.start), true);
        if raw::on_valgrind() {
            for start in places.mirrors.iter().copied().chain([places.heap.start]) {
                // SAFETY: part of the heap or of a mirror of it, which `begin` and `add_mirror` were
                // told of, and which are writable.
                unsafe { map::protect(&at(start), true) };
            }
        }
        self.reached.store(new, Ordering::Relaxed);
    }

    /// Adds the mirror of a peer's heap, mapped at `start`.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin), for the mirror, which is as long as the heap.
    pub unsafe fn add_mirror(&self, start: usize) {
        if raw::on_valgrind() {
            let mut places = self.places();
            let reached = self.reached.load(Ordering::Relaxed);
            // SAFETY: the caller guarantees that all this is the mirror, writable, and that nobody
            // accesses it beyond what has been reached.
            unsafe {
                map::protect(&(start..start + reached), true);
                hide(start + reached..start + places.heap.len());
            }
            places.mirrors.push(start);
        }
    }

    /// Adjusts a forked child, in which other memory has replaced the heap.
    ///
    /// # Safety
    /// It is the heap of [`begin`](Self::begin), in a child.
    pub unsafe fn inherit(&self, heap: &Range<usize>) {
        // SAFETY: nobody accesses what is beyond, as `begin` was promised.
        unsafe { hide(heap.start + self.reached.load(Ordering::Relaxed)..heap.end) };
    }
}

/// Hides a range from valgrind.
///
/// # Safety
/// The range belongs to the caller, and nobody accesses it until it is made accessible again.
unsafe fn hide(range: Range<usize>) {
    if raw::on_valgrind() {
        // SAFETY: the range is the caller's, and nobody accesses it while it is not accessible.
        unsafe { map::protect(&range, false) };
    }
}
