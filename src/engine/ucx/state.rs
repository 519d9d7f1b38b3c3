//! What a PE knows of its connections to other nodes.

use super::alarm::Alarm;
use super::direct::Inbox;
use super::messages::Parts;
use super::peers::Peers;
use super::pending::PendingRequests;
use super::progress::Progress;
use super::silence::Silence;
use super::worker::{Doorbell, Worker};
use std::sync::{Mutex, MutexGuard};

/// The state that the PE's threads share.
pub struct Shared {
    pub state: Mutex<State>,
    pub doorbell: Doorbell,
    pub alarm: Alarm,
}

/// The state that one thread uses at a time.
pub struct State {
    pub worker: Worker,
    pub inbox: Box<Inbox>,
    pub pending: Box<PendingRequests>,
    pub peers: Peers,
    pub progress: Progress,
    pub silence: Silence,
    /// What operations need until they are complete, with their numbers.
    pub kept: Vec<(u64, Parts)>,
    /// Whether the progress thread has been notified of outstanding operations.
    pub armed: bool,
    /// How many threads wait for something, and make progress while they wait.
    pub waiting: usize,
}

impl Shared {
    /// The state, when no other thread uses it.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl State {
    /// Makes progress; false if there was nothing to do.
    pub fn advance(&mut self) -> bool {
        let came = self.worker.progress();
        self.peers.direct.answer(&self.worker);
        came
    }

    /// Whether no connection to a PE is under way. None begins after this.
    pub fn are_connections_settled(&mut self) -> bool {
        self.peers.direct.finish(&self.worker)
    }

    /// Ends the job if the connection to a node has failed.
    pub fn check(&mut self) {
        self.peers.check(&self.worker);
    }
}
