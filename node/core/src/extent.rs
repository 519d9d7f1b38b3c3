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
use crate::sys::{map, maps, raw};
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

/// The heap and its mirrors. Nobody accesses what is beyond [`Extent::reached`], and nobody else sets who
/// may access them.
#[derive(Debug, Default)]
struct Places {
    heap: Range<usize>,
    /// The heap's page size.
    unit: usize,
    /// Where peers' heaps are mapped here.
    mirrors: Vec<usize>,
}

impl Places {
    /// Shows valgrind the first `reached` bytes of the heap and of all mirrors, and hides the others.
    fn show(&self, reached: usize) {
        if !raw::on_valgrind() {
            return;
        }
        for start in self.mirrors.iter().copied().chain([self.heap.start]) {
            let shown = (0, reached, maps::READ_WRITE);
            for (from, to, protection) in [shown, (reached, self.heap.len(), maps::INACCESSIBLE)] {
                // SAFETY: part of the heap or of a mirror of it, both writable. Nobody accesses what is
                // hidden, as whoever made the heap and the mirror known has promised.
                unsafe { map::set_protection(&(start + from..start + to), protection) };
            }
        }
    }
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
        map::dump(&(heap.start + reached..heap.end), false);
        places.show(reached);
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
        map::dump(&(places.heap.start + old..places.heap.start + new), true);
        places.show(new);
        self.reached.store(new, Ordering::Relaxed);
    }

    /// Adds the mirror of a peer's heap, mapped at `start`.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin), for the mirror, which is as long as the heap.
    pub unsafe fn add_mirror(&self, start: usize) {
        if raw::on_valgrind() {
            let mut places = self.places();
            places.mirrors.push(start);
            places.show(self.reached.load(Ordering::Relaxed));
        }
    }

    /// Adjusts a forked child, in which other memory has replaced the heap.
    ///
    /// # Safety
    /// It is the heap of [`begin`](Self::begin), in a child.
    pub unsafe fn inherit(&self, heap: &Range<usize>) {
        // Not by the lock, which another thread may have held at the fork. The mirrors are not inherited.
        let places = Places { heap: heap.clone(), ..Places::default() };
        places.show(self.reached.load(Ordering::Relaxed));
    }
}
