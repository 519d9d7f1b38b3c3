//! The control words of a group, in which its members report to each other during collectives.
//!
//! Each member has one [`ControlWords`]. The words only ever count up, so nothing is reset, no
//! phase has to be distinguished from the next, and a group that takes over another group's words
//! continues from their values.

use super::sizes::{MAILBOXES, SMALL_WORDS};
use crate::atomics::{AtomicU64, Ordering};
use crate::counter::Counter;
use std::ops::Deref;

/// Most words of a message: it may take half of a member's mailboxes.
pub const MOST_WORDS: usize = MAILBOXES / 2 * SMALL_WORDS;

/// Words of a result that one member publishes for all.
pub const FEW_WORDS: usize = SMALL_WORDS - 1;

/// One member's control words. Only the member itself writes them, except `notifications`,
/// `heard.common` and `heard.result`; the others read.
#[repr(C, align(128))]
pub struct ControlWords {
    /// Steps the member has announced, counted over all collectives of the group.
    pub progress: CachePadded<Counter>,
    /// The values that the member has received.
    pub heard: ReceivedValues,
    /// How often other members have notified this one, counted over all collectives.
    pub notifications: CachePadded<Counter>,
    /// The member's messages to all others: a ring in which a message's place follows from its
    /// step, so the next ones can be written while slow readers still read the last one.
    pub mailboxes: [Mailbox; MAILBOXES],
}

impl ControlWords {
    /// Words that nobody has used. Zeroed memory is that, too.
    #[allow(clippy::new_without_default)] // They are found in memory, hardly ever made.
    pub fn new() -> Self {
        fn zeros<const N: usize>() -> [AtomicU64; N] {
            std::array::from_fn(|_| AtomicU64::new(0))
        }
        let counter = || CachePadded(Counter::new());
        let mailbox = || Mailbox { step: Counter::new(), words: zeros() };
        Self {
            progress: counter(),
            heard: ReceivedValues {
                step: Counter::new(),
                common: AtomicU64::new(0),
                result: zeros(),
            },
            notifications: counter(),
            mailboxes: std::array::from_fn(|_| mailbox()),
        }
    }
}

/// The values that a member has received, in one cache-line pair.
#[repr(C, align(128))]
pub struct ReceivedValues {
    /// The step up to which the member has read others' messages, as far as it had to report it.
    pub step: Counter,
    /// A step that all members are known to have announced, if one of them has said so. Only the first
    /// member's word is used.
    pub common: AtomicU64,
    /// The result of the collective that ended at step `common`, if it is one that
    /// [combines](super::group::CollectiveGroup::combine). Also only the first member's.
    pub result: [AtomicU64; FEW_WORDS],
}

/// A value with a cache-line pair of its own: 128 bytes, because x86 prefetches adjacent lines in
/// pairs (Intel's Optimization Manual, "spatial prefetcher").
#[repr(C, align(128))]
pub struct CachePadded<T>(pub T);

impl<T> Deref for CachePadded<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// A part of a message, in one cache-line pair. The first part is beside the message's last step,
/// so the step and the content of a small message arrive together.
#[repr(C, align(128))]
pub struct Mailbox {
    /// The last step of the message that begins in `words`.
    pub step: Counter,
    /// Words of the message.
    pub words: [AtomicU64; SMALL_WORDS],
}

impl Mailbox {
    /// Reads words from word `first` on, as many as `to` holds. The message's writer has announced
    /// its step.
    #[inline(always)]
    pub fn read(&self, first: usize, to: &mut [u64]) {
        for (word, value) in self.words[first..].iter().zip(to) {
            *value = word.load(Ordering::Relaxed);
        }
    }

    /// Writes the first words. Nobody reads the previous contents any more.
    #[inline(always)]
    pub fn write(&self, message: &[u64]) {
        for (word, value) in self.words.iter().zip(message) {
            word.store(*value, Ordering::Relaxed);
        }
    }
}
