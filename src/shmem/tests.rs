//! Invalid arguments panic before anything is done.
#![allow(unsafe_code)]

use super::{Blocks, Comparison, Context, Signal, SymmetricSlice, Values, memory};
use crate::context::Default as World;
use crate::testing::FakeJob;
use oneshmem_job::error::Called::Blocking;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Whether `call` panics.
fn refused(call: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(call)).is_err()
}

/// The first elements of PE 0's slot.
fn array(job: &FakeJob, len: usize) -> memory::Symmetric<'_, u32> {
    memory::Symmetric::existing(job.array(0, len))
}

fn world() -> Context<'static, World> {
    Context::new(World)
}

#[test]
fn parts_are_within_their_array() {
    let job = FakeJob::start(1);
    let x = array(&job, 4);
    assert_eq!(x.slice(1..=2).len(), 2);
    assert!(x.slice(4..).is_empty());
    assert!(refused(|| _ = x.slice(3..5)));
    assert!(refused(|| _ = x.at(4)));
    assert!(refused(|| _ = x.slice(1..3).slice(..3)));
    assert!(refused(|| _ = x.slice(2..2).get()));
    assert!(refused(|| _ = x.slice(..=usize::MAX)));
    assert!(refused(|| _ = x.slice(2..).at(2)));
    assert_eq!(x.slice(1..).at(2).pointer(), x.at(3).pointer());
}

#[test]
fn own_elements_are_copied_in_and_out() {
    let job = FakeJob::start(1);
    let x = array(&job, 4);
    x.all().write(&[1, 2, 3, 4]);
    x.slice(1..3).iter().rev().enumerate().for_each(|(i, part)| part.update(|v| v + 10 * i as u32));
    let mut values = [0; 3];
    x.slice(1..).read(&mut values);
    assert_eq!(values, [12, 3, 4]);
    assert!(refused(|| x.slice(1..).read(&mut [0; 4])));
    assert!(refused(|| x.all().write(&[0; 3])));
    assert_eq!(x.all().iter().len(), 4);
    // SAFETY: nothing else accesses the job.
    unsafe {
        x.slice(2..).as_mut_slice().reverse();
        assert_eq!(x.all().as_slice(), [1, 12, 4, 3]);
        assert!(x.slice(4..).as_slice().is_empty());
    }
}

/// Panics name the user's line, not the library's.
#[test]
fn panics_name_the_line_of_the_caller() {
    let job = FakeJob::start(1);
    let (x, world) = (array(&job, 4), world());
    // Other tests may panic at the same time in their own threads.
    static PLACE: Mutex<Option<String>> = Mutex::new(None);
    let (test, hook) = (std::thread::current().id(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| match std::thread::current().id() == test {
        true => *PLACE.lock().unwrap() = info.location().map(|place| place.file().to_owned()),
        false => hook(info),
    }));
    let place = |call: &dyn Fn()| {
        assert!(refused(call));
        PLACE.lock().unwrap().take().expect("a place")
    };
    let calls: [&dyn Fn(); 8] = [
        &|| _ = x.at(4),
        &|| _ = x.slice(3..5),
        &|| x.all().write(&[]),
        &|| x.slice(..0).set(1),
        &|| world.put(x.at(0), &[], 0),
        &|| world.p(x.slice(..0), 1, 0),
        &|| world.iput(x.all(), &[1], 1, 1, 2, 0),
        &|| world.atomic_inc(x.slice(..0), 0),
    ];
    for (number, call) in calls.iter().enumerate() {
        assert_eq!(place(call), file!(), "call {number}");
    }
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let job = FakeJob::start(2);
    let (x, world) = (array(&job, 4), world());
    let test = |status: &[i32], values: &[u32]| {
        let (status, values) = (Some(status), Values::Each(values));
        super::wait::holds(x.all(), status, Comparison::Eq, values);
    };
    let calls: [(&dyn Fn(), &str); 12] = [
        (
            &|| world.put(x.slice(..2), &[1], 1),
            "put: source has 1 elements; expected 2, as many as dest has",
        ),
        (
            &|| world.get(&mut [1], x.slice(..2), 1),
            "get: source has 2 elements; expected 1, as many as dest has",
        ),
        (
            &|| world.p(x.slice(2..2), 1, 1),
            "p: the symmetric argument has no elements; expected one",
        ),
        (
            &|| world.atomic_add(x.slice(..0), 1, 1),
            "atomic_add: the symmetric argument has no elements; expected one",
        ),
        (
            &|| world.iput(x.all(), &[1, 2, 3], 2, 1, 3, 1),
            "iput: dest has 4 elements; expected enough for Blocks { dst: 2, sst: 1, bsize: 1, nblocks: 3 }",
        ),
        (
            &|| world.iget(&mut [1, 2], x.all(), 1, 2, 3, 1),
            "iget: dest has 2 elements; expected enough for Blocks { dst: 1, sst: 2, bsize: 1, nblocks: 3 }",
        ),
        (
            &|| x.all().read(&mut [0; 3]),
            "read: values has 3 elements; expected 4, as many as the slice has",
        ),
        (&|| _ = x.at(4), "at: index is 4; expected less than 4, the number of elements"),
        (&|| _ = x.slice(3..5), "slice: range is 3..5; expected a part of 0..4"),
        (&|| _ = x.slice(..0).get(), "get: the symmetric argument has no elements; expected one"),
        (
            &|| test(&[0; 3], &[0; 4]),
            "test_all: status has 3 elements; expected 4, as many as ivars has",
        ),
        (
            &|| test(&[0; 4], &[0; 5]),
            "test_all: values has 5 elements; expected 4, as many as ivars has",
        ),
    ];
    for (call, sentence) in calls {
        let told = catch_unwind(AssertUnwindSafe(call)).expect_err(sentence);
        assert_eq!(told.downcast_ref::<String>().expect("a sentence"), sentence);
    }
    assert!(refused(|| world.iput_from(x.all(), x.all(), 2, 1, 3, 1)));
    assert!(refused(|| world.iget_into(x.all(), x.all(), 2, 1, 3, 1)));
    let blocks = Blocks { dst: 3, sst: 2, bsize: 2, nblocks: 2 };
    assert!(refused(|| world.ibput(x.all(), &[1; 8], blocks, 1)));
    let blocks = Blocks { dst: usize::MAX, sst: 1, bsize: 1, nblocks: 3 };
    assert!(refused(|| world.ibput(x.all(), &[1; 8], blocks, 1)));
    assert_eq!(job.slot(1)[..16], [0; 16]);
    // Just long enough to succeed.
    world.iput(x.all(), &[1, 2], 3, 1, 2, 1);
    assert_eq!(job.slot(1)[..16], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]);
}

#[test]
fn parts_that_overlap_are_told_apart_from_those_that_touch() {
    let job = FakeJob::start(1);
    let x = array(&job, 4);
    assert!(x.slice(..2).overlaps(x.slice(1..)));
    assert!(!x.slice(..2).overlaps(x.slice(2..)));
    assert!(!x.slice(..2).overlaps(x.slice(1..1)));
    assert!(refused(|| x.slice(..2).assert_disjoint(&Blocking("test"), x.slice(1..3))));
}

#[test]
fn sets_have_a_status_and_a_value_for_each_element() {
    let job = FakeJob::start(1);
    let x = array(&job, 4);
    let test = |part: SymmetricSlice<'_, u32>, status: Option<&[i32]>, values: Values<'_, u32>| {
        super::wait::holds(part, status, Comparison::Eq, values)
    };
    assert!(test(x.all(), None, Values::All(0)));
    assert!(test(x.all(), Some(&[0, 1, 0, 0]), Values::Each(&[0, 9, 0, 0])));
    assert!(!test(x.all(), None, Values::Each(&[0, 9, 0, 0])));
    assert!(refused(|| _ = test(x.all(), Some(&[0; 3]), Values::All(0))));
    assert!(refused(|| _ = test(x.all(), None, Values::Each(&[0; 5]))));
}

#[test]
fn nonblocking_operations_are_complete_when_their_scope_ends() {
    let job = FakeJob::start(2);
    let (x, world) = (array(&job, 4), world());
    let signal = memory::Symmetric::<u64>::existing(job.array(16, 1));
    let (source, mut theirs, mut before) = ([1, 2, 3], [0; 2], 9);
    let result = world.nonblocking(|nbi| {
        nbi.put_signal(x.slice(..3), &source, signal.at(0), Signal::Add(2), 1);
        nbi.get(&mut theirs, x.slice(1..3), 1);
        nbi.atomic_fetch_add(&mut before, x.at(2), 5, 1);
        7
    });
    assert_eq!((result, theirs, before), (7, [2, 3], 3));
    assert_eq!((world.g(x.at(2), 1), world.g(signal.at(0), 1)), (8, 2));
    assert!(refused(|| world.nonblocking(|nbi| nbi.put(x.slice(..2), &[1], 1))));
    assert!(refused(|| world.nonblocking(|nbi| nbi.get(&mut theirs, x.all(), 1))));
}
