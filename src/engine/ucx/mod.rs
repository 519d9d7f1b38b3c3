//! UCX as an engine: this PE itself issues operations to the agents of other nodes.
#![allow(unsafe_code)]

mod bindings;
mod device;
mod farewell;
mod operations;
mod pusher;
mod reach;
mod turn;
pub mod worker;

use super::{Amo, Engine, Far, Over};
use crate::atomics::AtomicU64;
use crate::error::Error;
use crate::job::nodes::Nodes;
use operations::{Remote, Request};
use pusher::Alarm;
use reach::{Peers, Segment};
use std::sync::{Arc, Mutex, MutexGuard};
use turn::Turn;
use worker::{Bell, Worker};

/// This PE's connections to other nodes.
pub struct Ucx(Arc<Shared>);

/// The state that the PE's threads share.
struct Shared {
    state: Mutex<State>,
    bell: Bell,
    alarm: Alarm,
    /// The abort word, on its way to other nodes.
    end: AtomicU64,
}

/// The state that one thread uses at a time.
struct State {
    worker: Worker,
    peers: Peers,
    /// Operations that only a flush completes: how many have been issued, how many of them, from
    /// the first on, a quiet has to wait for, and how many are known to be complete.
    issued: u64,
    owed: u64,
    complete: u64,
    /// Whether the pusher has been notified of outstanding operations.
    told: bool,
    /// How many threads wait for something, and make progress while they wait.
    waiting: usize,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Ucx {
    /// Prepares the connections to the other nodes. Does not wait for any PE.
    ///
    /// # Errors
    /// If UCX is missing or does not work here.
    pub fn open(nodes: &Nodes, npes: usize) -> Result<Self, Error> {
        let worker = Worker::open().map_err(|error| {
            let host = nodes.host(nodes.own());
            Error::Engine(format!("other nodes cannot be reached from {host}: {error}"))
        })?;
        let bell = worker.bell();
        let peers = Peers::none(nodes.count(), npes);
        let state =
            State { worker, peers, issued: 0, owed: 0, complete: 0, told: false, waiting: 0 };
        let state = Mutex::new(state);
        let shared =
            Arc::new(Shared { state, bell, alarm: Alarm::default(), end: AtomicU64::new(0) });
        Ok(Self(shared))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state()
    }

    /// Counts one more operation that only a flush completes, and that quiets wait for.
    fn note(&self, state: &mut State) {
        self.note_told(state);
        state.owed = state.issued;
    }

    /// Counts one more operation that only a flush completes.
    fn note_told(&self, state: &mut State) {
        state.issued += 1;
        if !state.told {
            state.told = true;
            self.0.alarm.set();
        }
    }

    /// Calls `issue` with the memory that a [`Far`] names.
    fn with<R>(
        &self,
        far: Far,
        issue: impl FnOnce(&mut State, Remote, u64) -> Result<R, Error>,
    ) -> R {
        let (segment, offset) = Segment::of(far.offset);
        let mut state = self.state();
        let remote = match state.peers.segment(far.pe, segment) {
            Some(remote) => remote,
            None => {
                drop(state);
                self.reach(far.pe);
                state = self.state();
                state.peers.segment(far.pe, segment).unwrap_or_else(|| reach::lost(far.pe, "gone"))
            }
        };
        issue(&mut state, remote, offset).unwrap_or_else(|error| reach::lost(far.pe, error))
    }

    /// Returns when the first `target` operations are complete, of those that only a flush
    /// completes.
    fn complete(&self, target: u64) {
        let mut state = self.state();
        let issued = state.issued;
        if state.complete >= target {
            return;
        }
        let request = state.worker.flush().unwrap_or_else(|error| reach::lost_somewhere(error));
        state.peers.check(&state.worker);
        drop(state);
        self.finish(request, None);
        state = self.state();
        state.complete = state.complete.max(issued);
    }

    /// Waits for an operation on `pe`, or, without one, on any PE.
    fn finish(&self, request: Option<Request>, pe: Option<usize>) {
        let Some(mut request) = request else { return };
        self.state().waiting += 1;
        let mut turn = Turn::new(self.0.bell);
        loop {
            let mut state = self.state();
            while state.worker.progress() {}
            match state.worker.outcome(request) {
                Ok(None) => {
                    state.waiting -= 1;
                    return;
                }
                Ok(Some(same)) => request = same,
                Err(status) => {
                    let words = state.worker.words(status);
                    state.peers.check(&state.worker);
                    match pe {
                        Some(pe) => reach::lost(pe, words),
                        None => reach::lost_somewhere(words),
                    }
                }
            }
            state.peers.check(&state.worker);
            turn.pass(state);
        }
    }
}

impl Engine for Ucx {
    unsafe fn put(&self, to: Far, from: *const u8, bytes: usize, over: Over) {
        let request = self.with(to, |state, remote, offset| {
            self.note(state);
            // SAFETY: the caller guarantees that `from` is readable until the transfer is over:
            // `finish` waits for the request, or the next quiet does.
            let request = unsafe { state.worker.put(remote, offset, from, bytes) }?;
            Ok(state.unless(over == Over::AtQuiet, request))
        });
        self.finish(request, Some(to.pe));
    }

    unsafe fn get(&self, to: *mut u8, from: Far, bytes: usize, over: Over) {
        let request = self.with(from, |state, remote, offset| {
            if over == Over::AtQuiet {
                self.note(state);
            }
            // SAFETY: the caller guarantees that `to` is writable until the transfer is over:
            // `finish` waits for the request, or the next quiet does.
            let request = unsafe { state.worker.get(to, remote, offset, bytes) }?;
            Ok(state.unless(over == Over::AtQuiet, request))
        });
        self.finish(request, Some(from.pe));
    }

    fn fetch(&self, at: Far, amo: Amo) -> u64 {
        let mut result = 0;
        let place = &raw mut result;
        let request = self.with(at, |state, remote, offset| {
            // SAFETY: the result outlives the request: `finish` waits for it.
            unsafe { state.worker.fetch(remote, offset, amo, place) }
        });
        self.finish(request, Some(at.pe));
        // SAFETY: our own local, which UCX has written through the pointer.
        let result = unsafe { place.read_volatile() };
        if amo.bytes == 4 { result & u64::from(u32::MAX) } else { result }
    }

    fn update(&self, at: Far, amo: Amo) {
        self.with(at, |state, remote, offset| {
            self.note(state);
            state.worker.update(remote, offset, amo)
        });
    }

    fn tell(&self, at: Far, words: &[u64]) {
        let (from, bytes) = (words.as_ptr().cast(), size_of_val(words));
        let request = self.with(at, |state, remote, offset| {
            self.note_told(state);
            // SAFETY: the words outlive the request: `finish` waits for it.
            unsafe { state.worker.put(remote, offset, from, bytes) }
        });
        self.finish(request, Some(at.pe));
    }

    fn quiet(&self) {
        let owed = self.state().owed;
        self.complete(owed);
    }

    fn attend(&self) -> Result<(), Error> {
        pusher::start(self.0.clone())
    }

    fn look(&self) {
        let Ok(state) = self.0.state.try_lock() else { return };
        if state.waiting == 0 {
            while state.worker.progress() {}
            state.peers.check(&state.worker);
        }
    }

    fn tell_end(&self, word: u64) {
        farewell::tell(&self.0, word);
    }

    fn forget(&self) {
        // Includes what only `tell` issued: others may wait for it.
        let issued = self.state().issued;
        self.complete(issued);
        let mut state = self.state();
        let State { worker, peers, .. } = &mut *state;
        peers.forget(worker);
    }
}

impl State {
    /// The request to wait for; `None` if it is left to the next flush.
    fn unless(&self, left: bool, request: Option<Request>) -> Option<Request> {
        if left {
            self.worker.forget_request(request);
            return None;
        }
        request
    }
}
