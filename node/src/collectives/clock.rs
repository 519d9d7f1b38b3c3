//! How far a PE is in the collectives of a team.

use crate::atomics::{AtomicU64, Ordering};
use crate::collectives::words::TeamWords;

/// How far this PE is in a team's sequence of steps. Private to the process: all
/// members count alike, because they call the team's collectives in one order.
#[derive(Debug)]
pub struct Clock {
    step: AtomicU64,
    exchanges: AtomicU64,
    told: AtomicU64,
}

impl Clock {
    /// A clock of three counters that stand at 0.
    pub const fn new(step: AtomicU64, exchanges: AtomicU64, told: AtomicU64) -> Self {
        Self { step, exchanges, told }
    }

    /// Goes on from step `base`, which no member's words have passed; `own` are this
    /// PE's words.
    pub fn set(&self, base: u64, own: &TeamWords) {
        self.step.store(base, Ordering::Relaxed);
        self.exchanges.store(0, Ordering::Relaxed);
        self.told.store(own.told.count.get(), Ordering::Relaxed);
    }

    /// The steps so far.
    pub fn steps(&self) -> u64 {
        self.step.load(Ordering::Relaxed)
    }

    /// Takes so many steps; the number of the first one is one more than this.
    pub(super) fn open(&self, steps: u64) -> u64 {
        advance(&self.step, steps)
    }

    /// What the counter of what this PE is told stands at once it was told `times` more.
    pub(super) fn expect_told(&self, times: u64) -> u64 {
        advance(&self.told, times) + times
    }

    /// Which of the two mailboxes is used now.
    pub(super) fn next_mailbox(&self) -> usize {
        advance(&self.exchanges, 1) as usize & 1
    }
}

/// Adds to a word and returns what it was. Load and store, not one locked instruction:
/// a team's collectives are called one after the other (specification: a team must not
/// be used concurrently).
fn advance(word: &AtomicU64, by: u64) -> u64 {
    let before = word.load(Ordering::Relaxed);
    word.store(before + by, Ordering::Relaxed);
    before
}
