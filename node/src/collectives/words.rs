//! The control words of a team: what its members tell each other while they run
//! collectives.
//!
//! Each PE has one [`TeamWords`] a team slot. The words only ever count up, so nothing
//! is reset, no phase has to be told from the next, and a team that takes over a slot
//! goes on from where the words stand.

use crate::atomics::AtomicU64;
use crate::counter::Counter;

/// 64-bit words that travel with a small message, see [`Mailbox`].
pub const SMALL_WORDS: usize = 14;

/// One PE's control words in one team slot. Only the PE itself writes them, but for
/// `told`; the other members read.
#[repr(C, align(128))]
pub struct TeamWords {
    /// Steps the PE has announced, all collectives of the team counted through.
    pub progress: Line,
    /// How often other members have told this PE something, counted through.
    pub told: Line,
    /// What it tells all other members at once; two, used in turn, so that a PE may
    /// write the next message while slow readers still read the last one.
    pub mailboxes: [Mailbox; 2],
}

/// A counter with a cache-line pair for itself: 128 bytes, because x86 prefetches
/// adjacent lines in pairs (Intel's Optimization Manual, "spatial prefetcher").
#[repr(C, align(128))]
pub struct Line {
    /// The counter.
    pub count: Counter,
}

/// A small message with the step it belongs to, in one cache-line pair, so that
/// news and content arrive together.
#[repr(C, align(128))]
pub struct Mailbox {
    /// The step of the message in `words`.
    pub step: Counter,
    /// The message.
    pub words: [AtomicU64; SMALL_WORDS],
}
