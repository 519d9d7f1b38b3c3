//! Waiting that is timed while statistics are on.

use crate::counter::{Counter, WaitStrategy};
use crate::pause::Pause;
use crate::pe::{self, about::About};
use crate::stats::{are_taken, row};
use crate::timeline::recorder;
use oneshmem_job::stats::{Class, For};
use oneshmem_job::timeline::event::Kind;
use std::cell::Cell;
use std::convert::Infallible;
use std::time::Instant;

thread_local! {
    static BEGUN: Cell<u32> = const { Cell::new(0) };
}

/// A [`Pause`] that records its time. One that never takes a step costs nothing.
#[derive(Debug)]
pub struct Wait {
    pause: Pause,
    what: For,
    since: Option<Instant>,
}

impl Wait {
    /// A wait that begins with its first step.
    #[inline(always)]
    pub fn new(what: For, about: About) -> Self {
        BEGUN.set(BEGUN.get().wrapping_add(1));
        Self { pause: Pause::about(about), what, since: None }
    }

    /// How many this thread has begun, modulo 2^32.
    pub(crate) fn begun() -> u32 {
        BEGUN.get()
    }

    /// As [`Pause::step`].
    #[inline(always)]
    pub fn step(&mut self) {
        self.begin();
        self.pause.step();
    }

    #[inline(always)]
    fn begin(&mut self) {
        if self.since.is_none() && are_taken() {
            self.since = Some(Instant::now());
        }
    }
}

impl Drop for Wait {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(since) = self.since {
            note(self.what, self.pause.subject(), since);
        }
    }
}

#[cold]
fn note(what: For, about: About, since: Instant) {
    if let Some(row) = row() {
        let (routine, lasted) = (about.routine(), since.elapsed());
        let kind = match what {
            For::Variable => Kind::Operation(Class::Wait),
            For::Collective => Kind::Blocked,
        };
        let place = || pe::existing().map_or(0, |job| about.place(job));
        recorder::waited(routine, kind, lasted.as_nanos() as u64, place);
        row.add_blocked(what, routine, lasted);
        if what == For::Variable {
            row.count(routine, Class::Wait, 0, None);
        }
    }
}

impl WaitStrategy for Wait {
    type Stop = Infallible;

    fn pause(&mut self) -> Result<bool, Infallible> {
        self.begin();
        self.pause.pause()
    }

    fn sleep(&mut self, counter: &Counter, seen: u64) -> Result<(), Infallible> {
        self.pause.sleep(counter, seen)
    }
}
