//! How a member of a team learns the progress of a member on another node: it subscribes once, and
//! is notified of every later step.
//!
//! ```text
//!  who waits, on node b                     who announces, on node a
//!    its word on a: subscribers |= b          its own word = 8
//!    its own word on a: what is it?           subscribers? b: the copy on b = 8
//!    waits for the copy on b
//! ```
//!
//! Either the announcer sees the subscriber, or the subscriber sees the step: both write before
//! they read, and all four accesses are sequentially consistent; the agent of the other node
//! carries out those there in order. Steps only grow, and one member reports its steps in order, or
//! over a connection that leaves a later step as it is, so a copy never goes back. A subscription
//! lasts as long as the slot's words. The next team in a slot continues the steps, so one of its
//! members may be notified without having asked.

use crate::atomics::{AtomicU64, Ordering, in_order};

/// The bit of a node in a word of subscribers. Nodes whose numbers differ by a multiple of 64 share
/// one.
pub fn bit(node: usize) -> u64 {
    1 << (node % 64)
}

/// The waiting side: `subscribe` adds this node to the subscribers there, then `look` reads the
/// step there. Both are complete when they return.
///
/// Returns the current step. The other side reports later steps.
pub fn subscribe(subscribe: impl FnOnce(), look: impl FnOnce() -> u64) -> u64 {
    subscribe();
    in_order();
    look()
}

/// The announcing side, after it has announced a step in its own word with a sequentially
/// consistent write: calls `notify` with the subscribers, if there are any.
pub fn announced(subscribers: &AtomicU64, notify: impl FnOnce(u64)) {
    in_order();
    let subscribers = subscribers.load(Ordering::SeqCst);
    if subscribers != 0 {
        notify(subscribers);
    }
}
