//! Additional state of a job that is one node of several.

use super::agent::Agent;
use super::frames::Frame;
use nix::poll::PollFd;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::life;
use std::sync::Arc;
use std::time::Instant;

/// How many PEs are checked at a time. The kernel's time for each check grows with the number of
/// PEs.
const AT_ONCE: usize = 64;

/// One node of a job over several nodes.
pub struct OnNode {
    /// Its number.
    pub node: usize,
    /// Its host, as named by the user.
    pub host: String,
    /// Whether PE 0's input may come from a person at a terminal.
    pub interactive: bool,
    /// The most cells in a row of the communication matrix, if there is to be one.
    pub cells: Option<usize>,
    /// Its agent, if it needs one.
    pub agent: Option<Agent>,
    /// How the agent has ended, and when to end the job for that.
    pub lost: Option<(Instant, String)>,
    /// Frames from the hub that arrived before the first PE started.
    pub early: Vec<Frame>,
    /// Whether the hub has said that all nodes are done.
    pub may_leave: bool,
    /// How many PEs have been checked for running another program.
    pub looked: usize,
}

impl OnNode {
    /// Finds a PE of this node that runs another program without having finalised. PEs of other
    /// nodes may wait for it and cannot see that. Checks a few PEs per call, in turn.
    pub fn replaced(&mut self, file: &Arc<JobFile>) -> Option<usize> {
        let near = file.near();
        let (first, most) = (self.looked, near.len().min(AT_ONCE));
        self.looked += most;
        let mut some = (first..first + most).map(|i| near.start + i % near.len());
        some.find(|pe| life::is_replaced(file, *pe))
    }

    /// The agent's descriptor to poll, while it may report something.
    pub fn interest(&self) -> Option<PollFd<'_>> {
        self.agent.as_ref().and_then(Agent::interest)
    }
}
