//! Waiting that is timed while statistics are on.

use super::{Class, For, are_taken, row};
use crate::counter::{Counter, WaitStrategy};
use crate::job::about::About;
use crate::pause::Pause;
use std::convert::Infallible;
use std::time::Instant;

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
    pub const fn new(what: For, about: About) -> Self {
        Self { pause: Pause::about(about), what, since: None }
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
            note(self.what, self.pause.subject().routine(), since);
        }
    }
}

#[cold]
fn note(what: For, routine: &'static str, since: Instant) {
    if let Some(row) = row() {
        row.add_blocked(what, routine, since.elapsed());
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
