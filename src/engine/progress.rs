//! The PE's connections as its threads share them, and how operations progress: while a thread waits for
//! one, and in a thread of its own while the program computes.

use super::connections::{Peers, lost_somewhere, name};
use crate::failure::ending;
use crate::message;
use crate::pause::liveness::{Watch, check_peers};
use crate::pause::{WAIT_POLICY, time_on_this_cpu};
use crate::pe::{self, Job};
use onenode_core::sys::mutex;
use oneshmem_job::engine::ucx::direct::Inbox;
use oneshmem_job::engine::ucx::raw::Doorbell;
use oneshmem_job::engine::ucx::request::{OldestRequest, Operations};
use oneshmem_job::engine::ucx::worker::{SendTiming, Worker};
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::abort;
use oneshmem_job::sys::signal::without_signals;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many times a thread that waits polls before it yields the CPU, and how many times it yields before
/// it sleeps. How PEs wait on a node may rule yields out, or all but polls.
const LOOKS: u32 = 16;
const YIELDS: u32 = 64;
/// The longest time it sleeps: another thread may take the awaited event from the network.
pub const SLEEP: Duration = Duration::from_millis(10);
/// The delay between an operation and the progress thread's first progress on it.
const LATER: Duration = Duration::from_millis(1);
/// How long an agent may take to answer until the PE says so.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a PE that waits for something else asks the agents whether they are there.
const PROBE: Duration = Duration::from_secs(5);

/// The state that the PE's threads share.
pub struct Shared {
    pub state: Mutex<State>,
    pub doorbell: Doorbell,
    /// The first operation for the progress thread.
    alarm: Mutex<Option<u64>>,
    alarmed: Condvar,
}

/// The state that one thread uses at a time.
pub struct State {
    pub worker: Worker<Inbox>,
    pub peers: Peers,
    pub operations: Operations,
    silence: AnswerMonitor,
    /// Whether the progress thread has been notified of outstanding operations.
    armed: bool,
    /// How many threads wait for something, and make progress while they wait.
    pub waiting: usize,
    /// Whether there is a progress thread.
    has_thread: bool,
}

impl Shared {
    /// No operation has been issued.
    pub fn new(worker: Worker<Inbox>, peers: Peers) -> Self {
        let doorbell = worker.doorbell();
        let (operations, silence) = (Operations::default(), AnswerMonitor::default());
        let state = State {
            worker,
            peers,
            operations,
            silence,
            armed: false,
            waiting: 0,
            has_thread: false,
        };
        Self { state: state.into(), doorbell, alarm: None.into(), alarmed: Condvar::new() }
    }

    /// The state, when no other thread uses it.
    pub fn state(&self) -> MutexGuard<'_, State> {
        mutex::lock(&self.state)
    }

    /// Counts an operation on `pe` that a message carries; returns its number. `owed`: quiets wait
    /// for it. Lets the progress thread complete it, if the program does not.
    pub fn count(&self, state: &mut State, pe: usize, owed: bool) {
        let number = state.operations.count(owed);
        state.peers.note(pe, number);
        if !state.armed {
            state.armed = true;
            *mutex::lock(&self.alarm) = Some(number);
            self.alarmed.notify_one();
        }
    }

    /// Makes progress until something is over. Ends the process if the job has ended.
    pub fn wait(&self, mut is_over: impl FnMut(&mut State) -> bool) {
        let mut state = self.state();
        state.waiting += 1;
        state.send_waiting();
        drop(state);
        let (mut turns, mut watch) = (0u32, Watch::new());
        loop {
            let mut state = self.state();
            let came = state.progress();
            if is_over(&mut state) {
                state.waiting -= 1;
                return;
            }
            if came {
                continue;
            }
            state.check();
            turns = turns.saturating_add(1);
            if turns <= LOOKS {
                continue;
            }
            let spins = WAIT_POLICY.spins_only();
            if turns <= LOOKS + YIELDS && !WAIT_POLICY.loses_yields() {
                drop(state);
                if !spins {
                    WAIT_POLICY.yield_cpu(time_on_this_cpu);
                }
                continue;
            }
            if spins {
                drop(state);
                turns = 0;
            } else {
                let armed = state.worker.arm().unwrap_or_else(|error| lost_somewhere(error));
                drop(state);
                if armed {
                    self.doorbell.sleep(SLEEP);
                }
            }
            if let Some(job) = pe::existing() {
                ending::look(job);
                check_peers(job, &mut watch);
            }
        }
    }

    /// Starts the progress thread, with all signals blocked: they are for the program's own threads. A
    /// program that soon calls quiet never needs it.
    ///
    /// # Errors
    /// If no thread can be created.
    pub fn start_thread(self: Arc<Self>) -> Result<(), Error> {
        let thread = thread::Builder::new().name("oneshmem".into()).stack_size(256 << 10);
        let this = self.clone();
        let started = without_signals(|| {
            thread.spawn(move || {
                loop {
                    let first = self.await_alarm();
                    self.complete_all(first);
                }
            })
        });
        started.map_err(|error| Error::Engine(format!("no thread: {error}")))?;
        this.state().has_thread = true;
        Ok(())
    }

    fn await_alarm(&self) -> u64 {
        let mut alarm = mutex::lock(&self.alarm);
        loop {
            match alarm.take() {
                Some(first) => return first,
                None => alarm = self.alarmed.wait(alarm).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Makes progress until all issued operations are complete, `issued_before` and those after it. The PE's
    /// own threads may complete them first, and usually do; those threads also report failures.
    fn complete_all(&self, mut issued_before: u64) {
        let mut flush: Option<Flush> = None;
        loop {
            if flush.is_none() {
                thread::sleep(LATER);
            }
            // Whoever has the state makes progress, or is about to release it.
            let Ok(mut state) = self.state.try_lock() else {
                flush = None;
                continue;
            };
            // The PE's next operation meets the same failure and reports it.
            if state.peers.have_failed() {
                return;
            }
            let Operations { issued, complete, .. } = state.operations;
            if complete >= issued {
                state.armed = false;
                return;
            }
            if state.waiting > 0 || complete >= issued_before {
                // The program completes them itself. Progress here would take the events that its threads sleep
                // for.
                issued_before = issued;
                flush = None;
                if state.waiting == 0 && state.worker.send_waiting().is_err() {
                    return;
                }
                continue;
            }
            while state.progress() {}
            let begun = match flush.take() {
                Some(open) => Ok(open),
                None => Flush::begin(&mut state),
            };
            let Ok(open) = begun else { return };
            if open.is_over(&mut state) {
                // A program that goes on issuing operations is not slowed down by this thread.
                continue;
            }
            flush = Some(open);
            let armed = state.worker.arm().unwrap_or(false);
            drop(state);
            if armed {
                self.doorbell.sleep(SLEEP);
            } else {
                thread::sleep(LATER / 10);
            }
        }
    }
}

impl State {
    /// Makes progress; returns whether anything has happened. Makes none once the job has ended: PEs end then,
    /// and UCX aborts a process whose partner ends while they connect.
    pub fn progress(&self) -> bool {
        let has_ended = |job: &Job| abort::cause(job.control().job()).is_some();
        !pe::existing().is_some_and(has_ended) && self.worker.progress()
    }

    /// When an operation leaves that has been counted and may be one of a burst: nobody would send it later while
    /// threads wait, or no thread makes progress yet.
    pub fn timing(&self) -> SendTiming {
        match self.operations.does_quiet_follow() {
            _ if self.waiting > 0 || !self.has_thread => SendTiming::AtOnce,
            true => SendTiming::WithQuiet,
            false => SendTiming::InBurst,
        }
    }

    /// Sends the operations that wait for others.
    pub fn send_waiting(&mut self) {
        if let Err(error) = self.worker.send_waiting() {
            self.check();
            lost_somewhere(error);
        }
    }

    /// Whether the question with this number is answered.
    pub fn is_answered(&self, number: u64) -> bool {
        self.worker.receiver().requests.is_answered(number)
    }

    /// Ends the job if the connection to a node has failed.
    pub fn check(&mut self) {
        self.peers.check(&self.worker);
    }
}

/// The completion of all operations that were issued before it began: they have taken effect when their
/// agents answer what was asked after them.
pub struct Flush {
    /// The last of them.
    last: u64,
    /// How many questions had been asked by then. All of them must be answered: those about the
    /// operations, and nonblocking gets.
    asked: u64,
}

impl Flush {
    /// Asks for it.
    pub fn begin(State { worker, peers, operations, .. }: &mut State) -> Result<Self, Error> {
        let requests = &worker.receiver().requests;
        for agent in peers.unasked(operations.complete) {
            requests.ask_for_answer(worker, agent)?;
        }
        worker.send_waiting()?;
        Ok(Self { last: operations.issued, asked: requests.asked() })
    }

    /// Whether it has been reached. To be called after each progress.
    pub fn is_over(&self, State { worker, operations, .. }: &mut State) -> bool {
        let over = worker.receiver().requests.are_answered(self.asked);
        if over {
            operations.complete = operations.complete.max(self.last);
        }
        over
    }
}

/// Notices that an agent does not answer, so that the PE reports it: no connection fails if the agent's
/// process is stopped.
struct AnswerMonitor {
    open: Option<OpenQuestion>,
    /// When the agents were last asked.
    probed: Instant,
}

impl Default for AnswerMonitor {
    fn default() -> Self {
        Self { open: None, probed: Instant::now() }
    }
}

/// How far the agent has come that is to answer the oldest open question. What was sent to it before and
/// what it answers are in order, so as long as there is progress one of the two numbers changes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct AnswerProgress {
    /// The question, and how much of its answer is missing.
    question: OldestRequest,
    /// How many messages that had to wait have left for the agent.
    sent: u64,
}

/// A question that an agent has not answered yet.
struct OpenQuestion {
    mark: AnswerProgress,
    /// Since when there has been no progress.
    since: Instant,
    /// Whether the PE has reported it.
    named: bool,
}

impl AnswerMonitor {
    /// Notes how far the agent has come; returns whether that has been the same for so long that the PE is to
    /// say so, which it does once.
    fn is_news(&mut self, mark: AnswerProgress, now: Instant) -> bool {
        match &mut self.open {
            Some(OpenQuestion { mark: before, since, named }) if *before == mark => {
                let is_news = !*named && now - *since >= PATIENCE;
                *named |= is_news;
                is_news
            }
            open => {
                *open = Some(OpenQuestion { mark, since: now, named: false });
                false
            }
        }
    }
}

impl State {
    /// Looks for an agent that does not answer. To be called from time to time by a thread that waits.
    pub fn look_for_silence(&mut self) {
        let Self { worker, peers, silence, .. } = self;
        let (requests, now) = (&worker.receiver().requests, Instant::now());
        let Some(question) = requests.oldest() else {
            silence.open = None;
            if now - silence.probed >= PROBE {
                silence.probed = now;
                for agent in peers.connected() {
                    // If it fails, so has the connection, which others notice.
                    let _ = requests.ask_for_answer(worker, agent);
                }
            }
            return;
        };
        let nodes = pe::existing().and_then(|job| job.nodes());
        let node = nodes.map(|nodes| nodes.node_of(question.pe)).unwrap_or_default();
        if silence.is_news(AnswerProgress { question, sent: peers.sent(node) }, now) {
            message::say(format_args!(
                "{} has not answered for {} s: its agent (process oshrun-agent) or its host is stopped, or the \
                 network loses messages; still waiting",
                name(node),
                PATIENCE.as_secs()
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_silent_only_if_nothing_comes_or_leaves() {
        let mut silence = AnswerMonitor::default();
        let begin = Instant::now();
        let (mut time, mut question) = (0, OldestRequest { number: 3, pe: 1, missing: 1 << 30 });
        let mut look = |question, sent| {
            time += PATIENCE.as_secs() / 2;
            silence.is_news(AnswerProgress { question, sent }, begin + Duration::from_secs(time))
        };
        for sent in 0..5 {
            assert!(!look(question, sent), "messages leave");
        }
        for _ in 0..5 {
            question.missing -= 1;
            assert!(!look(question, 4), "an answer comes");
        }
        question = OldestRequest { number: 4, ..question };
        assert!(!look(question, 4), "another question");
        assert_eq!([(); 5].map(|()| look(question, 4)), [false, true, false, false, false]);
        assert!(!look(question, 5) && !look(question, 5) && look(question, 5), "again");
    }
}
