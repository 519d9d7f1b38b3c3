//! How members of a collective tell each other how far they are, under the `loom`
//! model checker, which tries every order of their atomic operations that the
//! memory model allows.
//!
//! The files of `src/collectives` are compiled here once more, with `loom`'s atomics
//! in place of the processor's: the text that is checked is the text that runs. PEs
//! are threads, and what collectives move is a cell each, in which `loom` reports
//! every access that conflicts with another one.

#![allow(unsafe_code, dead_code)]

/// What `crate::atomics` is to the library.
mod atomics {
    pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

    /// `loom` takes sequentially consistent accesses for acquire and release.
    pub fn in_order() {
        fence(Ordering::SeqCst);
    }
}
#[path = "../node/src/counter.rs"]
mod counter;
#[path = "../src/job"]
mod job {
    pub mod words;
}
#[path = "../src/span.rs"]
mod span;
#[path = "../src/collectives"]
mod collectives {
    pub mod barrier {
        pub mod dissemination;
        pub mod tree;
    }
    pub mod clock;
    pub mod epochs;
    pub mod group;
    pub mod psync;
    pub mod tree;
}

use atomics::{AtomicU64, Ordering};
use collectives::barrier::{dissemination, tree};
use collectives::clock::Clock;
use collectives::epochs::{Board, Epochs};
use collectives::group::{Group, Reach, Small};
use collectives::psync::{MOST_WORDS, PSync, SyncArray};
use collectives::tree::Tree;
use counter::{Counter, Rest};
use job::words::{Line, Mailbox, TeamWords};
use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::sync::{Arc, Condvar, Mutex, Notify};
use loom::thread;
use span::Span;
use std::convert::Infallible;

/// One PE's shared memory.
struct Pe {
    words: TeamWords,
    psync: [AtomicU64; MOST_WORDS],
    /// Its source in a collective.
    source: UnsafeCell<u64>,
    /// What it sleeps on while it waits in a `pSync` array. Were waiting threads to
    /// yield, two of them would yield to each other for ever.
    bell: Notify,
    /// The kernel's list of those who sleep on this PE's counters.
    sleepers: (Mutex<()>, Condvar),
}

fn zeros<const N: usize>() -> [AtomicU64; N] {
    std::array::from_fn(|_| AtomicU64::new(0))
}

impl Pe {
    fn new() -> Self {
        let line = || Line { count: Counter::new() };
        let mailbox = || Mailbox { step: Counter::new(), words: zeros() };
        Self {
            words: TeamWords { progress: line(), told: line(), mailboxes: [mailbox(), mailbox()] },
            psync: zeros(),
            source: UnsafeCell::new(0),
            bell: Notify::new(),
            sleepers: (Mutex::new(()), Condvar::new()),
        }
    }
}

/// A PE among the PEs of the model.
#[derive(Clone)]
struct Member {
    pes: Arc<Vec<Pe>>,
    me: usize,
}

impl Member {
    fn write(&self, value: u64) {
        // SAFETY: `loom` checks that no other thread accesses the cell.
        self.pes[self.me].source.with_mut(|source| unsafe { *source = value });
    }
    fn read(&self, member: usize) -> u64 {
        // SAFETY: `loom` checks that no other thread writes the cell.
        self.pes[member].source.with(|source| unsafe { *source })
    }
}

/// Wakes the others. To be done after every write that they may wait for: a PE
/// either waits after it, or ends.
impl Member {
    fn ring(&self) {
        let others = self.pes.iter().enumerate().filter(|(pe, _)| *pe != self.me);
        others.for_each(|(_, pe)| pe.bell.notify());
    }
}

impl Reach for Member {
    fn index(&self) -> usize {
        self.me
    }
    fn size(&self) -> usize {
        self.pes.len()
    }
    fn peer(&self, _: &'static str, address: usize, _: usize) -> usize {
        address
    }
    fn check(&self, _: &'static str, _: usize, _: Span) {}
}

impl Board for Member {
    fn words(&self, member: usize) -> &TeamWords {
        &self.pes[member].words
    }
    fn await_counter(&self, counter: &Counter, value: u64) {
        let Ok(()) = counter.wait(value, |_| self.clone());
    }
    /// Whose counter it is does not matter: more wake than need to.
    fn wake(&self, _: &Counter) {
        for pe in self.pes.iter() {
            let _list = pe.sleepers.0.lock().unwrap();
            pe.sleepers.1.notify_all();
        }
    }
}

/// Sleeps as the kernel has it: nobody is woken between the last look and the sleep.
impl Rest for Member {
    type Stop = Infallible;

    fn pause(&mut self) -> Result<bool, Infallible> {
        Ok(true)
    }
    fn sleep(&mut self, counter: &Counter, seen: u64) -> Result<(), Infallible> {
        let (list, woken) = &self.pes[self.me].sleepers;
        let list = list.lock().unwrap();
        if counter.get() == seen {
            drop(woken.wait(list).unwrap());
        }
        Ok(())
    }
}

impl SyncArray for Member {
    fn word(&self, member: usize, element: usize) -> &AtomicU64 {
        &self.pes[member].psync[element]
    }
    fn wait_until(&self, mut ready: impl FnMut() -> bool) {
        if ready() {
            return;
        }
        self.ring();
        while !ready() {
            self.pes[self.me].bell.wait();
        }
    }
}

/// Runs `program` on `npes` PEs in all orders with at most `preemptions` switches
/// away from threads that could have gone on; on three PEs, in the first ten thousand
/// of them.
fn model(npes: usize, preemptions: usize, program: fn(Member)) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.max_permutations = (npes > 2).then_some(10_000);
    builder.check(move || {
        let pes = Arc::new((0..npes).map(|_| Pe::new()).collect::<Vec<_>>());
        let spawn = |me| {
            let member = Member { pes: pes.clone(), me };
            thread::spawn(move || run(member, program))
        };
        let others: Vec<_> = (1..npes).map(spawn).collect();
        run(Member { pes: pes.clone(), me: 0 }, program);
        others.into_iter().for_each(|other| other.join().unwrap());
        for word in pes.iter().flat_map(|pe| &pe.psync) {
            assert_eq!(word.load(Ordering::Relaxed), 0, "pSync is not restored");
        }
    });
}

fn run(member: Member, program: fn(Member)) {
    program(member.clone());
    member.ring();
}

fn clock() -> Clock {
    Clock::new(AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0))
}

/// Everybody writes, all synchronise, everybody reads all, and so on.
fn write_sync_read(member: &Member, group: &impl Group) {
    member.write(1);
    group.sync();
    for other in 0..member.size() {
        assert_eq!(member.read(other), 1);
    }
    group.sync();
    member.write(2);
}

#[test]
fn a_sync_orders_writes_and_reads() {
    model(2, 2, |member| write_sync_read(&member, &Epochs::new(member.clone(), &clock())));
    model(3, 1, |member| write_sync_read(&member, &Epochs::new(member.clone(), &clock())));
    model(4, 1, |member| write_sync_read(&member, &Epochs::new(member.clone(), &clock())));
}

#[test]
fn a_sync_on_an_active_set_does_too() {
    model(2, 2, |member| write_sync_read(&member, &PSync(member.clone())));
    model(3, 1, |member| write_sync_read(&member, &PSync(member.clone())));
}

/// The same for the other barriers.
fn barriers(member: &Member, barrier: impl Fn()) {
    for round in 1..=2 {
        member.write(round);
        barrier();
        for other in 0..member.size() {
            assert_eq!(member.read(other), round);
        }
        barrier();
    }
}

#[test]
fn a_dissemination_barrier_orders_writes_and_reads() {
    for (npes, preemptions) in [(2, 2), (3, 1), (4, 1)] {
        model(npes, preemptions, |member| {
            let clock = clock();
            let group = Epochs::new(member.clone(), &clock);
            barriers(&member, || dissemination::sync(&group));
        });
    }
}

#[test]
fn barriers_on_trees_order_writes_and_reads() {
    for (npes, preemptions) in [(2, 2), (3, 1), (4, 1)] {
        model(npes, preemptions, |member| {
            let clock = clock();
            let group = Epochs::new(member.clone(), &clock);
            barriers(&member, || tree::sync(&group, Tree::KNomial(2)));
        });
    }
}

/// Completion by counting: who has read a source counts itself at its owner.
fn count_readers(member: &Member, group: &impl Group) {
    for round in 1..=2 {
        member.write(round);
        group.steps(1, |steps| {
            steps.announce(1);
            for other in (0..member.size()).filter(|other| *other != member.me) {
                steps.await_member(1, other);
                assert_eq!(member.read(other), round);
                group.tell(other);
            }
            group.await_told(member.size() - 1);
        });
    }
}

#[test]
fn sources_can_be_written_again_when_readers_have_counted_themselves() {
    model(2, 2, |member| count_readers(&member, &Epochs::new(member.clone(), &clock())));
    model(3, 1, |member| count_readers(&member, &Epochs::new(member.clone(), &clock())));
    model(2, 1, |member| count_readers(&member, &PSync(member.clone())));
}

/// The direct algorithms: read each source as soon as it is ready, write the own
/// one again once all have read it.
fn read_between_two_steps(member: &Member, group: &impl Group) {
    member.write(1);
    group.steps(2, |steps| {
        steps.announce(1);
        for other in 0..member.size() {
            steps.await_member(1, other);
            assert_eq!(member.read(other), 1);
        }
        steps.announce(2);
        steps.await_all(2);
    });
    member.write(2);
}

#[test]
fn sources_can_be_read_between_two_steps() {
    model(2, 2, |member| read_between_two_steps(&member, &Epochs::new(member.clone(), &clock())));
    model(3, 1, |member| read_between_two_steps(&member, &Epochs::new(member.clone(), &clock())));
}

/// Broadcasts from two roots, of which only the root waits for the others.
fn broadcasts(member: &Member, group: &impl Group) {
    for (round, root) in [(1, 0), (2, 1)] {
        if member.me == root {
            member.write(round);
        }
        group.steps(2, |steps| {
            steps.announce(1);
            if member.me != root {
                steps.await_member(1, root);
                assert_eq!(member.read(root), round);
            }
            steps.announce(2);
            if member.me == root {
                steps.await_all(2);
            }
        });
    }
}

#[test]
fn members_may_be_collectives_ahead_of_each_other() {
    model(2, 1, |member| broadcasts(&member, &Epochs::new(member.clone(), &clock())));
    model(3, 1, |member| broadcasts(&member, &Epochs::new(member.clone(), &clock())));
}

/// Nobody may see the message of another round, though writers wait for no reader.
fn exchanges(member: &Member, group: &impl Group) {
    for round in 1..=3 {
        let mut mine = Small::default();
        mine[0] = round * 10 + member.me as u64;
        group.exchange(&mine, |other, theirs| assert_eq!(theirs[0], round * 10 + other as u64));
    }
}

#[test]
fn messages_of_exchanges_do_not_mix() {
    model(2, 2, |member| exchanges(&member, &Epochs::new(member.clone(), &clock())));
    model(3, 1, |member| exchanges(&member, &Epochs::new(member.clone(), &clock())));
}

#[test]
fn messages_on_an_active_set_do_not_mix() {
    model(2, 1, |member| exchanges(&member, &PSync(member.clone())));
}
