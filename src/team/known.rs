//! A team's members on other nodes, as a PE knows them.

use crate::atomics::AtomicBool;
use onenode_core::collectives::sent::FlowControl;
use onenode_core::collectives::words::ControlWords;

/// One member on another node.
pub struct FarMemberState {
    /// The member's last known step and messages.
    pub words: ControlWords,
    /// Whether this node is notified of further steps.
    pub subscribed: AtomicBool,
    /// The messages between this PE and it.
    pub flow: FlowControl,
}

impl FarMemberState {
    /// Nothing is known of it yet.
    pub fn new() -> Self {
        let subscribed = AtomicBool::new(false);
        Self { words: ControlWords::new(), subscribed, flow: FlowControl::new() }
    }
}
