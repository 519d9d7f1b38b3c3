//! The nodes and PEs that this PE has connected to, and how it ends the job when they cannot be reached.

use crate::failure::{self, ending};
use crate::pe;
use oneshmem_job::engine::exports::Record;
use oneshmem_job::engine::ucx::direct::{DirectConnections, Inbox, PATIENCE};
use oneshmem_job::engine::ucx::message::OPERATIONS;
use oneshmem_job::engine::ucx::raw::RawWorker;
use oneshmem_job::engine::ucx::request::Remote;
use oneshmem_job::engine::ucx::worker::{Connection, Worker};
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::nodes::named;
use oneshmem_job::remote::Segment;
use oneshmem_job::remote::secret::Secret;
use std::fmt::Display;
use std::time::{Duration, Instant};

/// The nodes and PEs that this PE has connected to.
pub struct Peers {
    secret: Secret,
    pub(super) agents: Vec<Option<Agent>>,
    pub(super) pes: Vec<Option<Peer>>,
    pub(super) direct: DirectConnections,
}

/// A node's agent.
pub struct Agent {
    pub(super) connection: Connection,
    /// A PE of the node.
    pe: usize,
    /// The number of the last message to it.
    message: u64,
    /// The number of the last message before a question: when that is answered, all up to here are done.
    before_question: u64,
    /// When its failure was seen first.
    failed: Option<Instant>,
}

/// A PE.
#[derive(Clone, Copy)]
pub struct Peer {
    pub(super) node: usize,
    /// Whether it runs this PE's executable.
    pub(super) same: bool,
    /// Its segments. `None`: it has no partitions, or its static data are another executable's.
    pub(super) segments: [Option<Remote>; Segment::COUNT],
}

impl Peers {
    /// No connections yet.
    pub fn none(nodes: usize, npes: usize, secret: Secret) -> Self {
        let agents = std::iter::repeat_with(|| None).take(nodes).collect();
        let direct = DirectConnections::new(secret.clone());
        Self { secret, agents, pes: vec![None; npes], direct }
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

    /// Notes that the agent of `pe` has been asked something.
    pub fn note_question(&mut self, pe: usize) {
        if let Some(agent) = self.pes[pe].and_then(|peer| self.agents[peer.node].as_mut()) {
            agent.before_question = agent.message;
        }
    }

    /// Whether the agent of `pe` has carried out all messages if it has carried out the one with this
    /// number.
    pub fn is_done(&self, pe: usize, message: u64) -> bool {
        let agent = self.pes[pe].and_then(|peer| self.agents[peer.node].as_ref());
        agent.is_some_and(|agent| agent.message <= message)
    }

    /// All agents that messages after the one with this number went to, and no question after those.
    pub fn unasked(&self, since: u64) -> impl Iterator<Item = Remote> {
        let is_unasked = move |agent: &&Agent| agent.message > since.max(agent.before_question);
        let agents = self.agents.iter().flatten().filter(is_unasked);
        agents.map(|agent| Remote::none(agent.connection, agent.pe))
    }

    /// All agents that this PE has connected to.
    pub fn connected(&self) -> impl Iterator<Item = Remote> {
        self.agents.iter().flatten().map(|agent| Remote::none(agent.connection, agent.pe))
    }

    /// How many messages to a node's agent have been sent later than at once.
    pub fn sent(&self, node: usize) -> u64 {
        self.agents[node].as_ref().map_or(0, |agent| agent.connection.sent())
    }

    /// Connects to the agent with this record of a node, with `pe` among its PEs, if this PE has not yet
    /// done so. Takes at most about `most`.
    pub fn connect(
        &mut self,
        worker: &Worker<Inbox>,
        (node, pe): (usize, usize),
        record: &[u8],
        most: Duration,
    ) -> Result<Connection, Error> {
        if let Some(agent) = &self.agents[node] {
            return Ok(agent.connection);
        }
        let Some(record) = Record::decode(record) else {
            let why = "its node's agent is of another version of this library";
            return Err(Error::Engine(why.into()));
        };
        let failed = |why| Error::Engine(format!("its node's agent: {why}"));
        let handshake = record.access.request(&self.secret, most).map_err(failed)?;
        let connection = worker.connect(&record.address, OPERATIONS)?;
        worker.keep(handshake.announce().map_err(failed)?);
        self.agents[node] =
            Some(Agent { connection, pe, message: 0, before_question: 0, failed: None });
        Ok(connection)
    }

    /// Whether the connection to a node has failed.
    pub fn have_failed(&self) -> bool {
        self.agents.iter().flatten().any(|agent| agent.connection.failure().is_some())
    }

    /// Ends the job if the connection to a node has failed: at once, or, where its PEs may have ended, if what they
    /// have told this PE before does not come.
    pub fn check(&mut self, worker: &RawWorker) {
        let concluded = self.direct.is_concluded();
        for (node, agent) in self.agents.iter_mut().enumerate() {
            let Some(agent) = agent else { continue };
            let Some(status) = agent.connection.failure() else { continue };
            let since = *agent.failed.get_or_insert_with(Instant::now);
            if !concluded || since.elapsed() >= PATIENCE {
                lost_node(node, worker.words(status));
            }
        }
        if let Some((pe, status)) = self.direct.lost() {
            lost(pe, worker.words(status));
        }
    }

    /// Forgets the memory of all PEs: they may export other memory in their next lifetime.
    pub fn reset(&mut self) {
        self.pes.fill(None);
        self.direct.reset();
    }
}

/// Ends the job: `pe` cannot be reached.
#[cold]
pub fn lost(pe: usize, why: impl Display) -> ! {
    match pe::existing().and_then(|job| Some((job, job.nodes()?))) {
        Some((_, nodes)) => lost_node(nodes.node_of(pe), why),
        None => failure::fatal(format_args!("PE {pe} cannot be reached: {why}")),
    }
}

/// Ends the job: a node cannot be reached.
#[cold]
pub fn lost_node(node: usize, why: impl Display) -> ! {
    let job = pe::existing().inspect(|job| ending::give_way(job));
    let here = job.and_then(|job| job.nodes()).map(|nodes| name(nodes.own()));
    let here = here.map(|here| format!(" from {here}")).unwrap_or_default();
    failure::fatal(format_args!("{} cannot be reached{here}: {why}", name(node)))
}

/// A node for people.
pub fn name(node: usize) -> String {
    let Some(nodes) = pe::existing().and_then(|job| job.nodes()) else {
        return format!("node {node}");
    };
    let pes = nodes.pes(node);
    format!("node {} with {}", nodes.host(node), named(pes.start, pes.len()))
}

/// Ends the job: operations failed, but it is not known on which PE.
#[cold]
pub fn lost_somewhere(why: impl Display) -> ! {
    pe::existing().inspect(|job| ending::give_way(job));
    failure::fatal(format_args!("operations on PEs of other nodes failed: {why}"))
}
