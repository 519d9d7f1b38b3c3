//! How far a process is in the collectives of a group.

use super::words::ControlWords;
use crate::atomics::{AtomicU64, Ordering};

/// How far this process is in a group's sequence of steps. Private to the process: all
/// members count alike, because they call the group's collectives in one order.
#[derive(Debug)]
pub struct Epoch {
    step: AtomicU64,
    /// The step with which the last message ended.
    message: AtomicU64,
    /// All members are known to have come to this step: they read no message from before it.
    common: AtomicU64,
    notifications: AtomicU64,
}

impl Epoch {
    /// The beginning, of four counters that stand at 0.
    pub const fn new(counters: [AtomicU64; 4]) -> Self {
        let [step, message, common, notifications] = counters;
        Self { step, message, common, notifications }
    }

    /// Goes on from step `base`, which no member's words have passed; `own` are this
    /// PE's words.
    pub fn set(&self, base: u64, own: &ControlWords) {
        for word in [&self.step, &self.message, &self.common] {
            word.store(base, Ordering::Relaxed);
        }
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

    /// All members have come to this step.
    #[inline(always)]
    pub fn all_came_to(&self, step: u64) {
        self.common.store(step, Ordering::Relaxed);
    }

    /// The last step that all members are known to have come to.
    pub(super) fn common(&self) -> u64 {
        self.common.load(Ordering::Relaxed)
    }

    /// The step with which the last message ended.
    pub(super) fn last_message(&self) -> u64 {
        self.message.load(Ordering::Relaxed)
    }

    /// There was a message that ended with this step.
    pub(super) fn note_message(&self, end: u64) {
        self.message.store(end, Ordering::Relaxed);
    }
}

/// Adds to a word and returns what it was. Load and store, not one locked instruction:
/// a group's collectives are called one after the other, by one thread at a time.
fn advance(word: &AtomicU64, by: u64) -> u64 {
    let before = word.load(Ordering::Relaxed);
    word.store(before + by, Ordering::Relaxed);
    before
}
