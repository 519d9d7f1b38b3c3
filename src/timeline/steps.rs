//! The steps of initialisation, which are over before anything can be recorded.

use super::event::{Kind, Peer};
use super::recorder::recorder;
use super::ring::Head;
use crate::sys::clock;

/// When initialisation began, and when each of its steps ended.
pub(crate) struct Steps {
    begin: u64,
    ended: Vec<(&'static str, u64)>,
}

impl Steps {
    /// Initialisation begins.
    pub fn begin() -> Self {
        Self { begin: clock::nanoseconds(), ended: Vec::with_capacity(8) }
    }

    /// A step has ended.
    pub fn end(&mut self, name: &'static str) {
        self.ended.push((name, clock::nanoseconds()));
    }

    /// Records all of them, if recording is on.
    pub fn record(&self) {
        let Some(recorder) = recorder() else { return };
        recorder.set(Head::Begin, self.begin);
        let mut begin = self.begin;
        for &(name, end) in &self.ended {
            recorder.record(name, None, (Kind::Step, begin, end), 0, Peer::None, 0);
            begin = end;
        }
    }
}
