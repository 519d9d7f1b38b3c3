//! A process's position in the sequence of a group's collectives.

use super::words::ControlWords;
use crate::atomics::{AtomicU64, Ordering};

/// This process's position in a group's sequence of steps. Private to the process: all members
/// count the same steps, because they call the group's collectives in the same order.
#[derive(Debug)]
pub struct Epoch {
    step: AtomicU64,
    /// The step at which the last message ended.
    message: AtomicU64,
    /// All members are known to have reached this step: they read no message from before it.
    common: AtomicU64,
    notifications: AtomicU64,
}

impl Epoch {
    /// The start, from four counters that are 0.
    pub const fn new(counters: [AtomicU64; 4]) -> Self {
        let [step, message, common, notifications] = counters;
        Self { step, message, common, notifications }
    }

    /// Continues from step `base`, which no member's words have passed. `own` are this PE's words.
    pub fn set(&self, base: u64, own: &ControlWords) {
        for word in [&self.step, &self.message, &self.common] {
            word.store(base, Ordering::Relaxed);
        }
        self.notifications.store(own.notifications.get(), Ordering::Relaxed);
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.step.load(Ordering::Relaxed)
    }

    /// Takes `steps` steps and returns the number of the step before them.
    pub fn open(&self, steps: u64) -> u64 {
        advance(&self.step, steps)
    }

    /// The value of the notification counter after `times` more notifications.
    pub(super) fn expect_notifications(&self, times: u64) -> u64 {
        advance(&self.notifications, times) + times
    }

    /// Notes that all members have reached this step.
    #[inline(always)]
    pub fn all_came_to(&self, step: u64) {
        self.common.store(step, Ordering::Relaxed);
    }

    /// The last step that all members are known to have reached.
    pub(super) fn common(&self) -> u64 {
        self.common.load(Ordering::Relaxed)
    }

    /// The step at which the last message ended.
    pub(super) fn last_message(&self) -> u64 {
        self.message.load(Ordering::Relaxed)
    }

    /// Notes a message that ended at step `end`.
    pub(super) fn note_message(&self, end: u64) {
        self.message.store(end, Ordering::Relaxed);
    }
}

/// Adds to a word and returns its previous value. A load and a store, not one locked instruction: a
/// group's collectives are called one after the other, by one thread at a time.
fn advance(word: &AtomicU64, by: u64) -> u64 {
    let before = word.load(Ordering::Relaxed);
    word.store(before + by, Ordering::Relaxed);
    before
}
