//! A node's agent under a foreign launcher, started by a PE of the node. It is not the PE's child, because programs
//! may wait for all of their children; so it finds out by itself when it is no longer needed.

use super::agent::{self, Report};
use crate::atomics::Ordering;
use crate::jobfile::JobFile;
use crate::sys::helper::{self, ServedProcess};
use crate::sys::socket;
use onenode_core::sys::process;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The option with which this node's launcher is an agent; [`serve_by`] reads the argument after it.
pub const OPTION: &str = "--agent";

/// How often it checks whether it is still needed.
const LOOK: Duration = Duration::from_millis(100);
/// The longest time that it outlives its node's PEs for PEs of other nodes, which close their
/// connections when they end: those of a node that is gone never do.
const LINGER: Duration = Duration::from_secs(60);

/// Runs the agent in a separate program, whose arguments are [`OPTION`] and `words`. Returns after
/// a failure, which has been reported; `None` if the arguments are not valid.
pub fn serve_by(words: &str) -> Option<()> {
    let (file, pipe, served) = helper::parse(words)?;
    serve(file, pipe, served);
    Some(())
}

/// Runs the agent in its own process.
pub fn serve(file: OwnedFd, pipe: OwnedFd, served: ServedProcess) {
    let mut pipe = Some(std::fs::File::from(pipe));
    let mut tell = |report: Report| {
        // Closing the pipe tells the PE that there is no more.
        if let Some(mut pipe) = pipe.take() {
            let _ = pipe.write_all(&report.encode());
        }
    };
    let why = JobFile::open(file).and_then(|job| {
        let job = Arc::new(job);
        let table = job.clone();
        std::thread::spawn(move || leave_in_time(&table, served));
        agent::serve(job, &mut |record| tell(Report::Record(record.to_vec())))
    });
    let Err(why) = why;
    tell(Report::failure(&why.to_string()));
}

/// Ends this process, an agent, after the process that started it has ended.
fn leave_in_time(job: &JobFile, served: ServedProcess) {
    while served.is_running() {
        std::thread::sleep(LOOK);
    }
    if job.header().linger.load(Ordering::Acquire) != 0 {
        let until = Instant::now() + LINGER;
        while socket::is_connected() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
    }
    process::exit_now(0)
}
