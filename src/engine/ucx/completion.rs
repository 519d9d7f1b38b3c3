//! When operations have taken effect. A message has been carried out when its agent answers what was
//! asked after it; a get has a request of its own.

use super::bindings::Status;
use super::operations::Request;
use super::state::State;
use crate::error::Error;

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
        for exports in peers.messaged(progress.complete) {
            open.extend(worker.ask(exports)?);
        }
        Ok(Self { last: progress.issued, open })
    }

    /// Whether it has been reached. To be called after each progress.
    pub fn is_over(&mut self, state: &mut State) -> Result<bool, Status> {
        let State { worker, progress, gets, kept, .. } = state;
        while gets.front().is_some_and(|(number, _)| *number <= self.last) {
            let Some((number, request)) = gets.pop_front() else { break };
            if let Some(open) = worker.outcome(request)? {
                gets.push_front((number, open));
                return Ok(false);
            }
        }
        let over = worker.are_over(&mut self.open)?;
        if over {
            progress.complete = progress.complete.max(self.last);
            kept.retain(|(number, _)| *number > progress.complete);
        }
        Ok(over)
    }
}
