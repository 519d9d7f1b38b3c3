//! What a job has besides if this is one of its nodes.

use super::agent::Agent;
use super::frames::Frame;
use nix::poll::PollFd;
use oneshmem::job::file::JobFile;
use oneshmem::job::health;
use std::sync::Arc;

/// How many PEs are looked at in one go: each look takes the kernel as long as there are PEs.
const AT_ONCE: usize = 64;

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
    /// How many PEs have been looked at, to see whether they run another program.
    pub looked: usize,
}

impl OnNode {
    /// A PE of this node that runs another program though it has not finalised: PEs of other nodes,
    /// which may wait for it, cannot see that. Looks at some PEs, at others the next time.
    pub fn replaced(&mut self, file: &Arc<JobFile>) -> Option<usize> {
        let near = file.near();
        let (first, most) = (self.looked, near.len().min(AT_ONCE));
        self.looked += most;
        let mut some = (first..first + most).map(|i| near.start + i % near.len());
        some.find(|pe| health::is_replaced(file, *pe))
    }

    /// The agent, as long as it has something to say.
    pub fn interest(&self) -> Option<PollFd<'_>> {
        self.agent.as_ref().and_then(Agent::interest)
    }
}
