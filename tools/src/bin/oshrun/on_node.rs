//! What a job has besides if this is one of its nodes.

use super::agent::Agent;
use super::frames::Frame;
use nix::poll::PollFd;

/// A node of a job over several.
pub struct OnNode {
    /// Its number.
    pub node: usize,
    /// Its host, as the user named it.
    pub host: String,
    /// Whether a person may be typing what PE 0 reads.
    pub interactive: bool,
    /// Its agent, where one is needed.
    pub agent: Option<Agent>,
    /// What came from the hub before there was a PE.
    pub early: Vec<Frame>,
    /// The hub has said that all nodes are done.
    pub may_leave: bool,
}

impl OnNode {
    /// The agent, as long as it has something to say.
    pub fn interest(&self) -> Option<PollFd<'_>> {
        self.agent.as_ref().and_then(Agent::interest)
    }
}
