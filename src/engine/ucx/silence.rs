//! Agents that do not answer: a PE that waits for one says so, because nothing else would. A process
//! that is stopped keeps its connections.
#![allow(unsafe_code)]

use super::lost;
use super::peers::Peers;
use super::pending::PendingRequests;
use super::worker::Worker;
use crate::job;
use crate::message;
use std::time::{Duration, Instant};

/// How long an agent may take to answer until the PE says so.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a PE that waits for something else asks the agents whether they are there.
const PROBE: Duration = Duration::from_secs(5);

/// What a PE knows of answers that do not come.
pub struct Silence {
    /// The oldest open question, since when it has been that, and whether the PE has said so.
    open: Option<(u64, Instant, bool)>,
    /// When the agents were last asked.
    probed: Instant,
}

impl Default for Silence {
    fn default() -> Self {
        Self { open: None, probed: Instant::now() }
    }
}

impl Silence {
    /// Looks for an agent that does not answer. To be called from time to time by a thread that waits.
    ///
    /// # Safety
    /// These are the pending requests whose answers the worker accepts.
    pub unsafe fn look(&mut self, worker: &Worker, pending: &PendingRequests, peers: &Peers) {
        let now = Instant::now();
        let Some((number, pe)) = pending.oldest() else {
            self.open = None;
            if now - self.probed >= PROBE {
                self.probed = now;
                for agent in peers.connected() {
                    // If it fails, so has the connection, which others notice.
                    // SAFETY: the caller guarantees that the worker accepts answers to these pending requests.
                    let _ = unsafe { worker.ask_for_answer(pending, agent) };
                }
            }
            return;
        };
        match &mut self.open {
            Some((before, since, named)) if *before == number => {
                if !*named && now - *since >= PATIENCE {
                    *named = true;
                    let node = job::existing().and_then(|job| job.nodes()).map(|it| it.node_of(pe));
                    message::say(format_args!(
                        "{} has not answered for {} s: its agent (process oshrun-agent) is stopped, or \
                         the host is; still waiting",
                        lost::name(node.unwrap_or_default()),
                        PATIENCE.as_secs()
                    ));
                }
            }
            open => *open = Some((number, now, false)),
        }
    }
}
