//! Messages that a member sends to a member on another node, each with one remote write. They
//! arrive in that node's copy of the sender's control words, so the receiver polls its own memory.
//!
//! A remote write may fill its words in any order, but each aligned word as a whole. So each word
//! carries half of its bits as a tag, which tells that its other half belongs to this message, as in
//! NCCL's low-latency protocol ("LL"). A write fills all words of a mailbox, so no tag is older than
//! the message before the last.
//!
//! The messages to one node take turns in two mailboxes, and only one member of the node receives
//! them. The condition: before a member sends a message, it has received one that the receiver sent
//! after it had read the message before the last. Partners that exchange messages meet it.

use super::sizes::SMALL_WORDS;
use super::words::{ControlWords, Mailbox};
use crate::atomics::Ordering;

/// Most words of a message.
pub const MOST_WORDS: usize = SMALL_WORDS / 2;
/// Most bytes of a message.
pub const MOST_BYTES: usize = MOST_WORDS * size_of::<u64>();

const HALF: u32 = u64::BITS / 2;

/// The upper half of all words of the message of `step`. Never 0, as in words that nobody has
/// written.
fn tag(step: u64) -> u64 {
    (step << HALF) | 1 << (u64::BITS - 1)
}

/// The mailbox for the next message to a node, after `sent` earlier ones.
pub fn mailbox(sent: u64) -> usize {
    (sent % 2) as usize
}

/// The words of the mailbox that carry the message of `step`.
pub fn encode(step: u64, message: &[u64]) -> [u64; SMALL_WORDS] {
    let mut halves = message.iter().flat_map(|word| [word & u64::from(u32::MAX), word >> HALF]);
    [(); SMALL_WORDS].map(|()| tag(step) | halves.next().unwrap_or(0))
}

/// Copies the message of `step` from this copy of the sender's words. False if it has not arrived
/// yet.
pub fn receive(words: &ControlWords, step: u64, message: &mut [u64]) -> bool {
    words.mailboxes[..2].iter().any(|mailbox| decode(mailbox, step, message).is_some())
}

fn decode(mailbox: &Mailbox, step: u64, message: &mut [u64]) -> Option<()> {
    let half = |i: usize| {
        let word = mailbox.words[i].load(Ordering::Acquire);
        (word >> HALF == tag(step) >> HALF).then_some(word & u64::from(u32::MAX))
    };
    for (i, word) in message.iter_mut().enumerate() {
        *word = half(2 * i)? | half(2 * i + 1)? << HALF;
    }
    // A message of no words has a tag, too.
    half(SMALL_WORDS - 1).map(drop)
}
