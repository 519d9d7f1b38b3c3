//! Code shared by the commands of oneshmem: their command lines, the machine's topology and
//! processes, the location of the installation, what the PEs of a job do, and names.

pub mod cli;
pub mod installation;
pub mod live;
pub mod names;
pub mod place;
pub mod processes;
pub mod topology;

use nix::poll::PollTimeout;
use std::time::{Duration, Instant};

/// The time left for `poll`, rounded up, so that `until` has come when `poll` returns; no limit without it.
pub fn poll_timeout(until: Option<Instant>) -> PollTimeout {
    let Some(until) = until else { return PollTimeout::NONE };
    let left = until.saturating_duration_since(Instant::now()) + Duration::from_micros(999);
    PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
}
