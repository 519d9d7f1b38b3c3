//! What the model checker does not look at: order of service, and refusals. PEs are
//! threads; `tests/model.rs` has the rest.

use super::queue::{self, Refused, Words, last_in_line};
use crate::atomics::{AtomicU64, AtomicUsize, Ordering};
use crate::job::about::About;
use crate::pause::Pause;
use std::sync::Mutex;

struct Pe<'a> {
    words: &'a [AtomicU64],
    me: usize,
}

impl Words for Pe<'_> {
    type Wait = Pause;
    fn me(&self) -> usize {
        self.me
    }
    fn word(&self, pe: usize) -> &AtomicU64 {
        &self.words[pe]
    }
    fn begin(&self) -> Pause {
        Pause::about(About::Unsaid)
    }
    fn step(&self, wait: &mut Pause) {
        wait.step();
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
    queue::set(&holder, false).unwrap();
    std::thread::scope(|scope| {
        for me in order {
            scope.spawn(move || {
                let pe = Pe { words, me };
                queue::set(&pe, false).unwrap();
                served.lock().unwrap().push(me);
                queue::clear(&pe, false).unwrap();
            });
            // The next one comes when this one stands in line.
            while last_in_line(words[queue::HOME].load(Ordering::Relaxed)) != Some(me) {
                std::thread::yield_now();
            }
        }
        queue::clear(&holder, true).unwrap();
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
        // Two threads of each PE, one that sets and one that tests.
        for me in 0..PES {
            for testing in [false, true] {
                scope.spawn(move || {
                    let pe = Pe { words, me };
                    for _ in 0..EACH {
                        if testing {
                            while queue::test(&pe, false).is_err() {
                                std::thread::yield_now();
                            }
                        } else {
                            queue::set(&pe, false).unwrap();
                        }
                        // Not one atomic operation: only the lock keeps it whole.
                        let seen = count.load(Ordering::Relaxed);
                        std::hint::spin_loop();
                        count.store(seen + 1, Ordering::Relaxed);
                        queue::clear(&pe, false).unwrap();
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
    assert_eq!(queue::clear(&zero, true), Err(Refused::Theirs), "nobody holds it");
    assert_eq!(queue::test(&one, true), Ok(()));
    assert_eq!(queue::clear(&zero, true), Err(Refused::Theirs), "another PE holds it");
    assert_eq!(queue::test(&one, true), Err(Refused::Theirs), "the holder tests");
    assert_eq!(queue::test(&two, true), Err(Refused::Theirs));
    assert_eq!(queue::set(&one, true), Err(Refused::Mine), "it would wait for itself");
    assert_eq!(queue::clear(&one, true), Ok(()));
    assert_eq!(queue::set(&zero, true), Ok(()));
    assert_eq!(queue::set(&zero, true), Err(Refused::Mine));
    assert_eq!(queue::clear(&zero, true), Ok(()));
    assert_eq!(queue::clear(&zero, true), Err(Refused::Theirs), "cleared twice");
    assert!(words.iter().all(|word| word.load(Ordering::Relaxed) == 0));
}

#[test]
fn pes_are_told_apart_over_the_full_width() {
    for pe in [0, 1, 65_535, 65_536, i32::MAX as usize - 1] {
        let word = AtomicU64::new(u64::MAX << 31 | (pe as u64 + 1));
        assert_eq!(last_in_line(word.load(Ordering::Relaxed)), Some(pe));
    }
    assert_eq!(last_in_line(u64::MAX << 31), None);
}
