//! Properties that the model checker (`tests/models/models/lock.rs`) does not cover: order of service, and
//! refusals. PEs are threads.

use super::{Order, Refused, Words};
use crate::atomics::{AtomicU64, AtomicUsize, Ordering};
use crate::pause::Pause;
use crate::pe::about::About;
use onenode_core::lock;
use std::convert::Infallible;
use std::sync::Mutex;

struct Pe<'a> {
    words: &'a [AtomicU64],
    me: usize,
}

impl Words for Pe<'_> {
    type Word<'w>
        = &'w AtomicU64
    where
        Self: 'w;
    type Wait = Pause;
    type Stop = Infallible;
    fn me(&self) -> usize {
        self.me
    }
    fn word(&self, pe: usize) -> Result<&AtomicU64, Infallible> {
        Ok(&self.words[pe])
    }
    fn begin(&self) -> Pause {
        Pause::about(About::Unsaid)
    }
    fn step(&self, wait: &mut Pause) -> Result<(), Infallible> {
        wait.step();
        Ok(())
    }
    fn is_overdue(&self, _: &mut Pause) -> bool {
        true
    }
}

fn words(npes: usize) -> Vec<AtomicU64> {
    (0..npes).map(|_| AtomicU64::new(0)).collect()
}

#[test]
fn waiters_are_served_in_the_order_they_came() {
    const PES: usize = 6;
    let words = &words(PES)[..];
    let served = &Mutex::new(Vec::new());
    let order = [3, 0, 5, 1, 4];
    let holder = Pe { words, me: 2 };
    lock::set(&holder, false, Order::Arrival).unwrap();
    std::thread::scope(|scope| {
        for me in order {
            let line = || words[lock::HOME].load(Ordering::Relaxed);
            let before = line();
            scope.spawn(move || {
                let pe = Pe { words, me };
                lock::set(&pe, false, Order::Arrival).unwrap();
                served.lock().unwrap().push(me);
                lock::clear(&pe, false).unwrap();
            });
            // The next thread starts when this one is in line.
            while line() == before {
                std::thread::yield_now();
            }
        }
        lock::clear(&holder, true).unwrap();
    });
    assert_eq!(*served.lock().unwrap(), order);
    assert!(words.iter().all(|word| word.load(Ordering::Relaxed) == 0));
}

#[test]
fn nobody_loses_an_update_under_the_lock() {
    const PES: usize = 4;
    const EACH: usize = 500;
    let words = &words(PES)[..];
    let count = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // Two threads per PE: one uses set, the other test.
        for me in 0..PES {
            for testing in [false, true] {
                scope.spawn(move || {
                    let pe = Pe { words, me };
                    for _ in 0..EACH {
                        if testing {
                            while lock::test(&pe, false, Order::Arrival).is_err() {
                                std::thread::yield_now();
                            }
                        } else {
                            lock::set(&pe, false, Order::Arrival).unwrap();
                        }
                        // Deliberately not one atomic operation: only the lock protects it.
                        let seen = count.load(Ordering::Relaxed);
                        std::hint::spin_loop();
                        count.store(seen + 1, Ordering::Relaxed);
                        lock::clear(&pe, false).unwrap();
                    }
                });
            }
        }
    });
    assert_eq!(count.load(Ordering::Relaxed), 2 * PES * EACH);
}

#[test]
fn what_cannot_be_is_refused() {
    let words = &words(3)[..];
    let [zero, one, two] = [0, 1, 2].map(|me| Pe { words, me });
    assert_eq!(lock::clear(&zero, true), Err(Refused::Theirs), "nobody holds it");
    assert_eq!(lock::test(&one, true, Order::Arrival), Ok(()));
    assert_eq!(lock::clear(&zero, true), Err(Refused::Theirs), "another PE holds it");
    assert_eq!(lock::test(&one, true, Order::Arrival), Err(Refused::Theirs), "the holder tests");
    assert_eq!(lock::test(&two, true, Order::Arrival), Err(Refused::Theirs));
    assert_eq!(
        lock::set(&one, true, Order::Arrival),
        Err(Refused::Mine),
        "it would wait for itself"
    );
    assert_eq!(lock::clear(&one, true), Ok(()));
    assert_eq!(lock::set(&zero, true, Order::Arrival), Ok(()));
    assert_eq!(lock::set(&zero, true, Order::Arrival), Err(Refused::Mine));
    assert_eq!(lock::clear(&zero, true), Ok(()));
    assert_eq!(lock::clear(&zero, true), Err(Refused::Theirs), "cleared twice");
    assert!(words.iter().all(|word| word.load(Ordering::Relaxed) == 0));
}

#[test]
fn pes_are_told_apart_over_the_full_width() {
    for pe in [0, 1, 255, 256, lock::MOST - 1] {
        let words: Vec<_> = words(pe.max(1) + 1);
        let one = Pe { words: &words, me: pe };
        lock::set(&one, true, Order::Arrival).unwrap();
        assert_eq!(lock::holder(words[lock::HOME].load(Ordering::Relaxed)), Some(pe));
        assert_eq!(lock::clear(&one, true), Ok(()));
    }
}
