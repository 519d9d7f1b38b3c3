//! The behaviour of a test in a program that polls with it.

use crate::pause::{Pause, WAIT_POLICY, Wait};
use crate::pe::about::About;
use crate::team;
use onenode_core::sys::process;
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// After how many failed tests in a row, in one thread, further ones count as waiting: few compared
/// to a time slice, many compared to an occasional look.
const PATIENCE: u32 = 32;

/// The same if each PE has its own CPU: some microseconds, several times the latency of a message
/// between distant CPUs. (With 32, a ping-pong with tests took 1.4 times as long as one with
/// waits.)
const PATIENCE_ALONE: u32 = 256;

/// After that, if each PE has its own CPU, only one failed test in this many is a step of a wait: a
/// yield takes some 400 ns, a test 10. So a program that tests while it works pays little, and if
/// others need the CPU after all they get it hardly later.
const SELDOM: u32 = 16;

/// After how many further failed tests to look whether the thread does nothing but test.
const LOOK: u32 = 32;

/// A thread that uses more time of a CPU than this for [`LOOK`] tests computes between them: tests
/// that yield take a tenth of it. Time of a CPU, because a thread that sleeps between its tests, or
/// has no CPU, does wait.
const COMPUTES: Duration = Duration::from_millis(1);

/// More than a sleep itself takes of a CPU: some microseconds, but in a virtual machine whose host is
/// called for each, 36 were measured.
const SLEEP: Duration = Duration::from_micros(100);

thread_local! {
    static FAILED: Cell<u32> = const { Cell::new(0) };
    static WAITING: RefCell<Option<Polling>> = const { RefCell::new(None) };
}

/// A thread that waits by testing.
struct Polling {
    pause: Pause,
    /// Failed tests since `done` was looked at.
    tests: u32,
    done: WorkDone,
}

/// The work of a thread so far, apart from tests.
struct WorkDone {
    waits: u32,
    steps: u64,
    computed: Duration,
    sleeps: i64,
}

impl WorkDone {
    fn until_now() -> Self {
        Self {
            waits: Wait::begun(),
            steps: team::steps(),
            computed: Duration::from_nanos(process::time_of_thread()),
            // Where waits may not sleep (Kitten), the kernel counts no switches.
            sleeps: if WAIT_POLICY.sleeps() { process::sleeps_of_thread() } else { 0 },
        }
    }

    /// Whether the thread has done something else than to test since it had done `before`.
    fn is_more_than(&self, before: &Self) -> bool {
        let asleep = SLEEP * u32::try_from(self.sleeps - before.sleeps).unwrap_or(0);
        (self.waits, self.steps) != (before.waits, before.steps)
            || self.computed.saturating_sub(before.computed) > COMPUTES + asleep
    }
}

impl Polling {
    fn begin() -> Self {
        Self { pause: Pause::about(About::Nothing), tests: 0, done: WorkDone::until_now() }
    }

    /// Whether the thread has done something else between its last tests, of which `tests` are new. If not, it
    /// waits for what it tests.
    fn has_worked(&mut self, tests: u32) -> bool {
        self.tests += tests;
        if self.tests < LOOK {
            return false;
        }
        self.tests = 0;
        let now = WorkDone::until_now();
        let has_worked = now.is_more_than(&self.done);
        self.done = now;
        if !has_worked && matches!(self.pause.subject(), About::Nothing) {
            self.pause = Pause::about(About::Tests);
        }
        has_worked
    }
}

/// Records the outcome of a test and returns it. After [`PATIENCE`] or [`PATIENCE_ALONE`] failures
/// in a row, further ones count as waiting, which yields the CPU when others need it and notices
/// the end of the job: every one if PEs share CPUs, otherwise one in [`SELDOM`]. A thread that waits in
/// another routine, calls a collective or computes between them begins anew: it does not wait for what
/// it tests.
#[inline]
pub(crate) fn tested(success: bool) -> bool {
    FAILED.with(|failed| {
        if success {
            if failed.replace(0) > PATIENCE {
                stop_waiting();
            }
        } else {
            failed.set(failed.get() + 1);
            if failed.get() > PATIENCE {
                wait_a_step(failed);
            }
        }
    });
    success
}

#[cold]
#[inline(never)]
fn stop_waiting() {
    WAITING.set(None);
}

#[cold]
#[inline(never)]
fn wait_a_step(failed: &Cell<u32>) {
    let (patience, seldom) =
        if WAIT_POLICY.shared() { (PATIENCE, 0) } else { (PATIENCE_ALONE, SELDOM) };
    if failed.get() <= patience + seldom {
        return;
    }
    failed.set(patience + 1);
    let mut polling = WAITING.take().unwrap_or_else(Polling::begin);
    if polling.has_worked(seldom.max(1)) {
        failed.set(0);
    } else {
        polling.pause.step_aside();
        WAITING.set(Some(polling));
    }
}

/// Whether failed tests of this thread count as waiting now.
#[cfg(test)]
pub(super) fn is_waiting() -> bool {
    FAILED.get() > PATIENCE
}
