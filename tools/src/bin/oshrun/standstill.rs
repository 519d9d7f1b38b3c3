//! A job in which every PE waits for another one: nothing will happen any more, unless somebody
//! outside helps. The user is told once; the job is not ended, since there may be such help.

use super::process::Process;
use super::report;
use oneshmem::job::file::JobFile;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long all PEs must have waited.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to look.
const INTERVAL: Duration = Duration::from_secs(2);

/// Looks for a standstill now and then.
pub struct Standstill {
    next: Instant,
    told: bool,
}

impl Standstill {
    /// Of a job that starts now.
    pub fn new() -> Self {
        Self { next: Instant::now() + INTERVAL, told: false }
    }

    /// When to look next.
    pub fn due(&self) -> Instant {
        self.next
    }

    /// Looks if that is due. Gives whether the job stands still, if that has changed since the last
    /// look.
    pub fn look(&mut self, file: &Arc<JobFile>, processes: &[Process]) -> Option<bool> {
        let now = Instant::now();
        if now < self.next {
            return None;
        }
        self.next = now + INTERVAL;
        let mut running = file.near().zip(processes).filter(|(_, process)| process.end().is_none());
        // The first PE that does not wait settles it, so looking costs little.
        let waits = |pe| report::wait_of(file, pe).is_some_and(|wait| wait.lasted >= PATIENCE);
        let stands = processes.len() == file.near().len() && running.all(|(pe, _)| waits(pe));
        let is_new = stands != self.told;
        self.told = stands;
        is_new.then_some(stands)
    }

    /// What to say.
    pub fn message() -> String {
        format!("every PE has been waiting for over {PATIENCE:?}; the job stands still")
    }
}
