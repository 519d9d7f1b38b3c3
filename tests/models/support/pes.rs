//! PEs as threads under `loom`, and what they do together: for the tests of the groups in this
//! crate and in its clients.

use crate::atomics::{AtomicU64, Ordering};
use crate::collectives::epoch_group::Controlled;
use crate::collectives::group::{CollectiveGroup, FEW_WORDS, Few, Outcome, Reach, Small};
use crate::collectives::memory::Private;
use crate::collectives::words::ControlWords;
use crate::counter::{Counter, WaitStrategy};
use crate::search::search;
use loom::cell::Cell;
use loom::sync::{Arc, Condvar, Mutex, Notify};
use loom::thread;
use std::convert::Infallible;

/// One PE's shared memory.
pub struct Pe {
    pub words: ControlWords,
    /// Words with which a client of this crate synchronises in a way of its own.
    pub client: [AtomicU64; 32],
    /// Its source in a collective: `loom` reports an access that is not ordered after the one before.
    source: Cell<u64>,
    /// A PE sleeps on this while it waits for a word that is not a counter. Were waiting threads
    /// to yield, two of them would yield to each other for ever.
    pub bell: Notify,
    /// The kernel's list of those who sleep on this PE's counters.
    sleepers: (Mutex<()>, Condvar),
}

impl Pe {
    fn new() -> Self {
        Self {
            words: ControlWords::new(),
            client: std::array::from_fn(|_| AtomicU64::new(0)),
            source: Cell::new(0),
            bell: Notify::new(),
            sleepers: (Mutex::new(()), Condvar::new()),
        }
    }
}

/// A PE among the PEs of the model.
#[derive(Clone)]
pub struct Member {
    pub pes: Arc<Vec<Pe>>,
    pub me: usize,
}

impl Member {
    pub fn write(&self, value: u64) {
        self.pes[self.me].source.set(value);
    }
    pub fn read(&self, member: usize) -> u64 {
        self.pes[member].source.get()
    }
}

/// Wakes the others. To be done after every write that they may wait for: a PE
/// either waits after it, or ends.
impl Member {
    pub fn ring(&self) {
        let others = self.pes.iter().enumerate().filter(|(pe, _)| *pe != self.me);
        others.for_each(|(_, pe)| pe.bell.notify());
    }
}

impl Reach for Member {
    type Stop = Infallible;
    type Memory = Private;

    fn index(&self) -> usize {
        self.me
    }
    fn size(&self) -> usize {
        self.pes.len()
    }
    fn memory(&self) -> &Private {
        &Private
    }
}

impl Controlled for Member {
    fn words(&self, member: usize) -> &ControlWords {
        &self.pes[member].words
    }
    fn await_counter(&self, counter: &Counter, value: u64) -> Outcome<Self> {
        counter.wait(value, |_| self.clone())
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
impl WaitStrategy for Member {
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

/// Runs `program` on `npes` PEs in all orders with so many `preemptions`; on three PEs, in the first ten
/// thousand of them.
pub fn model(npes: usize, preemptions: usize, program: fn(Member)) {
    search(preemptions, (npes > 2).then_some(10_000), move || {
        let pes = Arc::new((0..npes).map(|_| Pe::new()).collect::<Vec<_>>());
        let spawn = |me| {
            let member = Member { pes: pes.clone(), me };
            thread::spawn(move || run(member, program))
        };
        let others: Vec<_> = (1..npes).map(spawn).collect();
        run(Member { pes: pes.clone(), me: 0 }, program);
        others.into_iter().for_each(|other| other.join().unwrap());
        for word in pes.iter().flat_map(|pe| &pe.client) {
            assert_eq!(word.load(Ordering::Relaxed), 0, "the client's words are not restored");
        }
    });
}

fn run(member: Member, program: fn(Member)) {
    program(member.clone());
    member.ring();
}

/// Everybody writes, all synchronise, everybody reads all, and so on.
pub fn write_sync_read(member: &Member, group: &impl CollectiveGroup<Stop = Infallible>) {
    member.write(1);
    let Ok(()) = group.sync();
    for other in 0..member.size() {
        assert_eq!(member.read(other), 1);
    }
    let Ok(()) = group.sync();
    member.write(2);
}

/// Completion by counting: who has read a source counts itself at its owner.
pub fn count_readers(member: &Member, group: &impl CollectiveGroup<Stop = Infallible>) {
    for round in 1..=2 {
        member.write(round);
        let Ok(()) = group.steps(1, |steps| {
            steps.announce(1);
            for other in (0..member.size()).filter(|other| *other != member.me) {
                steps.await_member(1, other)?;
                assert_eq!(member.read(other), round);
                group.notify(other);
            }
            group.await_notifications(member.size() - 1)
        });
    }
}

/// The direct algorithms, twice: read each source as soon as it is ready, write the own one again once
/// all have read it.
pub fn finish_readers(member: &Member, group: &impl CollectiveGroup<Stop = Infallible>) {
    for round in 1..=2 {
        member.write(round);
        let Ok(()) = group.steps(2, |steps| {
            steps.announce(1);
            for other in 0..member.size() {
                steps.await_member(1, other)?;
                assert_eq!(member.read(other), round);
            }
            steps.finish(2)
        });
    }
}

/// Nobody may see the message of another round, though writers wait for no reader.
pub fn exchanges(member: &Member, group: &impl CollectiveGroup<Stop = Infallible>) {
    for round in 1..=3 {
        let mut mine = Small::default();
        mine[0] = round * 10 + member.me as u64;
        let Ok(()) = group.exchange(&mine, |other, theirs| {
            assert_eq!(theirs[0], round * 10 + other as u64);
            Ok(())
        });
    }
}

/// Results of different rounds, and of barriers that use the same word, do not mix.
pub fn combinations(member: &Member, group: &impl CollectiveGroup<Stop = Infallible>) {
    for round in 1..=3 {
        let value = |member: u64| 10 * round + member;
        let mut message: Few = [0; FEW_WORDS];
        message[0] = value(member.me as u64);
        let Ok(()) = group.combine(&mut message, 1, |sums, next| {
            sums[0] = 100 * sums[0] + next[0];
        });
        let expected =
            (1..member.size() as u64).fold(value(0), |sum, next| 100 * sum + value(next));
        assert_eq!(message[0], expected);
        if round == 2 {
            let Ok(()) = group.sync_by_one_word();
        }
    }
}
