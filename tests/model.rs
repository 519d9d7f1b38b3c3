//! The lock's algorithm under the `loom` model checker, which runs it in every
//! order of its atomic operations that the memory model allows.
//!
//! `src/lock/queue.rs` is compiled here once more, with `loom`'s atomics in place of
//! the processor's: the text that is checked is the text that runs. PEs are threads.

#![allow(unsafe_code)]

/// What `crate::atomics` is to the library.
mod atomics {
    pub use loom::sync::atomic::{AtomicU64, Ordering};
}

#[allow(dead_code)]
#[path = "../src/lock/queue.rs"]
mod queue;

use atomics::AtomicU64;
use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::sync::{Arc, Notify};
use loom::thread;
use queue::{Refused, Words};

/// Most threads in a model.
const THREADS: usize = 3;

/// One lock of a job of a few PEs, and what it protects: `loom` reports two threads
/// in the cell at once.
struct Lock {
    words: Vec<AtomicU64>,
    entries: UnsafeCell<usize>,
    /// What waiting threads sleep on. Were they to yield, two of them would yield to
    /// each other for ever.
    bells: [Notify; THREADS],
}

impl Lock {
    fn new(npes: usize) -> Arc<Self> {
        let words = (0..npes).map(|_| AtomicU64::new(0)).collect();
        let bells = std::array::from_fn(|_| Notify::new());
        Arc::new(Self { words, entries: UnsafeCell::new(0), bells })
    }

    /// Does something that only the holder may.
    fn enter(&self) {
        // SAFETY: `loom` checks that no other thread is here.
        self.entries.with_mut(|entries| unsafe { *entries += 1 });
    }

    /// Wakes every thread but `thread`.
    fn ring(&self, thread: usize) {
        let others = self.bells.iter().enumerate().filter(|(other, _)| *other != thread);
        others.for_each(|(_, bell)| bell.notify());
    }

    /// What must hold when all is over: so many were in, and the words are clean.
    fn check(&self, entries: usize) {
        // SAFETY: all threads have ended.
        assert_eq!(self.entries.with(|entries| unsafe { *entries }), entries);
        for (pe, word) in self.words.iter().enumerate() {
            assert_eq!(word.load(atomics::Ordering::Relaxed), 0, "word of PE {pe}");
        }
    }
}

/// A thread of a PE.
struct Pe {
    lock: Arc<Lock>,
    me: usize,
    thread: usize,
    /// Whether it is the only one of its PE.
    alone: bool,
}

impl Pe {
    fn set(&self) {
        assert_eq!(queue::set(self, self.alone), Ok(()));
        self.lock.enter();
    }

    fn clear(&self) {
        assert_eq!(queue::clear(self, self.alone), Ok(()));
        // What waits for a holder waits for its `clear`.
        self.lock.ring(self.thread);
    }
}

impl Words for Pe {
    /// Whether this is not the first step of the wait.
    type Wait = bool;
    fn me(&self) -> usize {
        self.me
    }
    fn word(&self, pe: usize) -> &AtomicU64 {
        &self.lock.words[pe]
    }
    fn begin(&self) -> bool {
        false
    }
    fn step(&self, waited: &mut bool) {
        // A holder that clears may wait for one that comes to have written itself
        // down, which is done when that one starts to wait.
        if !std::mem::replace(waited, true) {
            self.lock.ring(self.thread);
        }
        self.lock.bells[self.thread].wait();
    }
}

/// Sets, enters and clears in thread `thread`, of PE `me`.
fn set_and_clear(lock: Arc<Lock>, me: usize, thread: usize, alone: bool) {
    let pe = Pe { lock, me, thread, alone };
    pe.set();
    pe.clear();
}

/// Checks `model` in every order with at most so many preemptions. Few suffice to
/// find what there is to find (Musuvathi and Qadeer, PLDI 2007), and the number of
/// orders grows exponentially with them.
fn bounded(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Runs a thread of each PE in `pes`, which may name one PE twice.
fn explore(npes: usize, preemptions: usize, pes: &'static [usize]) {
    let alone = |me| pes.iter().filter(|other| **other == me).count() == 1;
    bounded(preemptions, move || {
        let lock = Lock::new(npes);
        let (last, first) = pes.split_last().unwrap();
        let threads: Vec<_> = (0..)
            .zip(first)
            .map(|(thread, me)| {
                let lock = lock.clone();
                thread::spawn(move || set_and_clear(lock, *me, thread, alone(*me)))
            })
            .collect();
        set_and_clear(lock.clone(), *last, first.len(), alone(*last));
        for thread in threads {
            thread.join().unwrap();
        }
        lock.check(pes.len());
    });
}

#[test]
fn two_pes() {
    explore(2, 3, &[1, 0]);
}

#[test]
fn two_pes_away_from_home() {
    explore(3, 3, &[1, 2]);
}

#[test]
fn three_pes() {
    explore(3, 2, &[1, 2, 0]);
}

#[test]
fn two_threads_of_one_pe() {
    explore(1, 3, &[0, 0]);
}

#[test]
fn two_threads_of_one_pe_and_another_pe() {
    explore(2, 2, &[1, 1, 0]);
}

#[test]
fn twice_in_a_row_against_another_pe() {
    bounded(3, || {
        let lock = Lock::new(2);
        let other = lock.clone();
        let thread = thread::spawn(move || set_and_clear(other, 1, 1, true));
        set_and_clear(lock.clone(), 0, 0, true);
        set_and_clear(lock.clone(), 0, 0, true);
        thread.join().unwrap();
        lock.check(3);
    });
}

#[test]
fn testing_takes_a_free_lock_and_leaves_one_in_use() {
    bounded(3, || {
        let lock = Lock::new(2);
        let other = Pe { lock: lock.clone(), me: 1, thread: 1, alone: true };
        let thread = thread::spawn(move || match queue::test(&other, true) {
            Ok(()) => {
                other.lock.enter();
                other.clear();
                1
            }
            Err(refused) => {
                assert_eq!(refused, Refused::Theirs);
                0
            }
        });
        set_and_clear(lock.clone(), 0, 0, true);
        let entries = 1 + thread.join().unwrap();
        lock.check(entries);
    });
}

#[test]
fn clearing_what_one_does_not_hold_is_refused() {
    bounded(3, || {
        let lock = Lock::new(2);
        let other = Pe { lock: lock.clone(), me: 1, thread: 1, alone: true };
        let thread = thread::spawn(move || queue::clear(&other, true));
        set_and_clear(lock.clone(), 0, 0, true);
        assert_eq!(thread.join().unwrap(), Err(Refused::Theirs));
        lock.check(1);
    });
}
