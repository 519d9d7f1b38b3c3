//! The steps of initialisation, which are over before anything can be recorded.

use super::recorder::recorder;
use crate::sys::clock;
use oneshmem_job::timeline::event::{Kind, Peer};
use oneshmem_job::timeline::ring::Head;

/// When initialisation began, and when each of its steps ended, if that will be recorded.
pub(crate) struct Steps(Option<StepTimes>);

struct StepTimes {
    begin: u64,
    ended: Vec<(&'static str, u64)>,
}

impl Steps {
    /// Initialisation begins. `is_recorded`: its steps will be recorded.
    pub fn begin(is_recorded: bool) -> Self {
        let times = || StepTimes { begin: clock::nanoseconds(), ended: Vec::new() };
        Self(is_recorded.then(times))
    }

    /// A step has ended.
    pub fn end(&mut self, name: &'static str) {
        if let Some(times) = &mut self.0 {
            times.ended.push((name, clock::nanoseconds()));
        }
    }

    /// Records all of them, if recording is on.
    pub fn record(&self) {
        let (Some(times), Some(recorder)) = (&self.0, recorder()) else { return };
        recorder.set(Head::Begin, times.begin);
        let mut begin = times.begin;
        for &(name, end) in &times.ended {
            recorder.record(name, None, (Kind::Step, begin, end), 0, Peer::None, 0);
            begin = end;
        }
    }
}
