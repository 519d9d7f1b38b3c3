//! When operations have taken effect: when their agents answer what was asked after them.
#![allow(unsafe_code)]

use super::state::State;
use crate::error::Error;

/// The completion of all operations that were issued before it began.
pub struct Completion {
    last: u64,
    /// The questions that are not answered yet.
    open: Vec<u64>,
}

impl Completion {
    /// Asks for it.
    pub fn begin(state: &mut State) -> Result<Self, Error> {
        let State { worker, wishes, peers, progress, .. } = state;
        let mut open = Vec::new();
        for exports in peers.messaged(progress.complete) {
            // SAFETY: the worker accepts answers to these wishes.
            open.push(unsafe { worker.ask_for_answer(wishes, exports) }?);
        }
        Ok(Self { last: progress.issued, open })
    }

    /// Whether it has been reached. To be called after each progress.
    pub fn is_over(&mut self, state: &mut State) -> bool {
        let State { wishes, progress, kept, .. } = state;
        self.open.retain(|number| !wishes.is_answered(*number));
        if self.open.is_empty() {
            progress.complete = progress.complete.max(self.last);
            kept.retain(|(number, _)| *number > progress.complete);
        }
        self.open.is_empty()
    }
}
