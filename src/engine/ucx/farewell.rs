//! How a PE that ends the job tells the other nodes.
#![allow(unsafe_code)]

use super::{Shared, State};
use crate::atomics::{AtomicU64, Ordering};
use crate::job;
use onenode::sys::process;
use std::sync::TryLockError;
use std::time::{Duration, Instant};

/// How long this may take. Nodes that cannot be told by then are left to the launcher.
const MOST: Duration = Duration::from_millis(200);

/// Writes the abort word to the agents of all other nodes. Reports no failures: the job is ending.
pub(super) fn tell(shared: &Shared, word: u64) {
    let Some(nodes) = job::existing().and_then(|job| job.nodes()) else { return };
    let until = Instant::now() + MOST;
    // The engine may be what failed. Then this thread may have the state locked already.
    let mut state = loop {
        match shared.state.try_lock() {
            Ok(state) => break state,
            Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => return,
            Err(TryLockError::WouldBlock) => process::yield_cpu(),
        }
    };
    shared.end.store(word, Ordering::Relaxed);
    let State { worker, peers, .. } = &mut *state;
    for node in (0..nodes.count()).filter(|node| *node != nodes.own()) {
        let Some(record) = nodes.agent(node) else { continue };
        let Ok(exports) = peers.connect(worker, node, &record) else { continue };
        let Some(last) = exports.bytes.checked_sub(size_of::<AtomicU64>() as u64) else { continue };
        let from = (&raw const shared.end).cast();
        // SAFETY: the word lives as long as the process does, and no longer changes.
        if let Ok(request) = unsafe { worker.put(exports, last, from, size_of::<AtomicU64>()) } {
            worker.forget_requests(request);
        }
        if Instant::now() >= until {
            return;
        }
    }
    let mut request = worker.flush().ok().flatten();
    while let Some(open) = request.filter(|_| Instant::now() < until) {
        worker.progress();
        process::yield_cpu();
        request = worker.outcome(open).ok().flatten();
    }
}
