//! The control words of a group: what its members tell each other while they run
//! collectives.
//!
//! Each member has one [`ControlWords`]. The words only ever count up, so nothing is reset, no
//! phase has to be told from the next, and a group that takes over the words of another one
//! goes on from where they stand.

use super::sizes::{MAILBOXES, SMALL_WORDS};
use crate::atomics::{AtomicU64, Ordering};
use crate::counter::Counter;
use std::ops::Deref;

/// Most words of a message, which may take half of a member's mailboxes.
pub const MOST_WORDS: usize = MAILBOXES / 2 * SMALL_WORDS;

/// One member's control words. Only the member itself writes them, but for
/// `notifications`; the others read.
#[repr(C, align(128))]
pub struct ControlWords {
    /// Steps the member has announced, all collectives of the group counted through.
    pub progress: CachePadded<Counter>,
    /// The step up to which the member has read others' messages, as far as it had to say so.
    pub heard: CachePadded<Counter>,
    /// How often other members have notified this one, counted through.
    pub notifications: CachePadded<Counter>,
    /// What it tells all other members at once: a ring, in which the step says where a message
    /// lies. So the next ones can be written while slow readers still read the last one.
    pub mailboxes: [Mailbox; MAILBOXES],
}

/// Something with a cache-line pair for itself: 128 bytes, because x86 prefetches
/// adjacent lines in pairs (Intel's Optimization Manual, "spatial prefetcher").
#[repr(C, align(128))]
pub struct CachePadded<T>(pub T);

impl<T> Deref for CachePadded<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// A part of a message, in one cache-line pair; beside the first part the message's last step, so
/// that step and content of a small one arrive together.
#[repr(C, align(128))]
pub struct Mailbox {
    /// The last step of the message that begins in `words`.
    pub step: Counter,
    /// Words of the message.
    pub words: [AtomicU64; SMALL_WORDS],
}

impl Mailbox {
    /// Reads as many words, from word `first` on. Whose message it is has announced its step.
    #[inline(always)]
    pub fn read(&self, first: usize, to: &mut [u64]) {
        for (word, value) in self.words[first..].iter().zip(to) {
            *value = word.load(Ordering::Relaxed);
        }
    }

    /// Writes the first words. Nobody reads what was there.
    #[inline(always)]
    pub fn write(&self, message: &[u64]) {
        for (word, value) in self.words.iter().zip(message) {
            word.store(*value, Ordering::Relaxed);
        }
    }
}
