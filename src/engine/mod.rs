//! How this PE reaches PEs on other nodes: it issues operations over UCX to the agents of their nodes.
#![allow(unsafe_code)]

mod connections;
mod progress;
mod reach;

use crate::failure;
use crate::pe;
use connections::{Peers, lost, lost_somewhere};
use onenode_core::sys::mutex;
use onenode_core::sys::process;
use oneshmem_job::engine::admission;
use oneshmem_job::engine::exports::{Record, life_word};
use oneshmem_job::engine::ucx::direct::{Inbox, Notification, Owner};
use oneshmem_job::engine::ucx::message::{self, Message, Question, parts};
use oneshmem_job::engine::ucx::request::Remote;
use oneshmem_job::engine::ucx::worker::{SendBuffer, SendTiming, Unsent, Worker};
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::nodes::Nodes;
use oneshmem_job::remote::secret::Secret;
use oneshmem_job::remote::{Amo, Completion, Engine, Far, Network, Segment, StridedBlocks};
use progress::{Shared, State};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// How long the last connections between PEs may take: until PEs that compute come to finalise, too.
const CONCLUSION: Duration = Duration::from_secs(5);
/// How long it may take to tell other nodes of the job's end. Those that cannot be reached by then are left
/// to the launcher.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How often a PE that ends looks meanwhile.
const LOOK: Duration = Duration::from_millis(1);
/// The time that a connection gets at least for that.
const LEAST: Duration = Duration::from_millis(1);
/// No page is smaller.
const PAGE: usize = 4096;

/// This process, to whom other PEs and agents send.
const OWNER: Owner = Owner {
    pe: || pe::existing().map(|job| (life_word(job.life()), job.control().all_words())),
    refuse: |why| failure::fatal(why),
};

/// This PE's life as one word; 0 before it is a PE.
fn life() -> u64 {
    pe::existing().map_or(0, |job| life_word(job.life()))
}

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
        let (worker, guard) = loop {
            let opened = Worker::open(&nodes.route(), Inbox::of(OWNER));
            let (worker, guard) = opened.map_err(|error| {
                let host = nodes.host(nodes.own());
                Error::Engine(format!("other nodes cannot be reached from {host}: {error}"))
            })?;
            // UCX tells the processes of a host apart by their ports, and agents outlive the job's programs.
            if guard.addresses().iter().all(|at| nodes.claim(at.port())) {
                break (worker, guard);
            }
            // The port stays taken, so the next worker gets another one.
            guard.close()?;
        };
        // PEs of other nodes connect to a PE that is alone on its node; else only to its agent.
        let admission = if job.near().len() > 1 {
            guard.close()?;
            None
        } else {
            let (server, access) = admission::Server::open(&guard, &nodes.addresses())?;
            nodes.set_worker(&Record { address: worker.address()?, access }.encode())?;
            Some((server, secret.clone()))
        };
        let peers = Peers::none(nodes.count(), job.npes(), secret);
        let shared = Arc::new(Shared::new(worker, peers));
        Ok(Self { shared, admission: admission.into() })
    }

    /// Sends a message. `owed`: quiets wait for it, and it may leave with others of a burst.
    fn send<F: FnOnce(&mut [u8])>(&self, to: Far, message: Message<F>, owed: bool) {
        self.send_all(to, std::iter::once((0, message)), owed);
    }

    /// Sends several messages together, each with the distance of its memory from `to`. Returns when UCX
    /// has sent them: a PE issues no more than the network takes.
    fn send_all<F: FnOnce(&mut [u8])>(
        &self,
        to: Far,
        messages: impl Iterator<Item = (usize, Message<F>)>,
        owed: bool,
    ) {
        let unsent = self.with(to, |state, remote, offset| {
            let mut messages = messages.peekable();
            while let Some((skipped, message)) = messages.next() {
                let target = remote.at(offset.wrapping_add(skipped as u64), message.extent())?;
                self.shared.count(state, to.pe, owed);
                let timing = match messages.peek() {
                    Some(_) => SendTiming::WithNext,
                    None if owed => state.timing(),
                    None => SendTiming::AtOnce,
                };
                state.worker.send(remote.agent, message.to(target), timing)?;
            }
            Ok((!state.worker.has_sent(remote.agent)).then_some(remote.agent))
        });
        if let Some(agent) = unsent {
            self.shared.wait(|state| state.worker.has_sent(agent));
        }
    }

    /// Asks a question about a PE's memory, and waits for the answer if the operation is to be over at
    /// return.
    ///
    /// # Safety
    /// `to` is writable for the question's extent until the operation is over.
    unsafe fn ask(&self, of: Far, question: Question, to: *mut u8, completion: Completion) {
        let number = self.with(of, |state, remote, offset| {
            let timing = match completion {
                Completion::AtReturn => SendTiming::AtOnce,
                Completion::AtQuiet => {
                    self.shared.count(state, of.pe, true);
                    state.timing()
                }
            };
            let State { worker, peers, .. } = state;
            let (requests, of) = (&worker.receiver().requests, (remote, offset));
            peers.note_question(remote.pe());
            // SAFETY: the caller guarantees that `to` is writable.
            unsafe { requests.ask(worker, of, question, to, timing) }
        });
        if completion == Completion::AtReturn {
            self.shared.wait(|state| state.is_answered(number));
        }
    }

    /// Calls `issue` with the memory that a [`Far`] names.
    fn with<R>(
        &self,
        far: Far,
        issue: impl FnOnce(&mut State, Remote, u64) -> Result<R, Error>,
    ) -> R {
        let (segment, offset) = Segment::of(far.offset);
        let mut state = self.shared.state();
        let remote = match state.peers.segment(far.pe, segment) {
            Some(remote) => remote,
            None => {
                drop(state);
                self.reach(far.pe);
                state = self.shared.state();
                state.peers.segment(far.pe, segment).unwrap_or_else(|| lost(far.pe, "gone"))
            }
        };
        issue(&mut state, remote, offset).unwrap_or_else(|error| lost(far.pe, error))
    }

    /// Returns when the operation with this number is complete, with all before, or the wait is given up.
    fn complete(
        &self,
        mut state: MutexGuard<'_, State>,
        number: u64,
        is_given_up: impl Fn(&State) -> bool,
    ) -> Result<(), Error> {
        if state.operations.complete < number {
            let flush = progress::Flush::begin(&mut state)?;
            drop(state);
            self.shared.wait(|state| flush.is_over(state) || is_given_up(state));
        }
        Ok(())
    }

    /// The state, if the job is ending: the engine may be what failed, so this thread may have locked it
    /// already.
    fn state_until(&self, until: Instant) -> Option<MutexGuard<'_, State>> {
        loop {
            match self.shared.state.try_lock() {
                Ok(state) => return Some(state),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => return None,
                Err(TryLockError::WouldBlock) => process::yield_cpu(),
            }
        }
    }
}

/// The time that a PE has waited for others. Time in which the machine stands still does not count: others
/// cannot answer then.
struct Waited {
    time: Duration,
    until: Instant,
}

impl Waited {
    fn nothing() -> Self {
        Self { time: Duration::ZERO, until: Instant::now() }
    }

    /// Whether it has waited that long. To be called after each look for an answer.
    fn reaches(&mut self, limit: Duration) -> bool {
        let now = Instant::now();
        self.time += (now - self.until).min(progress::SLEEP);
        self.until = now;
        self.time >= limit
    }
}

/// Makes progress for a PE that ends the job, until something `is_over`; false if that takes too long.
fn is_soon_over(worker: &Worker<Inbox>, mut is_over: impl FnMut() -> bool) -> bool {
    let mut waited = Waited::nothing();
    loop {
        worker.progress();
        if is_over() {
            return true;
        }
        if waited.reaches(LAST_WORDS) {
            return false;
        }
        process::sleep(LOOK);
    }
}

// SAFETY: UCX reads a message from what the call names until it has been sent, which the call or a quiet waits
// for. Bytes of an answer are written only within the memory of its question, and the question is answered when
// all of them have come (`PendingRequests`).
unsafe impl Engine for Ucx {
    unsafe fn put(&self, to: Far, from: *const u8, bytes: usize, completion: Completion) {
        if bytes <= message::MOST {
            // SAFETY: the caller guarantees that `from` is readable.
            return self.send(to, unsafe { message::store(from, bytes) }, true);
        }
        let unsent = Unsent::default();
        // SAFETY: the caller guarantees that `from` is readable until the transfer is over: until all has been
        // sent, below, or an answer to what was asked later has come.
        let from = unsafe {
            // If the kernel cannot read the source, UCX ends the process without a reason. A fault has one.
            for at in (0..bytes).step_by(PAGE).chain([bytes - 1]) {
                from.wrapping_add(at).read_volatile();
            }
            SendBuffer::new(from, bytes, unsent.clone())
        };
        self.with(to, |state, remote, offset| {
            let target = remote.at(offset, bytes)?;
            self.shared.count(state, to.pe, true);
            let parts = parts(bytes, |start| target.plus(start).words(message::STORE));
            state.worker.send_parts(remote.agent, parts, &from)
        });
        drop(from);
        if completion == Completion::AtReturn && !unsent.is_empty() {
            self.shared.wait(|_| unsent.is_empty());
        }
    }

    unsafe fn put_blocks(&self, to: Far, from: *const u8, blocks: StridedBlocks) {
        if blocks.bytes > message::MOST {
            for (there, here) in blocks.starts() {
                let (to, from) = (to.plus(there), from.wrapping_add(here));
                // SAFETY: one of the blocks that the caller guarantees are readable from `from` on.
                unsafe { self.put(to, from, blocks.bytes, Completion::AtReturn) };
            }
            return;
        }
        self.send_all(
            to,
            // SAFETY: one of the blocks that the caller guarantees are readable from `from` on.
            blocks.starts().map(|(there, here)| unsafe {
                (there, message::store(from.wrapping_add(here), blocks.bytes))
            }),
            true,
        );
    }

    unsafe fn get(&self, to: *mut u8, from: Far, bytes: usize, completion: Completion) {
        // SAFETY: the caller guarantees that `to` is writable for so many bytes until the operation is over.
        unsafe { self.ask(from, Question::Load(bytes), to, completion) }
    }

    fn fetch(&self, at: Far, amo: Amo) -> u64 {
        let mut result = [0; 8];
        let place = result.as_mut_ptr();
        // SAFETY: the result has room, and the operation is over at return.
        unsafe { self.ask(at, Question::Change(amo), place, Completion::AtReturn) };
        u64::from_le_bytes(result)
    }

    unsafe fn fetch_nbi(&self, at: Far, amo: Amo, to: *mut u8) {
        // SAFETY: the caller guarantees that `to` is writable for the word's bytes until the next quiet is over.
        unsafe { self.ask(at, Question::Change(amo), to, Completion::AtQuiet) }
    }

    fn update(&self, at: Far, amo: Amo) {
        match message::update(amo) {
            Some(message) => self.send(at, message, true),
            None => _ = self.fetch(at, amo),
        }
    }

    fn quiet(&self) {
        let mut state = self.shared.state();
        let State { worker, operations, .. } = &mut *state;
        let owed = operations.quiet(worker.since_last_of_burst());
        self.complete(state, owed, |_| false).unwrap_or_else(|error| lost_somewhere(error));
    }

    fn reset(&self) {
        // Includes what only `notify` issued: others may wait for it. A node that cannot be reached has left: its PEs
        // have passed the last barrier, too. (PMIx's fence, which is to keep all until no agent is needed, may return
        // before all have called it: seen under Slurm 22.05.)
        let state = self.shared.state();
        let issued = state.operations.issued;
        let _ = self.complete(state, issued, |state| state.peers.have_failed());
        let mut state = self.shared.state();
        state.peers.reset();
        state.worker.receiver().steps.reset();
    }
}

impl Network for Ucx {
    fn engine(&self) -> &dyn Engine {
        self
    }

    fn notify(&self, at: Far, words: &[u64]) {
        let directly = self.with(at, |state, _, offset| {
            let State { worker, peers, operations, .. } = state;
            let ordered = peers.is_done(at.pe, operations.complete);
            let notification = Notification { life: life(), offset, words };
            Ok(peers.direct.notify(worker, at.pe, notification, ordered))
        });
        if directly {
            return;
        }
        if let [_] = words {
            return self.send(at, message::words(message::RAISE, words), false);
        }
        let at_once = message::MOST / size_of::<u64>();
        for (i, part) in words.chunks(at_once).enumerate() {
            self.send(at.plus(i * message::MOST), message::words(message::STORE, part), false);
        }
    }

    fn reached(&self) -> usize {
        self.shared.state().peers.pes.iter().flatten().count()
    }

    fn send_waiting(&self) {
        self.shared.state().send_waiting();
    }

    fn receive(&self, sleeps: bool) -> bool {
        let Ok(mut state) = self.shared.state.try_lock() else { return false };
        state.send_waiting();
        // Others take it in.
        if state.waiting > 0 {
            return false;
        }
        let mut came = false;
        while state.progress() {
            came = true;
        }
        let sleeps = sleeps && !came && state.worker.receiver().steps.are_complete();
        if sleeps && state.worker.arm().is_ok_and(|armed| armed) {
            drop(state);
            self.shared.doorbell.sleep(progress::SLEEP);
        }
        came
    }

    fn finish(&self) {
        let mut waited = Waited::nothing();
        self.shared.wait(|State { worker, peers, .. }| {
            peers.direct.finish(worker) || waited.reaches(CONCLUSION)
        });
    }

    fn leave(&self) {
        // Makes no progress: others end, too. Those that do not know yet of the job's end go on connecting.
        let is_alone = pe::existing().is_none_or(|job| job.near().len() == 1);
        let connects = |state: MutexGuard<State>| {
            let requests = &state.worker.receiver().requests;
            !requests.are_answered(requests.asked())
        };
        if is_alone || self.state_until(Instant::now() + LAST_WORDS).is_none_or(connects) {
            process::sleep(LAST_WORDS);
        }
    }

    fn finish_early(&self) -> bool {
        let Some(mut state) = self.state_until(Instant::now() + LAST_WORDS) else { return false };
        let State { worker, peers, .. } = &mut *state;
        let requests = &worker.receiver().requests;
        let asked = requests.asked();
        is_soon_over(worker, || peers.direct.finish(worker) && requests.are_answered(asked))
    }

    fn start_progress_thread(&self) -> Result<(), Error> {
        let admission = mutex::lock(&self.admission).take();
        if let Some((server, secret)) = admission {
            server.start(move || Some(secret.clone()), crate::message::say)?;
        }
        self.shared.clone().start_thread()
    }

    fn check_connections(&self) {
        let Ok(mut state) = self.shared.state.try_lock() else { return };
        if state.waiting == 0 {
            while state.progress() {}
            state.check();
        }
        state.look_for_silence();
    }

    fn notify_end(&self, word: u64) {
        let Some(nodes) = pe::existing().and_then(|job| job.nodes()) else { return };
        let until = Instant::now() + LAST_WORDS;
        let Some(mut state) = self.state_until(until) else { return };
        let State { worker, peers, .. } = &mut *state;
        let requests = &worker.receiver().requests;
        let (words, mut open) = ([word], Vec::new());
        // Reports no failures: the job is ending.
        for node in (0..nodes.count()).filter(|node| *node != nodes.own()) {
            let Some(record) = nodes.agent(node) else { continue };
            let most = until.saturating_duration_since(Instant::now()).max(LEAST);
            let pe = nodes.pes(node).start;
            let Ok(connection) = peers.connect(worker, (node, pe), &record, most) else { continue };
            let agent = Remote::none(connection, pe);
            let message = message::words(message::END, &words);
            if let Ok(target) = agent.at(0, message.extent()) {
                let _ = worker.send(connection, message.to(target), SendTiming::AtOnce);
                open.extend(requests.ask_for_answer(worker, agent));
            }
            if Instant::now() >= until {
                break;
            }
        }
        is_soon_over(worker, || open.iter().all(|number| requests.is_answered(*number)));
    }

    fn runs_the_same(&self, pe: usize) -> bool {
        let known = || self.shared.state().peers.pes[pe].map(|peer| peer.same);
        known().unwrap_or_else(|| {
            self.reach(pe);
            known().unwrap_or_else(|| lost(pe, "gone"))
        })
    }
}
