//! The nodes and PEs that this PE has connected to.

use super::direct::DirectConnections;
use super::lost::{lost, lost_node};
use super::operations::Remote;
use super::worker::{Endpoint, Worker};
use crate::engine::exports::Record;
use crate::engine::{CONTROL, HEAP, PARTITIONS, STATISTICS};
use crate::error::Error;

/// A part of a PE's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Its data segment.
    Data,
    /// Its heap.
    Heap,
    /// Its partitions.
    Partitions,
    /// The control area of its node.
    Control,
    /// The statistics of its node.
    Statistics,
}

impl Segment {
    /// The segment that an offset lies in, and the offset within it.
    pub fn of(offset: u64) -> (Self, u64) {
        match offset {
            STATISTICS.. => (Self::Statistics, offset - STATISTICS),
            CONTROL.. => (Self::Control, offset - CONTROL),
            PARTITIONS.. => (Self::Partitions, offset - PARTITIONS),
            HEAP.. => (Self::Heap, offset - HEAP),
            _ => (Self::Data, offset),
        }
    }
}

/// The nodes and PEs that this PE has connected to.
pub struct Peers {
    pub(super) agents: Vec<Option<Agent>>,
    pub(super) pes: Vec<Option<Peer>>,
    pub(super) direct: DirectConnections,
}

/// A node's agent.
pub struct Agent {
    pub(super) endpoint: Endpoint,
    pub(super) exports: Remote,
    /// The number of the last message to it.
    message: u64,
}

/// A PE.
#[derive(Clone, Copy)]
pub struct Peer {
    pub(super) node: usize,
    /// Not all PEs have partitions.
    pub(super) segments: [Option<Remote>; 5],
}

impl Peers {
    /// No connections yet.
    pub fn none(nodes: usize, npes: usize) -> Self {
        let agents = std::iter::repeat_with(|| None).take(nodes).collect();
        Self { agents, pes: vec![None; npes], direct: DirectConnections::default() }
    }

    /// A segment of a PE, if this PE has connected to it.
    pub fn segment(&self, pe: usize, segment: Segment) -> Option<Remote> {
        self.pes[pe].and_then(|peer| peer.segments[segment as usize])
    }

    /// Notes that the message with this number goes to `pe`.
    pub fn note(&mut self, pe: usize, message: u64) {
        if let Some(agent) = self.pes[pe].and_then(|peer| self.agents[peer.node].as_mut()) {
            agent.message = message;
        }
    }

    /// Whether the agent of `pe` has carried out all messages if it has carried out the one with this
    /// number.
    pub fn is_done(&self, pe: usize, message: u64) -> bool {
        let agent = self.pes[pe].and_then(|peer| self.agents[peer.node].as_ref());
        agent.is_some_and(|agent| agent.message <= message)
    }

    /// The exports of all agents that messages after the one with this number went to.
    pub fn messaged(&self, since: u64) -> impl Iterator<Item = Remote> {
        let agents = self.agents.iter().flatten();
        agents.filter(move |agent| agent.message > since).map(|agent| agent.exports)
    }

    /// Connects to a node's agent with this record, if this PE has not yet done so. Returns where
    /// the exports of the node's PEs are.
    pub fn connect(
        &mut self,
        worker: &Worker,
        node: usize,
        record: &[u8],
    ) -> Result<Remote, Error> {
        if let Some(agent) = &self.agents[node] {
            return Ok(agent.exports);
        }
        let Some(Record { address, exports, .. }) = Record::decode(record) else {
            let why = "its node's agent is of another version of this library";
            return Err(Error::Engine(why.into()));
        };
        let endpoint = worker.connect(&address)?;
        let exports = Remote::of(&endpoint, exports);
        self.agents[node] = Some(Agent { endpoint, exports, message: 0 });
        Ok(exports)
    }

    /// Whether the connection to a node has failed.
    pub fn have_failed(&self) -> bool {
        self.agents.iter().flatten().any(|agent| agent.endpoint.failure().is_some())
    }

    /// Ends the job if the connection to a node has failed.
    pub fn check(&mut self, worker: &Worker) {
        for (node, agent) in self.agents.iter().enumerate() {
            if let Some(status) = agent.as_ref().and_then(|agent| agent.endpoint.failure()) {
                lost_node(node, worker.words(status));
            }
        }
        if let Some((pe, status)) = self.direct.lost() {
            lost(pe, worker.words(status));
        }
    }

    /// Forgets the memory of all PEs: they may export other memory in their next lifetime.
    pub fn forget(&mut self) {
        self.pes.fill(None);
        self.direct.forget();
    }
}
