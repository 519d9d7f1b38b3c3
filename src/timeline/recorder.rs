//! Records this PE's events.

use crate::atomics::{AtomicU32, Ordering};
use crate::sys::{backtrace, clock};
use onenode_core::area::SharedArea;
use onenode_core::sys::mutex;
use oneshmem_job::stats::Class;
use oneshmem_job::timeline::event::{Event, Kind, Peer};
use oneshmem_job::timeline::ring::{Head, NAMES, Ring};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// This PE's recorder. Threads take turns.
pub(crate) struct Recorder(Mutex<RecorderState>);

/// The ring of this PE's events, and the state of recording.
struct RecorderState {
    ring: Ring,
    /// The numbers of names, by their addresses and lengths.
    names: HashMap<(usize, usize), u16>,
    /// The last event, which may be continued, and how many there are.
    last: Option<Event>,
    written: u64,
    /// Whether the PE is about to leave: others may read the ring.
    is_closed: bool,
}

/// Details of a call that its beginning and end do not give.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Details {
    pub class: Class,
    pub bytes: usize,
    /// The PE of the world that is accessed.
    pub peer: Option<usize>,
    /// See [`Event::place`].
    pub place: u64,
    pub algorithm: Option<&'static str>,
}

/// A call whose end is not yet known.
pub(crate) struct Open {
    routine: &'static str,
    begin: u64,
    details: Option<Details>,
}

/// Begins recording in this memory, in each lifetime of the PE anew.
pub(crate) fn begin(area: SharedArea) {
    let tape = || RecorderState {
        ring: Ring::new(area, clock::nanoseconds()),
        names: HashMap::new(),
        last: None,
        written: 0,
        is_closed: false,
    };
    match RECORDER.get() {
        Some(recorder) => *mutex::lock(&recorder.0) = tape(),
        None => _ = RECORDER.set(Recorder(Mutex::new(tape()))),
    }
}

/// The recorder, if recording is on.
pub(crate) fn recorder() -> Option<&'static Recorder> {
    RECORDER.get()
}

/// Ends recording, in this lifetime of the PE.
pub(crate) fn end() {
    let Some(recorder) = recorder() else { return };
    let mut tape = mutex::lock(&recorder.0);
    tape.is_closed = true;
    tape.ring.set(Head::End, clock::nanoseconds());
}

/// Begins a call, if recording is on.
pub(crate) fn open(routine: &'static str) -> Option<Open> {
    recorder().map(|_| Open { routine, begin: clock::nanoseconds(), details: None })
}

/// Records a wait that has lasted so many nanoseconds, for a variable if `place` is not 0.
#[cold]
pub(crate) fn waited(routine: &'static str, kind: Kind, lasted: u64, place: impl FnOnce() -> u64) {
    let Some(recorder) = recorder() else { return };
    let end = clock::nanoseconds();
    recorder.record(routine, None, (kind, end.saturating_sub(lasted), end), 0, Peer::None, place());
}

/// Records that memory was allocated or freed.
#[cold]
pub(crate) fn note(routine: &'static str, kind: Kind, bytes: usize) {
    let Some(recorder) = recorder() else { return };
    let now = clock::nanoseconds();
    recorder.record(routine, None, (kind, now, now), bytes, Peer::None, 0);
}

impl Open {
    /// Says what the call is. A call of which nothing is said is not recorded.
    pub fn describe(&mut self, details: Details) {
        self.details = Some(details);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let (Some(recorder), Some(details)) = (recorder(), self.details) else { return };
        let Details { class, bytes, peer, place, algorithm } = details;
        let peer = peer.map_or(Peer::None, Peer::Pe);
        let when = (Kind::Operation(class), self.begin, clock::nanoseconds());
        recorder.record(self.routine, algorithm, when, bytes, peer, place);
    }
}

impl Recorder {
    /// Sets a word of the ring's head.
    pub fn set(&self, word: Head, value: u64) {
        mutex::lock(&self.0).ring.set(word, value);
    }

    pub(super) fn record(
        &self,
        routine: &'static str,
        algorithm: Option<&'static str>,
        (kind, begin, end): (Kind, u64, u64),
        bytes: usize,
        peer: Peer,
        place: u64,
    ) {
        let thread = thread();
        let mut tape = mutex::lock(&self.0);
        if tape.is_closed {
            return;
        }
        let names = [tape.name(routine), algorithm.map_or(0, |name| tape.name(name))];
        let bytes = bytes as u64;
        let called = 0; // Found out if it is an event of its own.
        tape.push(Event { begin, end, kind, names, thread, calls: 1, bytes, peer, place, called });
    }
}

impl RecorderState {
    fn push(&mut self, event: Event) {
        match self.last.and_then(|last| last.with(&event)) {
            Some(both) => {
                self.ring.write(self.written - 1, &both);
                self.last = Some(both);
            }
            None => {
                // What happens inside of a call is called there, too.
                let is_call = event.kind != Kind::Blocked;
                let called = is_call.then(backtrace::called_at).flatten().unwrap_or(0);
                let event = Event { called, ..event };
                self.ring.write(self.written, &event);
                self.written += 1;
                self.last = Some(event);
            }
        }
    }

    fn name(&mut self, name: &'static str) -> u16 {
        let (next, ring) = (self.names.len() + 1, &self.ring);
        *self.names.entry((name.as_ptr().addr(), name.len())).or_insert_with(|| {
            let is_last = next >= NAMES - 1;
            let number = next.min(NAMES - 1);
            ring.set_name(number, if is_last { "others" } else { name });
            number as u16
        })
    }
}

/// The number of this thread, from 0.
fn thread() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    thread_local! {
        static NUMBER: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    // A thread that ends may still call.
    NUMBER.try_with(|number| *number as u16).unwrap_or(u16::MAX)
}
