//! A [`Group`] over control words.
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
//! Who waits long sleeps on the counter it waits for, so the counters are where futexes work.
#![allow(unsafe_code)]

use super::epoch::Epoch;
use super::group::{Buffer, Group, Outcome, Reach, Small, Stepped};
use super::scratch::Scratch;
use super::words::ControlWords;
use crate::atomics::Ordering;
use crate::counter::Counter;

/// A [`Reach`] with control words.
pub trait Controlled: Reach {
    /// The control words of `member`.
    fn words(&self, member: usize) -> &ControlWords;
    /// Waits until `counter` is at least `value`.
    ///
    /// # Errors
    /// If the wait ends early.
    fn await_counter(&self, counter: &Counter, value: u64) -> Outcome<Self>;
    /// Wakes those who sleep on `counter`.
    fn wake(&self, counter: &Counter);
    /// Adds one to `member`'s notifications.
    fn notify(&self, member: usize) {
        let counter = &self.words(member).notifications;
        counter.add(1, |counter| self.wake(counter));
    }
}

/// The highest step in a member's words: where the next user of them goes on.
pub fn highest_step(words: &ControlWords) -> u64 {
    words.mailboxes.iter().map(|mailbox| mailbox.step.get()).fold(words.progress.get(), u64::max)
}

/// A group with control words, in a collective.
#[derive(Debug)]
pub struct EpochGroup<'e, M> {
    members: M,
    epoch: &'e Epoch,
}

impl<'e, M: Controlled> EpochGroup<'e, M> {
    /// These members, with this process's `epoch` among them.
    pub fn new(members: M, epoch: &'e Epoch) -> Self {
        Self { members, epoch }
    }

    fn own(&self) -> &ControlWords {
        self.members.words(self.index())
    }
}

impl<M: Controlled> Reach for EpochGroup<'_, M> {
    type Stop = M::Stop;

    #[inline(always)]
    fn index(&self) -> usize {
        self.members.index()
    }
    #[inline(always)]
    fn size(&self) -> usize {
        self.members.size()
    }
    #[inline(always)]
    fn peer(&self, buffer: Buffer, address: usize, member: usize) -> Result<usize, M::Stop> {
        self.members.peer(buffer, address, member)
    }
    #[inline(always)]
    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Outcome<Self> {
        self.members.check(buffer, address, bytes)
    }
    fn nodes(&self) -> Vec<usize> {
        self.members.nodes()
    }
    #[inline(always)]
    fn read(&self, bytes: usize) {
        self.members.read(bytes);
    }
    #[inline(always)]
    unsafe fn near(&self, at: *const u8, bytes: usize, room: &mut Option<Scratch>) -> *const u8 {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.members.near(at, bytes, room) }
    }
    #[inline(always)]
    unsafe fn copy(&self, from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.members.copy(from, to, bytes) }
    }
}

impl<M: Controlled> Stepped for EpochGroup<'_, M> {
    #[inline]
    fn open(&self, steps: u64) -> u64 {
        self.epoch.open(steps)
    }

    #[inline]
    fn announce(&self, step: u64) {
        self.own().progress.raise(step, |counter| self.members.wake(counter));
    }

    #[inline]
    fn await_member(&self, step: u64, member: usize) -> Outcome<Self> {
        self.members.await_counter(&self.members.words(member).progress, step)
    }
}

impl<M: Controlled> Group for EpochGroup<'_, M> {
    fn notify(&self, member: usize) {
        self.members.notify(member);
    }

    /// No other collective's notifications come in between: a member notifies in the next one
    /// only after this process has announced a step of it.
    fn await_notifications(&self, times: usize) -> Outcome<Self> {
        let target = self.epoch.expect_notifications(times as u64);
        self.members.await_counter(&self.own().notifications, target)
    }

    /// One step, and nobody waits for the readers: a member writes into a mailbox
    /// again two exchanges later, and to complete the exchange in between it has
    /// waited for everyone to enter it, hence to have left this one.
    fn exchange(
        &self,
        mine: &Small,
        mut each: impl FnMut(usize, &Small) -> Outcome<Self>,
    ) -> Outcome<Self> {
        let step = self.epoch.open(1) + 1;
        let turn = self.epoch.next_mailbox();
        let own = &self.own().mailboxes[turn];
        for (word, value) in own.words.iter().zip(mine) {
            word.store(*value, Ordering::Relaxed);
        }
        own.step.raise(step, |counter| self.members.wake(counter));
        for member in 0..self.size() {
            let mailbox = &self.members.words(member).mailboxes[turn];
            self.members.await_counter(&mailbox.step, step)?;
            let theirs: Small = std::array::from_fn(|i| mailbox.words[i].load(Ordering::Relaxed));
            each(member, &theirs)?;
        }
        Ok(())
    }

    fn sync(&self) -> Outcome<Self> {
        let here = self.open(1) + 1;
        self.announce(here);
        for member in 0..self.size() {
            self.await_member(here, member)?;
        }
        Ok(())
    }
}
