//! How a PE that ends the job lets the other nodes know.
#![allow(unsafe_code)]

use super::message::Message;
use super::messages;
use super::operations::Remote;
use super::state::{Shared, State};
use crate::job;
use onenode_core::sys::process;
use std::sync::{MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// How long this may take. Nodes that cannot be reached by then are left to the launcher.
const MOST: Duration = Duration::from_millis(200);
/// The time that a connection gets at least.
const LEAST: Duration = Duration::from_millis(1);

/// Completes the connections to other PEs that have begun.
pub(super) fn finish_early(shared: &Shared) {
    let until = Instant::now() + MOST;
    let Some(mut state) = lock(shared, until) else { return };
    while !state.are_connections_settled() && Instant::now() < until {
        state.advance();
        process::yield_cpu();
    }
}

/// Writes the abort word to the agents of all other nodes. Reports no failures: the job is ending.
pub(super) fn notify_end(shared: &Shared, word: u64) {
    let Some(nodes) = job::existing().and_then(|job| job.nodes()) else { return };
    let until = Instant::now() + MOST;
    let Some(mut state) = lock(shared, until) else { return };
    let State { worker, pending, peers, .. } = &mut *state;
    let (mut messages, mut open) = (Vec::new(), Vec::new());
    for node in (0..nodes.count()).filter(|node| *node != nodes.own()) {
        let Some(record) = nodes.agent(node) else { continue };
        let most = until.saturating_duration_since(Instant::now()).max(LEAST);
        let pe = nodes.pes(node).start;
        let connected = peers.connect(worker, (node, pe), &record, most);
        let Ok(endpoint) = connected else { continue };
        let agent = Remote::none(endpoint, pe);
        let mut message = Box::new(Message::words(messages::END, &[word]));
        // SAFETY: the message stays in its box, which is never dropped. The worker accepts answers to
        // these pending requests.
        unsafe {
            worker.forget_requests(worker.send(agent, 0, &mut message).ok().flatten());
            open.extend(worker.ask_for_answer(pending, agent));
        }
        messages.push(message);
        if Instant::now() >= until {
            break;
        }
    }
    let is_over = || open.iter().all(|number| pending.is_answered(*number));
    while !is_over() && Instant::now() < until {
        worker.progress();
        process::yield_cpu();
    }
    // UCX may still read them.
    std::mem::forget(messages);
}

/// The state. The engine may be what failed: then this thread may have locked it already.
fn lock(shared: &Shared, until: Instant) -> Option<MutexGuard<'_, State>> {
    loop {
        match shared.state.try_lock() {
            Ok(state) => return Some(state),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => return None,
            Err(TryLockError::WouldBlock) => process::yield_cpu(),
        }
    }
}
