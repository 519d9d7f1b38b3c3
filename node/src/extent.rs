//! How far the symmetric heap is in use, for those who look at all memory there is.
//!
//! A core dump has the heap as far as the allocator has ever come, and no peer's mirror. valgrind
//! looks for pointers in all memory that can be read, so beyond that point it cannot, in mirrors
//! either, where valgrind interprets the program.
//!
//! The point moves in steps that double, so few allocations make a system call.

use crate::atomics::{AtomicUsize, Ordering};
use crate::sys::{map, raw};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The point is at a multiple of this, or of the heap's page if that is larger.
const STEP: usize = 2 << 20;

/// How far a heap is in use. Before the first lifetime it has no bytes.
#[derive(Debug, Default)]
pub struct Extent {
    /// Bytes from the heap's start. Changes under the lock only.
    reached: AtomicUsize,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    heap: Range<usize>,
    /// The heap's page.
    unit: usize,
    /// Where peers' heaps start here.
    mirrors: Vec<usize>,
}

impl Extent {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new lifetime's heap, of pages of `unit` bytes, the first `made` of whose bytes exist
    /// already. There are no mirrors.
    pub fn begin(&self, heap: &Range<usize>, unit: usize, made: usize) {
        let mut places = self.places();
        *places = Places { heap: heap.clone(), unit: unit.max(STEP), mirrors: Vec::new() };
        let reached = made.next_multiple_of(places.unit).min(heap.len());
        self.reached.store(reached, Ordering::Relaxed);
        let unused = heap.start + reached..heap.end;
        map::dump(&unused, false);
        hide(unused);
    }

    /// The first `bytes` bytes are in use.
    pub fn reach(&self, bytes: usize) {
        if bytes <= self.reached.load(Ordering::Relaxed) {
            return;
        }
        let places = self.places();
        let old = self.reached.load(Ordering::Relaxed);
        // On Kitten there is no dump and no valgrind, and so no beginning.
        if bytes <= old || places.heap.is_empty() {
            return;
        }
        let new = bytes.max(2 * old).next_multiple_of(places.unit).min(places.heap.len());
        let at = |start: usize| start + old..start + new;
        map::dump(&at(places.heap.start), true);
        if raw::on_valgrind() {
            for start in places.mirrors.iter().copied().chain([places.heap.start]) {
                map::protect(&at(start), true);
            }
        }
        self.reached.store(new, Ordering::Relaxed);
    }

    /// A peer's heap has been mapped at `start`.
    pub fn add_mirror(&self, start: usize) {
        if raw::on_valgrind() {
            let mut places = self.places();
            let reached = self.reached.load(Ordering::Relaxed);
            map::protect(&(start..start + reached), true);
            hide(start + reached..start + places.heap.len());
            places.mirrors.push(start);
        }
    }

    /// This process is a forked child, and other memory has taken the place of its heap.
    pub fn inherit(&self, heap: &Range<usize>) {
        hide(heap.start + self.reached.load(Ordering::Relaxed)..heap.end);
    }
}

/// What valgrind need not look at.
fn hide(range: Range<usize>) {
    if raw::on_valgrind() {
        map::protect(&range, false);
    }
}
