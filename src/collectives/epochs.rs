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

use super::group::{Group, Reach, Small};
use crate::atomics::{AtomicU64, Ordering};
use crate::job::words::TeamWords;

/// A [`Reach`] with control words.
pub trait Board: Reach {
    /// The control words of `member`.
    fn words(&self, member: usize) -> &TeamWords;
}

/// How far this PE is in a team's sequence of steps. Private to the process: all
/// members count alike, because they call the team's collectives in one order.
#[derive(Debug)]
pub struct Clock {
    step: AtomicU64,
    exchanges: AtomicU64,
}

impl Clock {
    /// A clock of two counters that stand at 0.
    pub const fn new(step: AtomicU64, exchanges: AtomicU64) -> Self {
        Self { step, exchanges }
    }

    /// Goes on from step `base`, which no member's words have passed.
    pub fn set(&self, base: u64) {
        self.step.store(base, Ordering::Relaxed);
        self.exchanges.store(0, Ordering::Relaxed);
    }

    // Load and store, not one locked instruction: a team's collectives are called
    // one after the other (specification: a team must not be used concurrently).
    fn next_step(&self) -> u64 {
        let step = self.step.load(Ordering::Relaxed) + 1;
        self.step.store(step, Ordering::Relaxed);
        step
    }

    fn next_mailbox(&self) -> usize {
        let exchange = self.exchanges.load(Ordering::Relaxed);
        self.exchanges.store(exchange + 1, Ordering::Relaxed);
        exchange as usize & 1
    }
}

/// The highest step in a member's words: where the next user of them goes on.
pub fn highest_step(words: &TeamWords) -> u64 {
    words
        .mailboxes
        .iter()
        .map(|mailbox| mailbox.step.load(Ordering::Acquire))
        .fold(words.progress.step.load(Ordering::Acquire), u64::max)
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
    fn wait_until(&self, ready: impl FnMut() -> bool) {
        self.board.wait_until(ready)
    }
}

impl<B: Board> Group for Epochs<'_, B> {
    type Step = u64;

    #[inline]
    fn announce(&self) -> u64 {
        let step = self.clock.next_step();
        self.board.words(self.index()).progress.step.store(step, Ordering::Release);
        step
    }

    #[inline]
    fn await_member(&self, step: u64, member: usize) {
        let progress = &self.board.words(member).progress.step;
        self.wait_until(|| progress.load(Ordering::Acquire) >= step);
    }

    /// One step, and nobody waits for the readers: a member writes into a mailbox
    /// again two exchanges later, and to complete the exchange in between it has
    /// waited for everyone to enter it, hence to have left this one.
    fn exchange(&self, mine: &Small, mut each: impl FnMut(usize, &Small)) {
        let step = self.clock.next_step();
        let turn = self.clock.next_mailbox();
        let own = &self.board.words(self.index()).mailboxes[turn];
        for (word, value) in own.words.iter().zip(mine) {
            word.store(*value, Ordering::Relaxed);
        }
        own.step.store(step, Ordering::Release);
        for member in 0..self.size() {
            let mailbox = &self.board.words(member).mailboxes[turn];
            self.wait_until(|| mailbox.step.load(Ordering::Acquire) >= step);
            let theirs: Small = std::array::from_fn(|i| mailbox.words[i].load(Ordering::Relaxed));
            each(member, &theirs);
        }
    }
}
