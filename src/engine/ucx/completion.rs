//! When operations have taken effect: when their agents answer what was asked after them.
#![allow(unsafe_code)]

use super::state::State;
use crate::error::Error;

/// The completion of all operations that were issued before it began.
pub struct Completion {
    /// The last of them.
    last: u64,
    /// How many questions had been asked by then. All of them must be answered: those about the
    /// operations, and nonblocking gets.
    asked: u64,
}

impl Completion {
    /// Asks for it.
    pub fn begin(state: &mut State) -> Result<Self, Error> {
        let State { worker, pending, peers, progress, .. } = state;
        for agent in peers.messaged(progress.complete) {
            // SAFETY: the worker accepts answers to these pending requests.
            unsafe { worker.ask_for_answer(pending, agent) }?;
        }
        Ok(Self { last: progress.issued, asked: pending.asked() })
    }

    /// Whether it has been reached. To be called after each progress.
    pub fn is_over(&self, state: &mut State) -> bool {
        let State { pending, progress, kept, .. } = state;
        let over = pending.are_answered(self.asked);
        if over {
            progress.complete = progress.complete.max(self.last);
            kept.retain(|(number, _)| *number > progress.complete);
        }
        over
    }
}
