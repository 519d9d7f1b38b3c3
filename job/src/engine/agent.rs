//! A node's agent: the process that PEs on other nodes communicate with. It maps the slots of its
//! node's PEs, and carries out the operations that arrive for them, whatever the PEs
//! themselves are doing. It sleeps when nothing has arrived for a while.

use super::polls::Polls;
use super::ucx::server::Server;
use crate::codec;
use crate::error::Error;
use crate::jobfile::JobFile;
use crate::jobfile::control::Control;
use crate::jobfile::nodes::{Nodes, RECORD_BYTES};
use crate::jobfile::{abort, life};
use onenode_core::sys::process;
use onenode_core::text::whole_characters;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest time that the agent sleeps.
const SLEEP: Duration = Duration::from_millis(500);

/// A report of an agent to the process that started it, over a pipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The record by which other nodes reach it.
    Record(Vec<u8>),
    /// The reason why it cannot serve.
    Failure(String),
}

impl Report {
    /// The most bytes of an encoded report, with its kind and length: fewer than `PIPE_BUF`, so it arrives whole.
    pub const MOST_BYTES: usize = RECORD_BYTES + 8;

    /// A failure, whose reason is cut if it is too long.
    pub fn failure(why: &str) -> Self {
        Self::Failure(why[..whole_characters(why, RECORD_BYTES)].to_owned())
    }

    /// Encodes it for the pipe.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Decodes a report; `None` if there is none: the agent has ended before.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        codec::decode_first(bytes).map(|(report, _)| report)
    }
}

/// Serves the PEs of this node, in a process of its own. `publish` is called once, with the
/// record by which other nodes reach the agent. Returns only on failure.
///
/// # Errors
/// If UCX is not available, or memory cannot be mapped or registered.
pub fn serve(job: Arc<JobFile>, publish: &mut dyn FnMut(&[u8])) -> Result<Infallible, Error> {
    let table = job.clone();
    let route = job.nodes().map(Nodes::route).unwrap_or_default();
    let hosts = job.nodes().map(Nodes::addresses).unwrap_or_default();
    let (worker, record) = Server::open(job.near(), (&route, &hosts), move || table.secret())?;
    // PEs must not get the agent's port after its end.
    if let Some(nodes) = job.nodes() {
        record.access.listens.iter().for_each(|at| _ = nodes.claim(at.port()));
    }
    publish(&record.encode());
    let server = worker.receiver();
    let mut end = Shutdown::NotBegun;
    let mut polls = Polls::new(Instant::now());
    loop {
        // Makes no progress once the job has ended, as PEs: these end then, also those that still connect, and UCX
        // aborts a process whose partner does.
        let has_ended = abort::cause(&job).is_some();
        let mut came = false;
        while !has_ended && worker.progress() {
            came = true;
        }
        server.served.borrow_mut().update(&job)?;
        end.advance(&job, server.end.get());
        let now = Instant::now();
        if came {
            polls.message(now);
        }
        if has_ended {
            process::sleep(end.patience());
        } else if polls.again(now) {
            process::yield_cpu();
            polls.yielded(now, Instant::now());
        } else if worker.arm()? {
            worker.doorbell().sleep(end.patience());
        }
    }
}

/// How far the agent has ended its node's part of a job that another node has reported as ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shutdown {
    /// No end has been reported: the job goes on.
    NotBegun,
    /// The abort word was set at this time: PEs that wait see it.
    Announced(Instant),
    /// PEs that compute have got a signal, too.
    Signalled,
}

impl Shutdown {
    /// Ends the job on this node when another node has reported its end with this abort word: PEs that
    /// wait see the word; those that compute get a signal, a little later.
    fn advance(&mut self, job: &Arc<JobFile>, word: u64) {
        match *self {
            Self::NotBegun if word == 0 => {}
            Self::NotBegun => {
                abort::accept(job, word);
                *self = Self::Announced(Instant::now());
            }
            Self::Announced(time) if time.elapsed() >= abort::NOTICE => {
                *self = Self::Signalled;
                for pe in job.near() {
                    if let Ok(Some(control)) = Control::last(job, pe) {
                        life::notify_end(&control, pe);
                    }
                }
            }
            Self::Announced(_) | Self::Signalled => {}
        }
    }

    /// How long the agent may sleep.
    fn patience(self) -> Duration {
        if matches!(self, Self::Announced(_)) { abort::NOTICE } else { SLEEP }
    }
}
