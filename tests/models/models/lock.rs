//! The algorithm of locks.

use crate::atomics::{AtomicU64, Ordering};
use crate::lock::{self, Order, Refused, Words};
use crate::search::search;
use loom::cell::Cell;
use loom::sync::{Arc, Notify};
use loom::thread;
use std::convert::Infallible;

/// Most threads in a model.
const THREADS: usize = 3;

/// One lock of a job of a few PEs, and what it protects: `loom` reports two threads
/// in the cell at once.
struct Lock {
    words: Vec<AtomicU64>,
    entries: Cell<usize>,
    /// Waiting threads sleep on this. Were they to yield, two of them would yield to
    /// each other for ever.
    bells: [Notify; THREADS],
}

impl Lock {
    fn new(npes: usize) -> Arc<Self> {
        let words = (0..npes).map(|_| AtomicU64::new(0)).collect();
        let bells = std::array::from_fn(|_| Notify::new());
        Arc::new(Self { words, entries: Cell::new(0), bells })
    }

    /// Does something that only the holder may.
    fn enter(&self) {
        self.entries.set(self.entries.get() + 1);
    }

    /// Wakes every thread but `thread`.
    fn ring(&self, thread: usize) {
        let others = self.bells.iter().enumerate().filter(|(other, _)| *other != thread);
        others.for_each(|(_, bell)| bell.notify());
    }

    /// Checks the end: so many were in, and the words are clean.
    fn check(&self, entries: usize) {
        assert_eq!(self.entries.get(), entries);
        for (pe, word) in self.words.iter().enumerate() {
            assert_eq!(word.load(Ordering::Relaxed), 0, "word of PE {pe}");
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
    order: Order,
}

impl Pe {
    fn set(&self) {
        assert_eq!(lock::set(self, self.alone, self.order), Ok(()));
        // It may have made another one the first in line.
        self.lock.ring(self.thread);
        self.lock.enter();
    }

    fn clear(&self) {
        assert_eq!(lock::clear(self, self.alone), Ok(()));
        // What waits for a holder waits for its `clear`.
        self.lock.ring(self.thread);
    }
}

impl Words for Pe {
    type Word<'w>
        = &'w AtomicU64
    where
        Self: 'w;
    /// Whether this is not the first step of the wait.
    type Wait = bool;
    type Stop = Infallible;
    fn me(&self) -> usize {
        self.me
    }
    fn word(&self, pe: usize) -> Result<&AtomicU64, Infallible> {
        Ok(&self.lock.words[pe])
    }
    fn begin(&self) -> bool {
        false
    }
    fn is_overdue(&self, _: &mut bool) -> bool {
        true
    }
    fn step(&self, waited: &mut bool) -> Result<(), Infallible> {
        // A holder that clears may wait for one that comes to have written itself
        // down, which is done when that one starts to wait.
        if !std::mem::replace(waited, true) {
            self.lock.ring(self.thread);
        }
        self.lock.bells[self.thread].wait();
        Ok(())
    }
}

/// Sets, enters and clears in thread `thread`, of PE `me`.
fn set_and_clear(lock: Arc<Lock>, me: usize, thread: usize, alone: bool, order: Order) {
    let pe = Pe { lock, me, thread, alone, order };
    pe.set();
    pe.clear();
}

/// Runs a thread of each PE in `pes`, which may name one PE twice.
fn explore(npes: usize, preemptions: usize, pes: &'static [usize]) {
    let alone = |me| pes.iter().filter(|other| **other == me).count() == 1;
    for order in [Order::Arrival, Order::Running] {
        search(preemptions, None, move || {
            let lock = Lock::new(npes);
            let (last, first) = pes.split_last().unwrap();
            let threads: Vec<_> = (0..)
                .zip(first)
                .map(|(thread, me)| {
                    let lock = lock.clone();
                    thread::spawn(move || set_and_clear(lock, *me, thread, alone(*me), order))
                })
                .collect();
            set_and_clear(lock.clone(), *last, first.len(), alone(*last), order);
            for thread in threads {
                thread.join().unwrap();
            }
            lock.check(pes.len());
        });
    }
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
    for order in [Order::Arrival, Order::Running] {
        search(3, None, move || {
            let lock = Lock::new(2);
            let other = lock.clone();
            let thread = thread::spawn(move || set_and_clear(other, 1, 1, true, order));
            set_and_clear(lock.clone(), 0, 0, true, order);
            set_and_clear(lock.clone(), 0, 0, true, order);
            thread.join().unwrap();
            lock.check(3);
        });
    }
}

#[test]
fn testing_takes_a_free_lock_and_leaves_one_in_use() {
    search(3, None, || {
        let lock = Lock::new(2);
        let other = Pe { lock: lock.clone(), me: 1, thread: 1, alone: true, order: Order::Arrival };
        let thread = thread::spawn(move || match lock::test(&other, true, Order::Arrival) {
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
        set_and_clear(lock.clone(), 0, 0, true, Order::Arrival);
        let entries = 1 + thread.join().unwrap();
        lock.check(entries);
    });
}

#[test]
fn clearing_what_one_does_not_hold_is_refused() {
    search(3, None, || {
        let lock = Lock::new(2);
        let other = Pe { lock: lock.clone(), me: 1, thread: 1, alone: true, order: Order::Arrival };
        let thread = thread::spawn(move || lock::clear(&other, true));
        set_and_clear(lock.clone(), 0, 0, true, Order::Arrival);
        assert_eq!(thread.join().unwrap(), Err(Refused::Theirs));
        lock.check(1);
    });
}
