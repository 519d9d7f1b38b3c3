//! How a job is brought to its end before its time: first the PEs that wait in the
//! library are told and leave by themselves, flushing their output; the others get
//! SIGTERM, and what is then still there SIGKILL. All within a second.

use super::process::Process;
use super::strays::{Strays, Which};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};

/// How long PEs have to leave by themselves.
const LEAVE: Duration = Duration::from_millis(250);
/// How long SIGTERM has to work.
const TERMINATE: Duration = Duration::from_millis(400);

/// An end under way.
pub struct Ending {
    /// The status the job ends with.
    pub status: i32,
    /// The signal that comes next, and when.
    next: Option<(Signal, Instant)>,
}

impl Ending {
    /// The job ends from now on, with this status.
    pub fn start(status: i32) -> Self {
        Self { status, next: Some((Signal::SIGTERM, Instant::now() + LEAVE)) }
    }

    /// When there is something to do again.
    pub fn due(&self) -> Option<Instant> {
        self.next.map(|(_, due)| due)
    }

    /// Does what is due.
    pub fn step(&mut self, processes: &[Process], strays: &Strays) {
        let Some((signal, _)) = self.next.filter(|(_, due)| *due <= Instant::now()) else { return };
        // One that is stopped would not take SIGTERM before it goes on.
        for signal in [signal, Signal::SIGCONT] {
            for process in processes.iter().filter(|process| process.end().is_none()) {
                process.signal(signal);
            }
            strays.signal(signal, Which::All);
        }
        self.next = match signal {
            Signal::SIGTERM => Some((Signal::SIGKILL, Instant::now() + TERMINATE)),
            _ => None,
        };
    }
}
