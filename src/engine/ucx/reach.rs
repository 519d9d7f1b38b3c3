//! The first use of a PE on another node: connects to the node's agent and fetches the PE's keys.
#![allow(unsafe_code)]

use super::direct::DirectConnections;
use super::operations::Remote;
use super::worker::{Endpoint, Worker};
use super::{State, Ucx};
use crate::atomics::Ordering;
use crate::engine::exports::{EXPORT_BYTES, Export, Record};
use crate::engine::{CONTROL, HEAP, PARTITIONS, STATISTICS};
use crate::error::Error;
use crate::failure;
use crate::job::about::About;
use crate::job::{self, Job, ending};
use crate::pause::Pause;
use crate::sys::socket;
use std::fmt::Display;
use std::time::Duration;

/// How long another node may leave probes unanswered.
const SILENCE: Duration = Duration::from_secs(16);

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
    agents: Vec<Option<Agent>>,
    pes: Vec<Option<Peer>>,
    pub(super) direct: DirectConnections,
}

/// A node's agent.
struct Agent {
    endpoint: Endpoint,
    exports: Remote,
    /// The number of the last message to it.
    message: u64,
}

/// A PE.
#[derive(Clone, Copy)]
struct Peer {
    node: usize,
    /// Not all PEs have partitions.
    segments: [Option<Remote>; 5],
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

    /// The exports of the agent of `pe`, to which this PE has connected.
    pub fn exports(&self, pe: usize) -> Option<Remote> {
        self.agents[self.pes[pe]?.node].as_ref().map(|agent| agent.exports)
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
        let exports = worker.remote(&endpoint, exports.base, exports.bytes, &exports.key)?;
        self.agents[node] = Some(Agent { endpoint, exports, message: 0 });
        Ok(exports)
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

    /// Releases the keys of all PEs: they may export other memory in their next lifetime.
    pub fn forget(&mut self, worker: &Worker) {
        for peer in self.pes.iter_mut().filter_map(Option::take) {
            peer.segments.into_iter().flatten().for_each(|remote| worker.forget(remote));
        }
        self.direct.forget();
    }
}

impl Ucx {
    /// Makes the segments of a PE accessible. Waits until that PE has begun the lifetime that this
    /// PE is in.
    #[cold]
    pub(super) fn reach(&self, pe: usize) {
        let Some(job) = job::existing() else { lost(pe, "there is no job") };
        let Some(nodes) = job.nodes() else { lost(pe, "there is one node") };
        let node = nodes.node_of(pe);
        let mut pause = Pause::about(About::Initialisation(pe));
        let record = loop {
            match nodes.agent(node) {
                Some(record) => break record,
                None => pause.step(),
            }
        };
        self.connect(pe, node, &record);
        let exports = nodes.pes(node).start;
        let export = loop {
            match self.export(pe, node, pe - exports).filter(|export| export.life >= job.life()) {
                Some(export) => break export,
                None => pause.step(),
            }
        };
        check(job, pe, &export);
        // Without this limit, a connection to an unreachable node lasts as long as TCP retries.
        if let Some(Record { listens, .. }) = Record::decode(&record) {
            socket::limit_silence(&listens, SILENCE);
        }
        let mut state = self.state();
        let state = &mut *state;
        let Some(agent) = &state.peers.agents[node] else { lost(pe, "not connected") };
        if state.peers.pes[pe].is_none() {
            let Export { data, heap, partitions, control, statistics, .. } = &export;
            let segments = [data, heap, partitions, control, statistics].map(|segment| {
                if segment.bytes == 0 {
                    return None;
                }
                let remote =
                    state.worker.remote(&agent.endpoint, segment.base, segment.bytes, &segment.key);
                Some(remote.unwrap_or_else(|error| lost(pe, error)))
            });
            state.peers.pes[pe] = Some(Peer { node, segments });
            if !export.worker.is_empty() {
                state.peers.direct.note(pe, export.worker);
            }
        }
    }

    fn connect(&self, pe: usize, node: usize, record: &[u8]) {
        let mut state = self.state();
        let State { worker, peers, .. } = &mut *state;
        if let Err(error) = peers.connect(worker, node, record) {
            lost(pe, error)
        }
    }

    /// The current export of a PE, read from its agent.
    fn export(&self, pe: usize, node: usize, index: usize) -> Option<Export> {
        let mut bytes = [0; EXPORT_BYTES];
        let place = bytes.as_mut_ptr();
        let request = {
            let state = self.state();
            let exports = state.peers.agents[node].as_ref()?.exports;
            let offset = (index * EXPORT_BYTES) as u64;
            // SAFETY: the bytes outlive the request, which is finished below.
            unsafe { state.worker.get(place, exports, offset, EXPORT_BYTES) }
        };
        self.finish(request.unwrap_or_else(|error| lost(pe, error)), Some(pe));
        Export::decode(&bytes)
    }
}

/// Ends the job unless a far PE runs the same program with the same settings.
fn check(job: &Job, pe: usize, export: &Export) {
    let (programs, _) = export.life;
    if programs != job.life().0 {
        lost(
            pe,
            format_args!(
                "it runs program {programs} of the job and this PE {}: all PEs must run the same \
             programs",
                job.life().0
            ),
        );
    }
    if export.partitions_number != job.control().pe(job.pe()).partitions.load(Ordering::Relaxed) {
        lost(
            pe,
            "it has other partitions than this PE; SHMEM_SYMMETRIC_PARTITION<number> must be the \
             same on all PEs",
        );
    }
    let sizes = [&export.data, &export.heap].map(|segment| segment.bytes as usize);
    if let Err(error) = job.check_slot(sizes, export.image, export.backend) {
        lost(pe, error);
    }
}

/// Ends the job: `pe` cannot be reached.
#[cold]
pub fn lost(pe: usize, why: impl Display) -> ! {
    match job::existing().and_then(|job| Some((job, job.nodes()?))) {
        Some((_, nodes)) => lost_node(nodes.node_of(pe), why),
        None => failure::fatal(format_args!("PE {pe} cannot be reached: {why}")),
    }
}

/// Ends the job: a node cannot be reached.
#[cold]
fn lost_node(node: usize, why: impl Display) -> ! {
    let told = job::existing().and_then(|job| job.nodes()).map(|nodes| {
        let pes = nodes.pes(node);
        match pes.len() {
            1 => format!("node {} with PE {}", nodes.host(node), pes.start),
            _ => format!("node {} with PEs {} to {}", nodes.host(node), pes.start, pes.end - 1),
        }
    });
    let told = told.unwrap_or_else(|| format!("node {node}"));
    job::existing().inspect(|job| ending::give_way(job));
    failure::fatal(format_args!("{told} cannot be reached: {why}"))
}

/// Ends the job: operations failed, but it is not known on which PE.
#[cold]
pub fn lost_somewhere(why: impl Display) -> ! {
    job::existing().inspect(|job| ending::give_way(job));
    failure::fatal(format_args!("operations on PEs of other nodes failed: {why}"))
}
