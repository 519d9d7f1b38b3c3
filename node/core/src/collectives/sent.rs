//! Messages that a member sends to a member on another node, each with one remote write. They
//! arrive in that node's copy of the sender's control words, so the receiver polls its own memory.
//!
//! A remote write may fill its words in any order, but each aligned word as a whole. So each word
//! carries half of its bits as a tag, which tells that its other half belongs to this message, as in
//! NCCL's low-latency protocol ("LL"). A write fills all words of a mailbox, so no tag is older than
//! the message before the last.
//!
//! The messages to one node take turns in two mailboxes, and only one member of the node receives
//! them. Before a member sends a message, the receiver must have read the message before the last:
//! the sender knows that from any later step of the receiver's ([`FlowControl`]). Partners that exchange
//! messages always know. Who only receives answers every second message, unless it tells the sender
//! some other step in between.

use super::sizes::SMALL_WORDS;
use super::words::{ControlWords, Mailbox};
use crate::atomics::{AtomicU64, Ordering};

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

/// The mailboxes for messages to one node.
const TURNS: usize = 2;

/// The messages between a member and one on another node, as the member knows them. One thread uses it
/// at a time.
#[derive(Debug)]
pub struct FlowControl {
    /// The step of the last message that the member has sent in each mailbox; 0 if there was none.
    steps: [AtomicU64; TURNS],
    /// The steps of the last message that it has received, and of the one before.
    received: [AtomicU64; 2],
    /// The last step that it has told the other.
    told: AtomicU64,
}

impl FlowControl {
    /// No message has been sent in either direction.
    pub fn new() -> Self {
        let none = || AtomicU64::new(0);
        Self { steps: [(); TURNS].map(|()| none()), received: [none(), none()], told: none() }
    }

    /// The mailbox for the next message: that of the oldest one, since steps grow.
    fn turn(&self) -> usize {
        let [first, second] = self.steps.each_ref().map(|step| step.load(Ordering::Relaxed));
        usize::from(second < first)
    }

    /// The step that the receiver must have reached before the next message is sent; 0 if it has.
    pub fn awaited(&self) -> u64 {
        let step = self.steps[self.turn()].load(Ordering::Relaxed);
        // Who has announced just that step may have done so before it read the message.
        let is_read = step < self.received[0].load(Ordering::Relaxed);
        if step == 0 || is_read { 0 } else { step + 1 }
    }

    /// Counts a message that is sent with `step`; returns its mailbox.
    pub fn send(&self, step: u64) -> usize {
        let turn = self.turn();
        self.steps[turn].store(step, Ordering::Relaxed);
        self.tell(step);
        turn
    }

    /// Notes that the other is told `step`.
    pub fn tell(&self, step: u64) {
        self.told.store(step, Ordering::Relaxed);
    }

    /// Notes that the message of `step` has been read.
    pub fn receive(&self, step: u64) {
        let [last, before] = &self.received;
        before.store(last.load(Ordering::Relaxed), Ordering::Relaxed);
        last.store(step, Ordering::Relaxed);
    }

    /// Whether the other knows of no step after the message before the last received one. Then it may wait for an
    /// answer before it can send its next message.
    pub fn owes_answer(&self) -> bool {
        let before = self.received[1].load(Ordering::Relaxed);
        before > 0 && self.told.load(Ordering::Relaxed) <= before
    }
}

impl Default for FlowControl {
    fn default() -> Self {
        Self::new()
    }
}

/// The words of the mailbox that carry the message of `step`.
pub fn encode(step: u64, message: &[u64]) -> [u64; SMALL_WORDS] {
    let mut halves = message.iter().flat_map(|word| [word & u64::from(u32::MAX), word >> HALF]);
    [(); SMALL_WORDS].map(|()| tag(step) | halves.next().unwrap_or(0))
}

/// Copies the message of `step` from this copy of the sender's words. False if it has not arrived
/// yet.
pub fn receive(words: &ControlWords, step: u64, message: &mut [u64]) -> bool {
    words.mailboxes[..TURNS].iter().any(|mailbox| decode(mailbox, step, message).is_some())
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
