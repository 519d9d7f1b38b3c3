//! How far a process is in the collectives of a group.

use super::words::ControlWords;
use crate::atomics::{AtomicU64, Ordering};

/// How far this process is in a group's sequence of steps. Private to the process: all
/// members count alike, because they call the group's collectives in one order.
#[derive(Debug)]
pub struct Epoch {
    step: AtomicU64,
    exchanges: AtomicU64,
    notifications: AtomicU64,
}

impl Epoch {
    /// The beginning, of three counters that stand at 0.
    pub const fn new(step: AtomicU64, exchanges: AtomicU64, notifications: AtomicU64) -> Self {
        Self { step, exchanges, notifications }
    }

    /// Goes on from step `base`, which no member's words have passed; `own` are this
    /// PE's words.
    pub fn set(&self, base: u64, own: &ControlWords) {
        self.step.store(base, Ordering::Relaxed);
        self.exchanges.store(0, Ordering::Relaxed);
        self.notifications.store(own.notifications.get(), Ordering::Relaxed);
    }

    /// The steps so far.
    pub fn steps(&self) -> u64 {
        self.step.load(Ordering::Relaxed)
    }

    /// Takes so many steps; the number of the first one is one more than this.
    pub fn open(&self, steps: u64) -> u64 {
        advance(&self.step, steps)
    }

    /// What the counter of notifications stands at once there were `times` more.
    pub(super) fn expect_notifications(&self, times: u64) -> u64 {
        advance(&self.notifications, times) + times
    }

    /// Which of the two mailboxes is used now.
    pub(super) fn next_mailbox(&self) -> usize {
        advance(&self.exchanges, 1) as usize & 1
    }
}

/// Adds to a word and returns what it was. Load and store, not one locked instruction:
/// a group's collectives are called one after the other, by one thread at a time.
fn advance(word: &AtomicU64, by: u64) -> u64 {
    let before = word.load(Ordering::Relaxed);
    word.store(before + by, Ordering::Relaxed);
    before
}
