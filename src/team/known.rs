//! A team's members on other nodes, as a PE knows them.

use crate::atomics::{AtomicBool, AtomicU64};
use onenode_core::collectives::words::ControlWords;

/// One member on another node.
pub struct FarMemberState {
    /// The member's last known step and messages.
    pub words: ControlWords,
    /// Whether this node is notified of further steps.
    pub subscribed: AtomicBool,
    /// How many messages this PE has sent to it.
    pub sent: AtomicU64,
}

impl FarMemberState {
    /// Nothing is known of it yet.
    pub fn new() -> Self {
        let (subscribed, sent) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { words: ControlWords::new(), subscribed, sent }
    }
}
