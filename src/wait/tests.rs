use super::*;
use crate::amo;
use crate::argument::memory::{In, Object};
use crate::context::Default as World;
use crate::pause::Wait;
use crate::pe::about::About;
use crate::testing::FakeJob;
use oneshmem_job::error::{Called::Blocking, Routine};
use oneshmem_job::stats::For;
use std::ffi::c_int;
use std::time::{Duration, Instant};

const R: Routine = &Blocking("test");
const CONSTANTS: [c_int; 6] = [CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE];

#[test]
fn comparisons_are_those_of_the_type() {
    fn of<T: Waitable>(job: &FakeJob, values: [T; 3]) {
        for seen in values {
            job.write(0, 8, seen);
            for value in values {
                let expected = [
                    seen == value,
                    seen != value,
                    seen < value,
                    seen <= value,
                    seen > value,
                    seen >= value,
                ];
                for (cmp, expected) in CONSTANTS.into_iter().zip(expected) {
                    let outcome = test(R, job.at::<T>(8), cmp, value);
                    assert_eq!(outcome, expected as c_int);
                }
            }
        }
    }
    let job = FakeJob::start(1);
    of(&job, [i16::MIN, -1, i16::MAX]);
    of(&job, [0u16, 1, u16::MAX]);
    of(&job, [i32::MIN, -1, i32::MAX]);
    of(&job, [0u32, 1, u32::MAX]);
    of(&job, [i64::MIN, -1, i64::MAX]);
    of(&job, [0u64, 1, u64::MAX]);
    of(&job, [isize::MIN, -1, isize::MAX]);
    of(&job, [0usize, 1, usize::MAX]);
}

#[test]
fn waiting_ends_when_another_thread_updates() {
    let job = FakeJob::start(1);
    std::thread::scope(|scope| {
        scope.spawn(|| amo::set(R, World, job.at::<i64>(8), -5, 0));
        wait_until(R, job.at::<i64>(8), CMP_LT, 0);
    });
    assert_eq!(job.read::<i64>(0, 8), -5);
}

/// Five variables: 1 and 3 are 7, the others are 0.
fn five() -> FakeJob {
    let job = FakeJob::start(1);
    job.write(0, 16, [0u32, 7, 0, 7, 0]);
    job
}

/// The array of these variables.
fn at(job: &FakeJob) -> Object<'_, u32> {
    job.array(16, 5)
}

/// An operand of a call.
fn list<T: Copy>(elements: &[T]) -> Option<In<'_, T>> {
    Some(elements.into())
}

const ONLY_ZEROS: [c_int; 5] = [0, 1, 0, 1, 0];
const ONLY_SEVENS: [c_int; 5] = [1, 0, 1, 0, 2];
const NOBODY: [c_int; 5] = [1, 2, 3, 4, 5];

#[test]
fn all_of_a_set() {
    let job = five();
    let at = at(&job);
    assert_eq!(test_all(Ivars::new(R, at, None, CMP_EQ, Values::Same(7))), 0);
    assert_eq!(test_all(Ivars::new(R, at, list(&ONLY_SEVENS), CMP_EQ, Values::Same(7))), 1);
    assert_eq!(test_all(Ivars::new(R, at, list(&ONLY_ZEROS), CMP_EQ, Values::Same(7))), 0);
    assert_eq!(test_all(Ivars::new(R, at, None, CMP_EQ, Values::Each(list(&[0, 7, 0, 7, 0])))), 1);
    assert_eq!(test_all(Ivars::new(R, at, None, CMP_EQ, Values::Each(list(&[0, 7, 0, 7, 1])))), 0);
    wait_until_all(Ivars::new(R, at, list(&ONLY_SEVENS), CMP_GT, Values::Same(6)));
    wait_until_all(Ivars::new(R, at, None, CMP_GE, Values::Each(list(&[0, 6, 0, 7, 0]))));
}

#[test]
fn any_of_a_set() {
    let job = five();
    let at = at(&job);
    assert_eq!(test_any(Ivars::new(R, at, None, CMP_EQ, Values::Same(8))), usize::MAX);
    assert_eq!(test_any(Ivars::new(R, at, list(&ONLY_ZEROS), CMP_EQ, Values::Same(7))), usize::MAX);
    assert_eq!(test_any(Ivars::new(R, at, None, CMP_EQ, Values::Each(list(&[1, 1, 1, 7, 1])))), 3);
    let only_the_third = [1, 1, 1, 0, 1];
    assert_eq!(
        wait_until_any(Ivars::new(R, at, list(&only_the_third), CMP_EQ, Values::Same(7))),
        3
    );
    assert_eq!(
        wait_until_any(Ivars::new(R, at, None, CMP_LT, Values::Each(list(&[0, 0, 1, 0, 0])))),
        2
    );
}

#[test]
fn some_of_a_set() {
    let job = five();
    let at = at(&job);
    let mut found = [99usize; 5];
    assert_eq!(
        test_some(
            Ivars::new(R, at, None, CMP_EQ, Values::Same(8)),
            Some(found.as_mut_slice().into())
        ),
        0
    );
    assert_eq!(
        test_some(
            Ivars::new(R, at, None, CMP_EQ, Values::Same(7)),
            Some(found.as_mut_slice().into())
        ),
        2
    );
    assert_eq!(found[..2], [1, 3]);
    assert_eq!(
        wait_until_some(
            Ivars::new(R, at, list(&ONLY_ZEROS), CMP_NE, Values::Same(7)),
            Some(found.as_mut_slice().into())
        ),
        3
    );
    assert_eq!(found[..3], [0, 2, 4]);
    assert_eq!(
        test_some(
            Ivars::new(R, at, None, CMP_EQ, Values::Each(list(&[0, 7, 1, 1, 1]))),
            Some(found.as_mut_slice().into())
        ),
        2
    );
    assert_eq!(
        wait_until_some(
            Ivars::new(R, at, None, CMP_GT, Values::Each(list(&[0; 5]))),
            Some(found.as_mut_slice().into())
        ),
        2
    );
    assert_eq!(found[..2], [1, 3]);
    assert_eq!(found[3..], [99, 99], "no entry past the number of elements that count");
}

#[test]
fn the_empty_set() {
    let job = five();
    let at = at(&job);
    let mut found = [99; 5];
    let statuses = [(at, list(&NOBODY)), (job.array(16, 0), None)];
    for (at, status) in statuses {
        wait_until_all(Ivars::new(R, at, status, CMP_EQ, Values::Same(9)));
        assert_eq!(wait_until_any(Ivars::new(R, at, status, CMP_EQ, Values::Same(9))), usize::MAX);
        let out = Some(found.as_mut_slice().into());
        assert_eq!(wait_until_some(Ivars::new(R, at, status, CMP_EQ, Values::Same(9)), out), 0);
        assert_eq!(test_all(Ivars::new(R, at, status, CMP_EQ, Values::Same(9))), 1);
        assert_eq!(test_any(Ivars::new(R, at, status, CMP_EQ, Values::Same(9))), usize::MAX);
        assert_eq!(test_some(Ivars::new(R, at, status, CMP_EQ, Values::Same(9)), out), 0);
    }
    // Empty sets need no arrays.
    let nothing = job.array(16, 0);
    assert_eq!(
        wait_until_some::<u32>(Ivars::new(R, nothing, None, CMP_EQ, Values::Same(9)), None),
        0
    );
    assert_eq!(test_all::<u32>(Ivars::new(R, nothing, None, CMP_EQ, Values::Each(None))), 1);
    assert_eq!(found, [99; 5]);
}

#[test]
fn any_goes_round_the_satisfied() {
    let job = five();
    let at = at(&job);
    let next = || wait_until_any(Ivars::new(R, at, None, CMP_EQ, Values::Same(7)));
    let found: Vec<_> = (0..6).map(|_| next()).collect();
    assert!(found.windows(2).all(|pair| pair[0] != pair[1]), "{found:?}");
}

#[test]
fn any_is_fair_to_arrays_that_take_turns() {
    let job = FakeJob::start(1);
    job.write(0, 64, [7u32; 6]);
    let (pair, four) = (job.array::<u32>(64, 2), job.array::<u32>(72, 4));
    let mut seen = [[0; 4]; 2];
    for _ in 0..1000 {
        seen[0][test_any(Ivars::new(R, pair, None, CMP_EQ, Values::Same(7)))] += 1;
        seen[1][test_any(Ivars::new(R, four, None, CMP_EQ, Values::Same(7)))] += 1;
    }
    assert!(seen[0][..2].iter().chain(&seen[1]).all(|count| *count > 100), "{seen:?}");
}

#[test]
fn failed_tests_in_a_row_count_as_waiting_until_one_succeeds() {
    let job = five();
    let at = at(&job);
    for _ in 0..100 {
        assert_eq!(test(R, at, CMP_EQ, 1), 0);
    }
    assert!(backoff::is_waiting());
    assert_eq!(test(R, at, CMP_EQ, 0), 1);
    assert!(!backoff::is_waiting());
}

/// Whether failed tests, with something else after each, count as one wait to the end.
fn is_one_wait(between: impl Fn()) -> bool {
    let job = five();
    let waits = (0..300).map(|_| {
        assert_eq!(test(R, job.at::<u32>(16), CMP_EQ, 1), 0);
        between();
        backoff::is_waiting()
    });
    let waits: Vec<_> = waits.collect();
    assert_eq!(test(R, job.at::<u32>(16), CMP_EQ, 0), 1);
    assert!(waits.contains(&true));
    waits.is_sorted()
}

#[test]
fn a_thread_that_works_between_tests_does_not_wait_for_what_it_tests() {
    // Tests and sleeps take little of a CPU's time; where others take the caches, now and then more.
    assert!((0..50).any(|_| is_one_wait(|| {})));
    assert!((0..50).any(|_| is_one_wait(|| std::thread::sleep(Duration::from_micros(200)))));
    assert!(!is_one_wait(|| {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_micros(500) {}
    }));
    assert!(!is_one_wait(|| drop(Wait::new(For::Variable, About::Unsaid))));
}
