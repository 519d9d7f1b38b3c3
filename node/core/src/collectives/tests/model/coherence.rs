//! Virtual time: one thread a CPU, of which only the one whose clock is behind all others' runs.
//!
//! A load from a line that this CPU does not have takes a transfer from the nearest one that has
//! it, after the requests that came there before. Loads overlap until one must wait: a processor
//! that expects a wait to be over executes what follows ahead of the load. A store takes the line
//! from all that have it, as long as the furthest of them is away.

use super::processor::{IN_FLIGHT, LOAD, LOCKED, Picoseconds, Processor};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard};

/// A cache line: an address, in units of 64 bytes.
type LineNumber = usize;

const LINE: usize = 64;

#[derive(Default)]
struct Line {
    /// The CPUs that have it. Nobody yet: it is in the cache of the CPU that uses it first.
    holders: Vec<usize>,
    /// Until when the cache of a CPU is busy with requests for it.
    busy: HashMap<usize, Picoseconds>,
    /// The values it held, and since when all could see each. Only ever more.
    values: Vec<(u64, Picoseconds)>,
    /// CPUs that wait for its next store.
    waiting: Vec<usize>,
}

impl Line {
    /// Since when it has held at least `value`.
    fn since(&self, value: u64) -> Option<Picoseconds> {
        let at = self.values.partition_point(|(held, _)| *held < value);
        self.values.get(at).map(|(_, since)| *since)
    }
}

#[derive(Clone, Default)]
struct Core {
    /// When it can begin its next instruction.
    issue: Picoseconds,
    /// When all that it began will have ended.
    done: Picoseconds,
    /// When its loads in flight end.
    loads: VecDeque<Picoseconds>,
}

struct State {
    cores: Vec<Core>,
    lines: HashMap<LineNumber, Line>,
    ready: BinaryHeap<Reverse<(Picoseconds, usize)>>,
    running: Option<usize>,
    met: usize,
}

/// The processor, and the CPUs' clocks.
pub struct Coherence {
    processor: Processor,
    state: Mutex<State>,
    turns: Vec<Condvar>,
}

impl Coherence {
    pub fn new(processor: Processor, members: usize) -> Self {
        let ready = (0..members).map(|me| Reverse((0, me))).collect();
        let cores = vec![Core::default(); members];
        let state = State { cores, lines: HashMap::new(), ready, running: None, met: 0 };
        let turns = (0..members).map(|_| Condvar::new()).collect();
        Self { processor, state: Mutex::new(state), turns }
    }

    /// The processor.
    pub fn processor(&self) -> Processor {
        self.processor
    }

    /// Begins and ends the part of a CPU.
    pub fn run(&self, me: usize, part: impl FnOnce()) {
        let mut state = self.state.lock().unwrap();
        if state.running.is_none() {
            self.next(&mut state);
        }
        drop(self.await_turn(me, state));
        part();
        self.next(&mut self.state.lock().unwrap());
    }

    /// Lets the CPU run whose clock is behind all others'.
    fn next(&self, state: &mut State) {
        let next = state.ready.pop().map(|Reverse((_, member))| member);
        state.running = next;
        if let Some(next) = next {
            self.turns[next].notify_one();
        }
    }

    fn await_turn<'s>(&self, me: usize, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let wait = self.turns[me].wait_while(state, |state| state.running != Some(me));
        wait.unwrap()
    }

    fn between(&self, state: &State, a: usize, b: usize) -> Picoseconds {
        self.processor.between(a, b, state.cores.len())
    }

    /// A load. Returns when it ends.
    fn fetch(&self, me: usize, line: LineNumber, state: &mut State) -> Picoseconds {
        let mut begin = state.cores[me].issue;
        let mut found = state.lines.remove(&line).unwrap_or_default();
        let nearest = found.holders.iter().min_by_key(|holder| self.between(state, me, **holder));
        let mut end = begin + LOAD;
        if let Some(nearest) = nearest.copied().filter(|nearest| *nearest != me) {
            let core = &mut state.cores[me];
            if core.loads.len() == IN_FLIGHT {
                begin = begin.max(core.loads.pop_front().unwrap_or(0));
            }
            let busy = found.busy.entry(nearest).or_default();
            let served = begin.max(*busy);
            *busy = served + self.processor.occupied;
            end = served + self.between(state, me, nearest);
            state.cores[me].loads.push_back(end);
        }
        if !found.holders.contains(&me) {
            found.holders.push(me);
        }
        state.lines.insert(line, found);
        let core = &mut state.cores[me];
        core.issue = begin + LOAD;
        core.done = core.done.max(end);
        end
    }

    /// Loads the counter at `address` until it is at least `value`.
    pub fn wait(&self, me: usize, address: usize, value: u64) {
        let line = address / LINE;
        let mut state = self.turn(me);
        loop {
            let begin = state.cores[me].issue;
            let end = self.fetch(me, line, &mut state);
            let found = state.lines.entry(line).or_default();
            let since = found.since(value);
            if since.is_some_and(|since| since <= begin) || value == 0 {
                return;
            }
            // What was executed ahead is dropped.
            let core = &mut state.cores[me];
            core.issue = core.done.max(end).max(since.unwrap_or(0));
            core.loads.clear();
            if since.is_none() {
                state.lines.entry(line).or_default().waiting.push(me);
                self.next(&mut state);
                state = self.await_turn(me, state);
            }
        }
    }

    /// Stores `value` to the counter at `address`.
    pub fn raise(&self, me: usize, address: usize, value: u64) {
        let mut state = self.turn(me);
        let end = self.own(me, address / LINE, &mut state);
        let found = state.lines.entry(address / LINE).or_default();
        found.values.push((value, end));
        let waiting = std::mem::take(&mut found.waiting);
        for waiting in waiting {
            let core = &mut state.cores[waiting];
            core.issue = core.issue.max(end);
            let at = core.issue;
            state.ready.push(Reverse((at, waiting)));
        }
    }

    /// Takes a line from all others.
    fn own(&self, me: usize, line: LineNumber, state: &mut State) -> Picoseconds {
        let holders = std::mem::take(&mut state.lines.entry(line).or_default().holders);
        let furthest = holders.iter().map(|holder| self.between(state, me, *holder)).max();
        let core = &mut state.cores[me];
        let end = core.done.max(core.issue) + LOCKED + furthest.unwrap_or(0);
        (core.issue, core.done) = (end, end);
        core.loads.clear();
        let found = state.lines.entry(line).or_default();
        found.holders.push(me);
        found.busy.clear();
        end
    }

    /// Loads or stores the lines of some bytes.
    pub fn touch(&self, me: usize, address: usize, bytes: usize, stores: bool) {
        let end = (address + bytes).div_ceil(LINE);
        for line in address / LINE..end.max(address / LINE) {
            let mut state = self.turn(me);
            let alone = state.lines.entry(line).or_default().holders.iter().all(|by| *by == me);
            if !stores || alone {
                self.fetch(me, line, &mut state);
            } else {
                self.own(me, line, &mut state);
            }
        }
    }

    /// Returns when this CPU's clock is behind all others'.
    fn turn(&self, me: usize) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap();
        let at = state.cores[me].issue;
        if state.ready.peek().is_none_or(|Reverse(first)| (at, me) < *first) {
            return state;
        }
        state.ready.push(Reverse((at, me)));
        self.next(&mut state);
        self.await_turn(me, state)
    }

    /// Sets the clocks of all CPUs to the latest one, when all have called it, and returns that
    /// time.
    pub fn meet(&self, me: usize) -> Picoseconds {
        let mut state = self.state.lock().unwrap();
        state.met += 1;
        if state.met % state.cores.len() == 0 {
            let latest = state.cores.iter().map(|core| core.done.max(core.issue)).max();
            let latest = latest.unwrap_or(0);
            state.cores.fill(Core { issue: latest, done: latest, loads: VecDeque::new() });
            let others = (0..state.cores.len()).filter(|other| *other != me);
            state.ready = others.map(|other| Reverse((latest, other))).collect();
        } else {
            self.next(&mut state);
            state = self.await_turn(me, state);
        }
        state.cores[me].issue
    }
}
