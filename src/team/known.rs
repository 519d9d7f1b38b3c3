//! What a PE knows about a team's members on other nodes.

use crate::atomics::AtomicBool;
use onenode::collectives::words::ControlWords;

/// What it knows about one member.
pub struct Known {
    /// The member's last known step and messages.
    pub words: ControlWords,
    /// Whether this node is notified of further steps.
    pub subscribed: AtomicBool,
}
