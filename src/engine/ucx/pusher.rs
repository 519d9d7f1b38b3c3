//! What a PE has issued arrives although it computes: a thread that sees to it now and then. A
//! program that calls quiet soon never needs it.

use super::Shared;
use super::turn::SLEEP;
use crate::error::Error;
use crate::sys::signal::without_signals;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// How long after an operation it looks, and how often.
const LATER: Duration = Duration::from_millis(1);

/// What the thread sleeps on.
#[derive(Default)]
pub struct Alarm {
    /// Whether there is something to look after.
    set: Mutex<bool>,
    changed: Condvar,
}

impl Alarm {
    /// There is something that no flush has completed. Told once until it has.
    #[cold]
    pub fn set(&self) {
        *self.set.lock().unwrap_or_else(|e| e.into_inner()) = true;
        self.changed.notify_one();
    }

    fn wait(&self) {
        let mut set = self.set.lock().unwrap_or_else(|e| e.into_inner());
        while !*set {
            set = self.changed.wait(set).unwrap_or_else(|e| e.into_inner());
        }
        *set = false;
    }
}

/// Starts the thread. Signals are for the program's own ones.
///
/// # Errors
/// If the system has no thread.
pub fn start(shared: Arc<Shared>) -> Result<(), Error> {
    let thread = thread::Builder::new().name("oneshmem".into()).stack_size(256 << 10);
    let started = without_signals(|| thread.spawn(move || push(&shared)));
    started.map(drop).map_err(|error| Error::Engine(format!("no thread: {error}")))
}

fn push(shared: &Shared) -> ! {
    loop {
        shared.alarm.wait();
        thread::sleep(LATER);
        complete(shared);
    }
}

/// Makes progress until all that was issued is complete. The PE's own threads may be the ones to
/// complete it; they tell if anything fails.
fn complete(shared: &Shared) {
    let mut request = None;
    let mut target = 0;
    loop {
        let mut state = shared.state();
        if state.waiting > 0 {
            // It would take from them what they sleep for; they see to this, too.
            drop(state);
            thread::sleep(LATER / 10);
            continue;
        }
        while state.worker.progress() {}
        request = match request.take() {
            Some(open) => match state.worker.outcome(open) {
                Ok(Some(open)) => Some(open),
                Ok(None) => {
                    state.complete = state.complete.max(target);
                    None
                }
                // The PE's next operation meets the same failure, and says so.
                Err(_) => return,
            },
            None if state.complete >= state.issued => {
                state.told = false;
                return;
            }
            None => {
                target = state.issued;
                match state.worker.flush() {
                    Ok(Some(open)) => Some(open),
                    Ok(None) => {
                        state.complete = state.complete.max(target);
                        None
                    }
                    Err(_) => return,
                }
            }
        };
        let armed = request.is_some() && state.worker.arm().unwrap_or(false);
        drop(state);
        if armed {
            shared.bell.sleep(SLEEP);
        } else {
            thread::sleep(LATER / 10);
        }
    }
}
