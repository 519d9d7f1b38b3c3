//! `--top`: at intervals, what the PEs do, and how fast.

use onenode_core::atomics::Ordering;
use oneshmem_job::jobfile::JobFile;
use oneshmem_tools::live::Live;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The lines that `--top` prints while a job runs.
pub struct Top {
    live: Live,
    every: Duration,
    begin: Instant,
    next: Instant,
}

impl Top {
    /// Lets the PEs of a job, none of which runs yet, count what they do, and tells of them `every` so often;
    /// not at all if that is zero.
    pub fn new(file: &Arc<JobFile>, every: Duration, begin: Instant) -> Option<Self> {
        file.header().statistics.store(1, Ordering::Relaxed);
        let live = Live::begun(file.clone(), begin);
        (!every.is_zero()).then(|| Self { live, every, begin, next: begin + every })
    }

    /// When to tell next.
    pub fn due(&self) -> Instant {
        self.next
    }

    /// The lines to print, if it is time: for the PEs of this node, of which the launcher has started these.
    pub fn look(&mut self, processes: impl Iterator<Item = u32>) -> Option<Vec<String>> {
        let now = Instant::now();
        if now < self.next {
            return None;
        }
        self.next = now + self.every;
        let time = now - self.begin;
        Some(match self.live.sample(Some(&processes.collect::<Vec<_>>())) {
            Ok(sample) => sample.report(time),
            Err(error) => vec![format!("--top: {error}")],
        })
    }
}
