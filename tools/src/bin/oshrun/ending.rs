//! The early end of a job. PEs that wait in the library are notified first and leave by themselves,
//! flushing their output. The others get SIGTERM, and those still running then get SIGKILL. All of
//! this takes less than a second.

use super::orphans::{OrphanFilter, Orphans};
use super::process::Process;
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};

/// How long PEs have to leave by themselves.
const LEAVE: Duration = Duration::from_millis(250);
/// How long PEs have to react to SIGTERM.
const TERMINATE: Duration = Duration::from_millis(400);

/// A job's end in progress.
pub struct Ending {
    /// The exit status of the job.
    pub status: i32,
    /// The next signal to send, and when.
    next: Option<(Signal, Instant)>,
}

impl Ending {
    /// Begins to end the job with this status.
    pub fn start(status: i32) -> Self {
        Self { status, next: Some((Signal::SIGTERM, Instant::now() + LEAVE)) }
    }

    /// When the next step is due.
    pub fn due(&self) -> Option<Instant> {
        self.next.map(|(_, due)| due)
    }

    /// Takes the next step if it is due.
    pub fn step(&mut self, processes: &[Process], orphans: &Orphans) {
        let Some((signal, _)) = self.next.filter(|(_, due)| *due <= Instant::now()) else { return };
        // A stopped process does not handle SIGTERM until it continues.
        for signal in [signal, Signal::SIGCONT] {
            for process in processes.iter().filter(|process| process.end().is_none()) {
                process.signal(signal);
            }
            orphans.signal(signal, OrphanFilter::All);
        }
        self.next = match signal {
            Signal::SIGTERM => Some((Signal::SIGKILL, Instant::now() + TERMINATE)),
            _ => None,
        };
    }
}
