#![allow(unsafe_code)]

use super::*;
use crate::amo;
use crate::context::Default as World;
use crate::error::Routine;
use crate::testing::FakeJob;
use std::ffi::c_int;
use std::ptr::null;

const R: Routine = &"test";
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
                    // SAFETY: in the slot; nobody else is here.
                    let outcome = unsafe { test(R, job.at::<T>(8), cmp, value) };
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
}

#[test]
fn waiting_ends_when_another_thread_updates() {
    let job = FakeJob::start(1);
    let at = job.at::<i64>(8) as usize;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: in the slot; all accesses are atomic.
            unsafe { amo::set(R, World, at as *mut i64, -5, 0) };
        });
        // SAFETY: as above.
        unsafe { wait_until(R, at as *mut i64, CMP_LT, 0) };
    });
    assert_eq!(job.read::<i64>(0, 8), -5);
}

/// Five variables, of which 1 and 3 are 7 and the others 0.
fn five() -> (FakeJob, *mut u32) {
    let job = FakeJob::start(1);
    job.write(0, 16, [0u32, 7, 0, 7, 0]);
    let at = job.at(16);
    (job, at)
}

const ONLY_ZEROS: [c_int; 5] = [0, 1, 0, 1, 0];
const ONLY_SEVENS: [c_int; 5] = [1, 0, 1, 0, 2];
const NOBODY: [c_int; 5] = [1, 2, 3, 4, 5];

#[test]
fn all_of_a_set() {
    let (_job, at) = five();
    // SAFETY: five variables, five statuses, five values; nobody else is here.
    unsafe {
        assert_eq!(test_all(R, at, 5, null(), CMP_EQ, Same(7)), 0);
        assert_eq!(test_all(R, at, 5, ONLY_SEVENS.as_ptr(), CMP_EQ, Same(7)), 1);
        assert_eq!(test_all(R, at, 5, ONLY_ZEROS.as_ptr(), CMP_EQ, Same(7)), 0);
        assert_eq!(test_all(R, at, 5, null(), CMP_EQ, Each([0, 7, 0, 7, 0].as_ptr())), 1);
        assert_eq!(test_all(R, at, 5, null(), CMP_EQ, Each([0, 7, 0, 7, 1].as_ptr())), 0);
        wait_until_all(R, at, 5, ONLY_SEVENS.as_ptr(), CMP_GT, Same(6));
        wait_until_all(R, at, 5, null(), CMP_GE, Each([0, 6, 0, 7, 0].as_ptr()));
    }
}

#[test]
fn any_of_a_set() {
    let (_job, at) = five();
    // SAFETY: as in `all_of_a_set`.
    unsafe {
        assert_eq!(test_any(R, at, 5, null(), CMP_EQ, Same(8)), usize::MAX);
        assert_eq!(test_any(R, at, 5, ONLY_ZEROS.as_ptr(), CMP_EQ, Same(7)), usize::MAX);
        assert_eq!(test_any(R, at, 5, null(), CMP_EQ, Each([1, 1, 1, 7, 1].as_ptr())), 3);
        let only_the_third = [1, 1, 1, 0, 1];
        assert_eq!(wait_until_any(R, at, 5, only_the_third.as_ptr(), CMP_EQ, Same(7)), 3);
        assert_eq!(wait_until_any(R, at, 5, null(), CMP_LT, Each([0, 0, 1, 0, 0].as_ptr())), 2);
    }
}

#[test]
fn some_of_a_set() {
    let (_job, at) = five();
    let mut found = [99usize; 5];
    let out = found.as_mut_ptr();
    // SAFETY: as in `all_of_a_set`; room for five indices.
    unsafe {
        assert_eq!(test_some(R, at, 5, out, null(), CMP_EQ, Same(8)), 0);
        assert_eq!(test_some(R, at, 5, out, null(), CMP_EQ, Same(7)), 2);
        assert_eq!(found[..2], [1, 3]);
        assert_eq!(wait_until_some(R, at, 5, out, ONLY_ZEROS.as_ptr(), CMP_NE, Same(7)), 3);
        assert_eq!(found[..3], [0, 2, 4]);
        assert_eq!(test_some(R, at, 5, out, null(), CMP_EQ, Each([0, 7, 1, 1, 1].as_ptr())), 2);
        assert_eq!(wait_until_some(R, at, 5, out, null(), CMP_GT, Each([0; 5].as_ptr())), 2);
    }
    assert_eq!(found[..2], [1, 3]);
    assert_eq!(found[3..], [99, 99], "no entry past the number of elements that count");
}

#[test]
fn the_empty_set() {
    let (_job, at) = five();
    let mut found = [99; 5];
    let (out, null_out) = (found.as_mut_ptr(), std::ptr::null_mut());
    let nothing = std::ptr::null_mut::<u32>();
    for (at, nelems, status, out) in
        [(at, 5, NOBODY.as_ptr(), out), (at, 0, null(), null_out), (nothing, 0, null(), null_out)]
    {
        // SAFETY: nothing is accessed.
        unsafe {
            wait_until_all(R, at, nelems, status, CMP_EQ, Same(9));
            assert_eq!(wait_until_any(R, at, nelems, status, CMP_EQ, Same(9)), usize::MAX);
            assert_eq!(wait_until_some(R, at, nelems, out, status, CMP_EQ, Same(9)), 0);
            assert_eq!(test_all(R, at, nelems, status, CMP_EQ, Same(9)), 1);
            assert_eq!(test_any(R, at, nelems, status, CMP_EQ, Same(9)), usize::MAX);
            assert_eq!(test_some(R, at, nelems, out, status, CMP_EQ, Same(9)), 0);
        }
    }
    assert_eq!(found, [99; 5]);
}

#[test]
fn any_goes_round_the_satisfied() {
    let (_job, at) = five();
    // SAFETY: as in `all_of_a_set`.
    let next = || unsafe { wait_until_any(R, at, 5, null(), CMP_EQ, Same(7)) };
    let found: Vec<_> = (0..6).map(|_| next()).collect();
    assert!(found.windows(2).all(|pair| pair[0] != pair[1]), "{found:?}");
}

#[test]
fn any_is_fair_to_arrays_that_take_turns() {
    let job = FakeJob::start(1);
    job.write(0, 64, [7u32; 6]);
    let (pair, four) = (job.at::<u32>(64), job.at::<u32>(72));
    let mut seen = [[0; 4]; 2];
    for _ in 0..1000 {
        // SAFETY: two and four variables; nobody else is here.
        unsafe {
            seen[0][test_any(R, pair, 2, null(), CMP_EQ, Same(7))] += 1;
            seen[1][test_any(R, four, 4, null(), CMP_EQ, Same(7))] += 1;
        }
    }
    assert!(seen[0][..2].iter().chain(&seen[1]).all(|count| *count > 100), "{seen:?}");
}

#[test]
fn failed_tests_in_a_row_count_as_waiting_until_one_succeeds() {
    let (_job, at) = five();
    // SAFETY: as in `all_of_a_set`.
    unsafe {
        for _ in 0..100 {
            assert_eq!(test(R, at, CMP_EQ, 1), 0);
        }
        assert!(polite::is_waiting());
        assert_eq!(test(R, at, CMP_EQ, 0), 1);
        assert!(!polite::is_waiting());
    }
}
