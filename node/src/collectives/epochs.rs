//! A [`Group`] over a team's control words.
//!
//! ```text
//!  member 0   progress: 7          Every member counts the steps it announces in
//!  member 1   progress: 8          its own word and reads the others' words:
//!  member 2   progress: 7          "member 1 has announced step 8" is progress >= 8.
//! ```
//!
//! The counters never go back, so a late reader sees a larger number, never a
//! wrong one: no reset, no second phase, no flag that could be reused too early.
//! A flat scan of the members' words costs the same as one central counter with
//! up to 16 PEs on 2 CPUs (where the switches between processes dominate) and
//! beats it when every PE has a CPU, because no two PEs write one line.
//!
//! Who waits long sleeps on the counter it waits for; the counters are in the job's
//! control area, where futexes work whatever the backend.
#![allow(unsafe_code)]

use super::clock::Clock;
use super::group::{Group, Reach, Small};
use crate::atomics::Ordering;
use crate::collectives::words::TeamWords;
use crate::counter::Counter;

/// A [`Reach`] with control words.
pub trait Board: Reach {
    /// The control words of `member`.
    fn words(&self, member: usize) -> &TeamWords;
    /// Waits until `counter` is at least `value`.
    fn await_counter(&self, counter: &Counter, value: u64);
    /// Wakes those who sleep on `counter`.
    fn wake(&self, counter: &Counter);
}

/// The highest step in a member's words: where the next user of them goes on.
pub fn highest_step(words: &TeamWords) -> u64 {
    words
        .mailboxes
        .iter()
        .map(|mailbox| mailbox.step.get())
        .fold(words.progress.count.get(), u64::max)
}

/// A team in a collective.
#[derive(Debug)]
pub struct Epochs<'c, B> {
    board: B,
    clock: &'c Clock,
}

impl<'c, B: Board> Epochs<'c, B> {
    /// The members that `board` reaches, with this PE's `clock` for them.
    pub fn new(board: B, clock: &'c Clock) -> Self {
        Self { board, clock }
    }

    fn own(&self) -> &TeamWords {
        self.board.words(self.index())
    }
}

impl<B: Board> Reach for Epochs<'_, B> {
    #[inline(always)]
    fn index(&self) -> usize {
        self.board.index()
    }
    #[inline(always)]
    fn size(&self) -> usize {
        self.board.size()
    }
    #[inline(always)]
    fn peer(&self, argument: &'static str, address: usize, member: usize) -> usize {
        self.board.peer(argument, address, member)
    }
    #[inline(always)]
    fn check(&self, argument: &'static str, address: usize, bytes: usize) {
        self.board.check(argument, address, bytes);
    }
    #[inline(always)]
    fn read(&self, bytes: usize) {
        self.board.read(bytes);
    }
    #[inline(always)]
    unsafe fn copy(&self, from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.board.copy(from, to, bytes) }
    }
}

impl<B: Board> Group for Epochs<'_, B> {
    #[inline]
    fn open(&self, steps: u64) -> u64 {
        self.clock.open(steps)
    }

    #[inline]
    fn announce(&self, step: u64) {
        self.own().progress.count.raise(step, |counter| self.board.wake(counter));
    }

    #[inline]
    fn await_member(&self, step: u64, member: usize) {
        self.board.await_counter(&self.board.words(member).progress.count, step);
    }

    fn tell(&self, member: usize) {
        self.board.words(member).told.count.add(1, |counter| self.board.wake(counter));
    }

    /// No other collective's news come in between: a member tells in the next one only
    /// after this PE has announced a step of it.
    fn await_told(&self, times: usize) {
        let target = self.clock.expect_told(times as u64);
        self.board.await_counter(&self.own().told.count, target);
    }

    /// One step, and nobody waits for the readers: a member writes into a mailbox
    /// again two exchanges later, and to complete the exchange in between it has
    /// waited for everyone to enter it, hence to have left this one.
    fn exchange(&self, mine: &Small, mut each: impl FnMut(usize, &Small)) {
        let step = self.clock.open(1) + 1;
        let turn = self.clock.next_mailbox();
        let own = &self.own().mailboxes[turn];
        for (word, value) in own.words.iter().zip(mine) {
            word.store(*value, Ordering::Relaxed);
        }
        own.step.raise(step, |counter| self.board.wake(counter));
        for member in 0..self.size() {
            let mailbox = &self.board.words(member).mailboxes[turn];
            self.board.await_counter(&mailbox.step, step);
            let theirs: Small = std::array::from_fn(|i| mailbox.words[i].load(Ordering::Relaxed));
            each(member, &theirs);
        }
    }

    fn sync(&self) {
        let here = self.open(1) + 1;
        self.announce(here);
        for member in 0..self.size() {
            self.await_member(here, member);
        }
    }
}
