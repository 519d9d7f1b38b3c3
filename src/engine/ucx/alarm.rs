//! What the thread sleeps on that completes operations while the program computes.

use std::sync::{Condvar, Mutex};

/// Wakes the thread.
#[derive(Default)]
pub struct Alarm {
    /// Whether there are operations to progress.
    set: Mutex<bool>,
    changed: Condvar,
}

impl Alarm {
    /// Wakes the thread because operations are not yet complete. Called once until they
    /// are.
    #[cold]
    pub fn set(&self) {
        *self.set.lock().unwrap_or_else(|e| e.into_inner()) = true;
        self.changed.notify_one();
    }

    /// Returns when there are operations to progress.
    pub fn wait(&self) {
        let mut set = self.set.lock().unwrap_or_else(|e| e.into_inner());
        while !*set {
            set = self.changed.wait(set).unwrap_or_else(|e| e.into_inner());
        }
        *set = false;
    }
}
