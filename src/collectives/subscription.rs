//! How a member of a team hears from one on another node how far that is: it subscribes once, and
//! is told from then on.
//!
//! ```text
//!  who waits, on node b                     who announces, on node a
//!    its word on a: subscribers |= b          its own word = 8
//!    its own word on a: what is it?           subscribers? b: the copy on b = 8
//!    waits for the copy on b
//! ```
//!
//! Either the announcer sees the subscriber, or the subscriber sees the step: both write before
//! they read, and all four accesses are sequentially consistent; those on the other node are
//! carried out by its agent, in their order. Steps only grow, and one member tells of its own in
//! their order, so a copy never goes back. A subscription holds as long as the slot's words; of a
//! slot's next team, whose steps go on, a member may be told without having asked.

use crate::atomics::{AtomicU64, Ordering, in_order};

/// The bit of a node in a word of subscribers; nodes 64 apart share one.
pub fn bit(node: usize) -> u64 {
    1 << (node % 64)
}

/// What is done by the one who waits: `subscribe` adds to the subscribers there, `look` reads the
/// step there afterwards; both are over when they return.
///
/// Returns the step that stands there. Later ones are told.
pub fn subscribe(subscribe: impl FnOnce(), look: impl FnOnce() -> u64) -> u64 {
    subscribe();
    in_order();
    look()
}

/// What is done by the one who has announced a step in its own word, by a sequentially consistent
/// write: `tell` is called with the subscribers, if there are any.
pub fn announced(subscribers: &AtomicU64, tell: impl FnOnce(u64)) {
    in_order();
    let subscribers = subscribers.load(Ordering::SeqCst);
    if subscribers != 0 {
        tell(subscribers);
    }
}
