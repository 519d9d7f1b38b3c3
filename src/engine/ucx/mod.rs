//! UCX as an engine: this PE itself issues operations to the agents of other nodes.
#![allow(unsafe_code)]

mod alarm;
mod bindings;
mod completion;
mod direct;
mod handshake;
mod lost;
mod message;
mod messages;
mod operations;
mod peers;
mod pending;
mod progress;
mod progress_thread;
mod question;
mod reach;
pub mod server;
mod shutdown;
mod silence;
mod state;
mod turn;
pub mod worker;

use super::exports::Record;
use super::secret::Secret;
use super::{Action, Amo, Engine, Far, Over, Segment, admission};
use crate::error::Error;
use crate::job::file::JobFile;
use crate::job::nodes::Nodes;
use alarm::Alarm;
use bindings::Status;
use completion::Completion;
use direct::{Inbox, Notification};
use message::Message;
use messages::Parts;
use onenode_core::copy;
use operations::{Remote, Request};
use peers::Peers;
use pending::PendingRequests;
use progress::Progress;
use question::Question;
use silence::Silence;
use state::{Shared, State};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use turn::Turn;
use worker::Worker;

/// How long the last connections between PEs may take: until PEs that compute come to finalise, too.
const CONCLUSION: Duration = Duration::from_secs(5);
/// No page is smaller.
const PAGE: usize = 4096;

/// This PE's connections to other nodes.
pub struct Ucx {
    shared: Arc<Shared>,
    /// Admits PEs of other nodes to this PE if it is alone on its node, once it may have threads.
    admission: Mutex<Option<(admission::Server, Secret)>>,
}

impl Ucx {
    /// Prepares the connections to the other nodes. Does not wait for any PE.
    ///
    /// # Errors
    /// If UCX is missing or does not work here.
    pub fn open(job: &JobFile, nodes: &Nodes) -> Result<Self, Error> {
        let secret = job.secret().ok_or_else(|| Error::Engine("the job has no secret".into()))?;
        // PEs of other nodes connect to a PE that is alone on its node; else only to its agent.
        let is_alone = job.near().len() == 1;
        let (worker, guard) = Worker::open(&nodes.device()).map_err(|error| {
            let host = nodes.host(nodes.own());
            Error::Engine(format!("other nodes cannot be reached from {host}: {error}"))
        })?;
        let inbox = Box::<Inbox>::default();
        let mut admission = None;
        if !is_alone {
            guard.close()?;
        } else {
            // SAFETY: the inbox stays with the worker, for one thread at a time.
            unsafe { worker.accept_notifications(&inbox) }?;
            let (server, access) = admission::Server::open(&guard)?;
            nodes.set_worker(&Record { address: worker.address()?, access }.encode())?;
            admission = Some((server, secret.clone()));
        }
        let pending = Box::<PendingRequests>::default();
        // SAFETY: the pending requests stay with the worker, for one thread at a time.
        unsafe { worker.accept_answers(&pending) }?;
        let doorbell = worker.doorbell();
        let peers = Peers::none(nodes.count(), job.npes(), secret);
        peers.direct.prepare(&worker)?;
        let state = State {
            worker,
            inbox,
            pending,
            peers,
            progress: Progress::default(),
            silence: Silence::default(),
            kept: Vec::new(),
            armed: false,
            waiting: 0,
        };
        let state = Mutex::new(state);
        let shared = Arc::new(Shared { state, doorbell, alarm: Alarm::default() });
        Ok(Self { shared, admission: admission.into() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }

    /// Counts an operation on `pe` that a message carries; returns its number. `owed`: quiets wait
    /// for it.
    fn count(&self, state: &mut State, pe: usize, owed: bool) -> u64 {
        let number = state.progress.count(owed);
        state.peers.note(pe, number);
        self.alarm(state);
        number
    }

    /// Lets the progress thread complete what has been issued, if the program does not.
    fn alarm(&self, state: &mut State) {
        if !state.armed {
            state.armed = true;
            self.shared.alarm.set();
        }
    }

    /// Sends a message. `owed`: quiets wait for it.
    fn send(&self, to: Far, mut message: Message, owed: bool) {
        let request = self.with(to, |state, remote, offset| {
            self.count(state, to.pe, owed);
            // SAFETY: the message is this call's, and `finish` waits for the request.
            unsafe { state.worker.send(remote, offset, &mut message) }
        });
        self.finish(request, Some(to.pe));
    }

    /// Asks a question about a PE's memory, and waits for the answer if the operation is to be over at
    /// return.
    ///
    /// # Safety
    /// `to` is writable for the question's extent until the operation is over.
    unsafe fn ask(&self, of: Far, question: Question, to: *mut u8, over: Over) {
        let number = self.with(of, |state, remote, offset| {
            if over == Over::AtQuiet {
                self.count(state, of.pe, true);
            }
            // SAFETY: the caller guarantees that `to` is writable. The worker accepts answers to these pending
            // requests.
            unsafe { state.worker.ask(&state.pending, remote, offset, question, to) }
        });
        if over == Over::AtReturn {
            self.wait(Some(of.pe), |state| Ok(state.pending.is_answered(number)));
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
                state.peers.segment(far.pe, segment).unwrap_or_else(|| lost::lost(far.pe, "gone"))
            }
        };
        issue(&mut state, remote, offset).unwrap_or_else(|error| lost::lost(far.pe, error))
    }

    /// Returns when the operation with this number is complete, with all before.
    fn complete(&self, number: u64) {
        let mut state = self.state();
        if state.progress.complete >= number {
            return;
        }
        let begun = Completion::begin(&mut state);
        let completion = begun.unwrap_or_else(|error| lost::lost_somewhere(error));
        state.check();
        drop(state);
        self.wait(None, |state| Ok(completion.is_over(state)));
    }

    /// Waits for operations on `pe`.
    fn finish(&self, requests: impl IntoIterator<Item = Request>, pe: Option<usize>) {
        let mut open: Vec<_> = requests.into_iter().collect();
        if !open.is_empty() {
            self.wait(pe, |state| state.worker.are_over(&mut open));
        }
    }

    /// Makes progress until the operation is over, which concerns `pe` or, without one, any PE.
    fn wait(&self, pe: Option<usize>, mut is_over: impl FnMut(&mut State) -> Result<bool, Status>) {
        self.state().waiting += 1;
        let mut turn = Turn::new(self.shared.doorbell);
        loop {
            let mut state = self.state();
            let came = state.advance();
            match is_over(&mut state) {
                Ok(true) => {
                    state.waiting -= 1;
                    return;
                }
                Ok(false) if came => continue,
                Ok(false) => {}
                Err(status) => {
                    let words = state.worker.words(status);
                    state.check();
                    match pe {
                        Some(pe) => lost::lost(pe, words),
                        None => lost::lost_somewhere(words),
                    }
                }
            }
            state.check();
            turn.pass(state);
        }
    }
}

// SAFETY: messages are sent from, and answers written to, what the calls name: see `Worker::send_parts`
// and `PendingRequests`, which counts the bytes that are missing.
unsafe impl Engine for Ucx {
    unsafe fn put(&self, to: Far, from: *const u8, bytes: usize, over: Over) {
        let word = matches!(bytes, 4 | 8) && to.offset % bytes as u64 == 0;
        if word && over == Over::AtReturn && self.state().progress.quiet_follows() {
            // A swap is answered, so it takes one exchange; a message and a quiet take two.
            let mut operand = [0; 8];
            // SAFETY: the caller guarantees that `from` is readable.
            unsafe { copy::bytes(operand.as_mut_ptr(), from, bytes) };
            let operand = u64::from_le_bytes(operand);
            self.fetch(to, Amo { action: Action::Swap, operand, bytes });
            return;
        }
        if bytes <= messages::MOST {
            // SAFETY: the caller guarantees that `from` is readable.
            return self.send(to, unsafe { Message::store(from, bytes) }, true);
        }
        // If the kernel cannot read the source, UCX ends the process without a reason. A fault has one.
        for at in (0..bytes).step_by(PAGE).chain([bytes - 1]) {
            // SAFETY: the caller guarantees that the source is readable.
            unsafe { from.wrapping_add(at).read_volatile() };
        }
        // Not dropped before the job has ended if something fails: messages may be on their way.
        let mut parts = None;
        let requests = self.with(to, |state, remote, offset| {
            let number = self.count(state, to.pe, true);
            let sent = parts.insert(Parts::to(remote.at(offset, bytes)?, bytes));
            let mut requests = Vec::new();
            // SAFETY: the caller guarantees that `from` is readable until the transfer is over. The
            // heads stay until then, here or in `kept`.
            unsafe {
                let worker = &state.worker;
                worker.send_parts(remote.endpoint, messages::STORES, sent, from, &mut requests)
            }?;
            if over == Over::AtQuiet {
                state.worker.forget_requests(requests.drain(..));
                state.kept.extend(parts.take().map(|parts| (number, parts)));
            }
            Ok(requests)
        });
        self.finish(requests, Some(to.pe));
    }

    unsafe fn get(&self, to: *mut u8, from: Far, bytes: usize, over: Over) {
        // SAFETY: as for this function.
        unsafe { self.ask(from, Question::Load(bytes), to, over) }
    }

    fn fetch(&self, at: Far, amo: Amo) -> u64 {
        let mut result = 0u64;
        let place = &raw mut result;
        // SAFETY: the result has room, and the operation is over at return.
        unsafe {
            self.ask(at, Question::Change(amo), place.cast(), Over::AtReturn);
            // Written through the pointer.
            place.read_volatile()
        }
    }

    fn update(&self, at: Far, amo: Amo) {
        match Message::update(amo) {
            Some(message) => self.send(at, message, true),
            None => _ = self.fetch(at, amo),
        }
    }

    fn notify(&self, at: Far, words: &[u64]) {
        let directly = self.with(at, |state, _, offset| {
            let State { worker, peers, progress, .. } = state;
            let ordered = peers.is_done(at.pe, progress.complete);
            let notification = Notification { life: direct::life(), offset, words };
            Ok(peers.direct.notify(worker, at.pe, notification, ordered))
        });
        if directly {
            return;
        }
        if let [_] = words {
            return self.send(at, Message::words(messages::RAISE, words), false);
        }
        let at_once = messages::MOST / size_of::<u64>();
        for (i, part) in words.chunks(at_once).enumerate() {
            // SAFETY: the words of the part are readable.
            let message = unsafe { Message::store(part.as_ptr().cast(), size_of_val(part)) };
            self.send(at.plus(i * messages::MOST), message, false);
        }
    }

    fn receive(&self, sleeps: bool) -> bool {
        let Ok(mut state) = self.shared.state.try_lock() else { return false };
        // Others take it in.
        if state.waiting > 0 {
            return false;
        }
        let mut came = false;
        while state.advance() {
            came = true;
        }
        let sleeps = sleeps && !came && state.inbox.is_complete();
        if sleeps && state.worker.arm().is_ok_and(|armed| armed) {
            drop(state);
            self.shared.doorbell.sleep(turn::SLEEP);
        }
        came
    }

    fn finish(&self) {
        let until = Instant::now() + CONCLUSION;
        self.wait(None, |state| Ok(state.are_connections_settled() || Instant::now() >= until));
    }

    fn quiet(&self) {
        let owed = self.state().progress.quiet();
        self.complete(owed);
    }

    fn start_progress_thread(&self) -> Result<(), Error> {
        let admission = self.admission.lock().unwrap_or_else(|e| e.into_inner()).take();
        if let Some((server, secret)) = admission {
            server.start(move || Some(secret.clone()))?;
        }
        progress_thread::start(self.shared.clone())
    }

    fn check_connections(&self) {
        let Ok(mut state) = self.shared.state.try_lock() else { return };
        if state.waiting == 0 {
            while state.advance() {}
            state.check();
        }
        let State { worker, pending, peers, silence, .. } = &mut *state;
        // SAFETY: the worker accepts answers to these pending requests.
        unsafe { silence.look(worker, pending, peers) };
    }

    fn finish_early(&self) {
        shutdown::finish_early(&self.shared);
    }

    fn notify_end(&self, word: u64) {
        shutdown::notify_end(&self.shared, word);
    }

    fn runs_the_same(&self, pe: usize) -> bool {
        let known = || self.state().peers.pes[pe].map(|peer| peer.same);
        known().unwrap_or_else(|| {
            self.reach(pe);
            known().unwrap_or_else(|| lost::lost(pe, "gone"))
        })
    }

    fn reset(&self) {
        // Includes what only `tell` issued: others may wait for it.
        let issued = self.state().progress.issued;
        self.complete(issued);
        let mut state = self.state();
        state.peers.reset();
        state.inbox.reset();
    }
}
