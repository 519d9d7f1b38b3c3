//! Detects a standstill: every PE waits for another, and nothing will happen without outside help.
//! The user is notified once. The job is not ended, since help may come.

use super::process::Process;
use super::report;
use oneshmem_job::jobfile::JobFile;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long all PEs must have waited.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to look.
const INTERVAL: Duration = Duration::from_secs(2);

/// Checks for a standstill at intervals.
pub struct Standstill {
    next: Instant,
    reported: bool,
}

impl Standstill {
    /// For a job that starts now.
    pub fn new() -> Self {
        Self { next: Instant::now() + INTERVAL, reported: false }
    }

    /// When to check next.
    pub fn due(&self) -> Instant {
        self.next
    }

    /// Gives all PEs their time again: the job was stopped and goes on, and waits have lasted as
    /// long as that.
    pub fn begin_again(&mut self) {
        self.next = Instant::now() + PATIENCE;
    }

    /// Checks if that is due. Returns whether the job stands still, if that has changed since the
    /// last check.
    pub fn look(&mut self, file: &Arc<JobFile>, processes: &[Process]) -> Option<bool> {
        let now = Instant::now();
        if now < self.next {
            return None;
        }
        self.next = now + INTERVAL;
        let running = file.near().zip(processes).filter(|(_, process)| process.end().is_none());
        let mut running = running.map(|(pe, _)| pe).peekable();
        // Stop at the first PE that does not wait, so that the check costs little. PEs that have
        // ended do not wait either.
        let waits = |pe| report::wait_of(file, pe).is_some_and(|wait| wait.lasted >= PATIENCE);
        let all_started = processes.len() == file.near().len();
        let stands = all_started && running.peek().is_some() && running.all(waits);
        let is_new = stands != self.reported;
        self.reported = stands;
        is_new.then_some(stands)
    }

    /// The message for the user.
    pub fn message() -> String {
        format!("all PEs have been waiting for more than {PATIENCE:?}")
    }
}
