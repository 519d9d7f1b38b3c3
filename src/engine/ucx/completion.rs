//! When operations have taken effect on their targets. A flush of UCX's covers its puts; a message
//! has been carried out when its agent answers what was asked after it.

use super::State;
use super::bindings::Status;
use super::operations::Request;
use crate::error::Error;

/// How far this PE's operations without a result have come, by their numbers.
#[derive(Default)]
pub struct Progress {
    /// The last one issued.
    pub issued: u64,
    /// The last one that a quiet has to wait for.
    pub owed: u64,
    /// The last one that is known to be complete, with all before.
    pub complete: u64,
    /// The last one that needs a flush.
    flushed_by: u64,
}

impl Progress {
    /// Counts an operation; returns its number. `owed`: quiets wait for it.
    pub fn count(&mut self, owed: bool) -> u64 {
        self.issued += 1;
        if owed {
            self.owed = self.issued;
        }
        self.issued
    }

    /// Counts an operation that needs a flush and that quiets wait for.
    pub fn count_transfer(&mut self) {
        self.flushed_by = self.count(true);
    }
}

/// The completion of all operations that were issued before it began.
pub struct Completion {
    last: u64,
    open: Vec<Request>,
}

impl Completion {
    /// Asks for it.
    pub fn begin(state: &mut State) -> Result<Self, Error> {
        let State { worker, peers, progress, .. } = state;
        let mut open = Vec::new();
        if progress.flushed_by > progress.complete {
            open.extend(worker.flush()?);
        }
        for exports in peers.messaged(progress.complete) {
            open.extend(worker.ask(exports)?);
        }
        Ok(Self { last: progress.issued, open })
    }

    /// Whether it has been reached. To be called after each progress.
    pub fn is_over(&mut self, state: &mut State) -> Result<bool, Status> {
        let State { worker, progress, kept, .. } = state;
        let over = worker.are_over(&mut self.open)?;
        if over {
            progress.complete = progress.complete.max(self.last);
            kept.retain(|(number, _)| *number > progress.complete);
        }
        Ok(over)
    }
}
