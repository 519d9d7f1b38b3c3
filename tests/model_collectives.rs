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
    pub use loom::sync::atomic::{AtomicU64, Ordering};
}
#[path = "../src/job"]
mod job {
    pub mod words;
}
#[path = "../src/collectives"]
mod collectives {
    pub mod epochs;
    pub mod group;
    pub mod psync;
}

use atomics::{AtomicU64, Ordering};
use collectives::epochs::{Board, Clock, Epochs};
use collectives::group::{Group, Reach, Small};
use collectives::psync::{MOST_WORDS, PSync, SyncArray};
use job::words::{Mailbox, Progress, TeamWords};
use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::sync::{Arc, Notify};
use loom::thread;

/// One PE's shared memory.
struct Pe {
    words: TeamWords,
    psync: [AtomicU64; MOST_WORDS],
    /// Its source in a collective.
    source: UnsafeCell<u64>,
    /// What it sleeps on. Were waiting threads to yield, two of them would yield to
    /// each other for ever.
    bell: Notify,
}

fn zeros<const N: usize>() -> [AtomicU64; N] {
    std::array::from_fn(|_| AtomicU64::new(0))
}

impl Pe {
    fn new() -> Self {
        let mailbox = || Mailbox { step: AtomicU64::new(0), words: zeros() };
        Self {
            words: TeamWords {
                progress: Progress { step: AtomicU64::new(0) },
                mailboxes: [mailbox(), mailbox()],
            },
            psync: zeros(),
            source: UnsafeCell::new(0),
            bell: Notify::new(),
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

impl Board for Member {
    fn words(&self, member: usize) -> &TeamWords {
        &self.pes[member].words
    }
}

impl SyncArray for Member {
    fn word(&self, member: usize, element: usize) -> &AtomicU64 {
        &self.pes[member].psync[element]
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
    Clock::new(AtomicU64::new(0), AtomicU64::new(0))
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
}

#[test]
fn a_sync_on_an_active_set_does_too() {
    model(2, 2, |member| write_sync_read(&member, &PSync(member.clone())));
    model(3, 1, |member| write_sync_read(&member, &PSync(member.clone())));
}

/// The direct algorithms: read each source as soon as it is ready, write the own
/// one again once all have read it.
fn read_between_two_steps(member: &Member, group: &impl Group) {
    member.write(1);
    let ready = group.announce();
    for other in 0..member.size() {
        group.await_member(ready, other);
        assert_eq!(member.read(other), 1);
    }
    let read = group.announce();
    group.await_all(read);
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
        let ready = group.announce();
        if member.me != root {
            group.await_member(ready, root);
            assert_eq!(member.read(root), round);
        }
        let read = group.announce();
        if member.me == root {
            group.await_all(read);
        }
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
