//! The first use of a PE on another node: connects to the node's agent and asks where the PE's memory is.
#![allow(unsafe_code)]

use super::Ucx;
use super::connections::{Peer, lost};
use super::progress::State;
use crate::atomics::Ordering;
use crate::failure::ending;
use crate::pause::{Pause, liveness};
use crate::pe::about::About;
use crate::pe::{self, Job};
use oneshmem_job::engine::exports::{self, EXPORT_BYTES, Export, Record};
use oneshmem_job::engine::ucx::message::Question;
use oneshmem_job::engine::ucx::request::Remote;
use oneshmem_job::engine::ucx::worker::SendTiming;
use oneshmem_job::remote::Segment;
use std::time::Duration;

/// How long a node's agent may take to admit a PE. A thread of its own does that.
const ADMISSION: Duration = Duration::from_secs(30);

impl Ucx {
    /// Makes the segments of a PE accessible. Waits until that PE has begun the lifetime that this
    /// PE is in.
    #[cold]
    pub(super) fn reach(&self, pe: usize) {
        let Some(job) = pe::existing() else { lost(pe, "there is no job") };
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
        let export = loop {
            let bytes = self.export(pe, node);
            match Export::decode(&bytes) {
                Some(export) if export.life >= job.life() => break export,
                earlier if exports::has_ended(&bytes) => {
                    ending::give_way(job);
                    let has_begun = earlier.is_some_and(|it| it.life.0 == job.life().0);
                    liveness::lose_missing(job, pe, has_begun)
                }
                _ => pause.step(),
            }
        };
        let same = check(job, pe, &export);
        let mut state = self.shared.state();
        let state = &mut *state;
        let Some(agent) = &state.peers.agents[node] else { lost(pe, "not connected") };
        if state.peers.pes[pe].is_none() {
            let segments = Segment::ALL.map(|segment| match export.sizes[segment as usize] {
                0 => None,
                _ if segment == Segment::Data && !same => None,
                bytes => Some(Remote::of(agent.connection, pe, segment, bytes, export.life)),
            });
            state.peers.pes[pe] = Some(Peer { node, same, segments });
            if let Some(record) = Record::decode(&export.worker) {
                state.peers.direct.note(pe, record);
            }
        }
    }

    fn connect(&self, pe: usize, node: usize, record: &[u8]) {
        let mut state = self.shared.state();
        let State { worker, peers, .. } = &mut *state;
        if let Err(error) = peers.connect(worker, (node, pe), record, ADMISSION) {
            lost(pe, error)
        }
    }

    /// The current export of a PE, as its agent has encoded it.
    fn export(&self, pe: usize, node: usize) -> [u8; EXPORT_BYTES] {
        let mut bytes = [0; EXPORT_BYTES];
        let number = {
            let mut state = self.shared.state();
            let agent = state.peers.agents[node].as_ref();
            let agent = agent.unwrap_or_else(|| lost(pe, "not connected"));
            let agent = Remote::none(agent.connection, pe);
            state.peers.note_question(pe);
            let (worker, to) = (&state.worker, bytes.as_mut_ptr());
            let requests = &worker.receiver().requests;
            // SAFETY: the bytes stay until the answer has come, below.
            unsafe { requests.ask(worker, (agent, 0), Question::Export, to, SendTiming::AtOnce) }
        };
        let number = number.unwrap_or_else(|error| lost(pe, error));
        self.shared.wait(|state| state.is_answered(number));
        bytes
    }
}

/// Ends the job unless a far PE runs the same program of the job with the same settings. Returns whether
/// it is the same executable, too.
fn check(job: &Job, pe: usize, export: &Export) -> bool {
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
    let [data, heap] = [Segment::Data, Segment::Heap].map(|it| export.sizes[it as usize] as usize);
    if let Err(error) = job.check_sizes(heap, export.backend) {
        lost(pe, error);
    }
    job.is_own_image(export.image, data)
}
