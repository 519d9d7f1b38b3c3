//! A thread that makes progress from time to time, so that a PE's operations complete while it
//! computes. A program that soon calls quiet never needs it.

use super::completion::Completion;
use super::state::Shared;
use super::turn::SLEEP;
use crate::error::Error;
use crate::sys::signal::without_signals;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The delay between an operation and the thread's first progress on it.
const LATER: Duration = Duration::from_millis(1);

/// Starts the thread, with all signals blocked: they are for the program's own threads.
///
/// # Errors
/// If no thread can be created.
pub fn start(shared: Arc<Shared>) -> Result<(), Error> {
    let thread = thread::Builder::new().name("oneshmem".into()).stack_size(256 << 10);
    let started = without_signals(|| thread.spawn(move || run(&shared)));
    started.map(drop).map_err(|error| Error::Engine(format!("no thread: {error}")))
}

fn run(shared: &Shared) -> ! {
    loop {
        shared.alarm.wait();
        thread::sleep(LATER);
        complete(shared);
    }
}

/// Makes progress until all issued operations are complete. The PE's own threads may complete them
/// first; those threads also report failures.
fn complete(shared: &Shared) {
    let mut completion = None;
    loop {
        let mut state = shared.state();
        if state.waiting > 0 {
            // Threads of the PE are waiting. Progress here would take the events that they sleep
            // for, and they make progress themselves.
            drop(state);
            thread::sleep(LATER / 10);
            continue;
        }
        while state.advance() {}
        let begun = match completion.take() {
            Some(open) => Ok(open),
            None if state.progress.complete >= state.progress.issued => {
                state.armed = false;
                return;
            }
            None => Completion::begin(&mut state),
        };
        let Ok(open) = begun else { return };
        if open.is_over(&mut state) {
            // A program that goes on issuing operations is not slowed down by this thread.
            drop(state);
            thread::sleep(LATER);
            continue;
        }
        // The PE's next operation meets the same failure and reports it.
        if state.peers.have_failed() {
            return;
        }
        completion = Some(open);
        let armed = state.worker.arm().unwrap_or(false);
        drop(state);
        if armed {
            shared.doorbell.sleep(SLEEP);
        } else {
            thread::sleep(LATER / 10);
        }
    }
}
