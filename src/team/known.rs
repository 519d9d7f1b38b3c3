//! What a PE knows of a team's members on other nodes.

use crate::atomics::AtomicBool;
use onenode::collectives::words::ControlWords;

/// What it knows of one.
pub struct Known {
    /// The step and the messages that the member was last seen to have.
    pub words: ControlWords,
    /// Whether this node is told of further steps.
    pub subscribed: AtomicBool,
}
