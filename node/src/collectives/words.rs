//! The control words of a group: what its members tell each other while they run
//! collectives.
//!
//! Each member has one [`ControlWords`]. The words only ever count up, so nothing is reset, no
//! phase has to be told from the next, and a group that takes over the words of another one
//! goes on from where they stand.

use crate::atomics::AtomicU64;
use crate::counter::Counter;
use std::ops::Deref;

/// 64-bit words that travel with a small message, see [`Mailbox`].
pub const SMALL_WORDS: usize = 14;

/// One member's control words. Only the member itself writes them, but for
/// `notifications`; the others read.
#[repr(C, align(128))]
pub struct ControlWords {
    /// Steps the member has announced, all collectives of the group counted through.
    pub progress: CachePadded<Counter>,
    /// How often other members have notified this one, counted through.
    pub notifications: CachePadded<Counter>,
    /// What it tells all other members at once; two, used in turn, so that it may
    /// write the next message while slow readers still read the last one.
    pub mailboxes: [Mailbox; 2],
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

/// A small message with the step it belongs to, in one cache-line pair, so that
/// step and content arrive together.
#[repr(C, align(128))]
pub struct Mailbox {
    /// The step of the message in `words`.
    pub step: Counter,
    /// The message.
    pub words: [AtomicU64; SMALL_WORDS],
}
