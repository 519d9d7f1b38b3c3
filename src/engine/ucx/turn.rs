//! How a PE waits for its operations: it polls, yields the CPU, and then sleeps until something
//! arrives.

use super::state::State;
use super::worker::Doorbell;
use crate::job::health::{Watch, check_peers};
use crate::job::{self, ending};
use onenode_core::sys::process;
use std::sync::MutexGuard;
use std::time::Duration;

/// How many times it polls before it yields the CPU, and how many times it yields before it sleeps.
const LOOKS: u32 = 16;
const YIELDS: u32 = 64;
/// The longest time it sleeps: another thread may take the awaited event from the network.
pub const SLEEP: Duration = Duration::from_millis(10);

/// One wait.
pub struct Turn {
    doorbell: Doorbell,
    turns: u32,
    watch: Watch,
}

impl Turn {
    /// A wait that begins now.
    pub fn new(doorbell: Doorbell) -> Self {
        Self { doorbell, turns: 0, watch: Watch::new() }
    }

    /// Waits one step. Ends the process if the job has ended.
    pub fn pass(&mut self, state: MutexGuard<'_, State>) {
        self.turns = self.turns.saturating_add(1);
        if self.turns <= LOOKS {
            return;
        }
        if self.turns <= LOOKS + YIELDS {
            drop(state);
            process::yield_cpu();
            return;
        }
        let armed = state.worker.arm().unwrap_or_else(|error| super::lost::lost_somewhere(error));
        drop(state);
        if armed {
            self.doorbell.sleep(SLEEP);
        }
        if let Some(job) = job::existing() {
            ending::look(job);
            check_peers(job, &mut self.watch);
        }
    }
}
