//! What a test does in a program that polls with it.

use crate::job::about::About;
use crate::pause::{Pause, WAIT_POLICY};
use std::cell::{Cell, RefCell};

/// After how many failed tests in a row, in one thread, further ones count as waiting: few compared
/// to a time slice, many compared to an occasional look.
const PATIENCE: u32 = 32;

/// The same if each PE has its own CPU: some microseconds, several times the latency of a message
/// between distant CPUs. (With 32, a ping-pong with tests took 1.4 times as long as one with
/// waits.)
const PATIENCE_ALONE: u32 = 256;

/// After that, if each PE has its own CPU, only one failed test in this many yields the CPU: a
/// yield takes some 400 ns, a test 10. So a program that tests while it works pays little, and if
/// others need the CPU after all they get it hardly later.
const SELDOM: u32 = 16;

thread_local! {
    static FAILED: Cell<u32> = const { Cell::new(0) };
    static PAUSE: RefCell<Option<Pause>> = const { RefCell::new(None) };
}

/// Records the outcome of a test and returns it. After [`PATIENCE`] or [`PATIENCE_ALONE`] failures
/// in a row, further ones count as waiting, which yields the CPU when others need it and notices
/// the end of the job: every one if PEs share CPUs, otherwise one in [`SELDOM`].
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
    PAUSE.with_borrow_mut(|pause| *pause = None);
}

#[cold]
#[inline(never)]
fn wait_a_step(failed: &Cell<u32>) {
    let (patience, seldom) =
        if WAIT_POLICY.shared() { (PATIENCE, 0) } else { (PATIENCE_ALONE, SELDOM) };
    if failed.get() > patience + seldom {
        failed.set(patience + 1);
        PAUSE.with_borrow_mut(|pause| {
            pause.get_or_insert_with(|| Pause::about(About::Tests)).step_aside()
        });
    }
}

/// Whether failed tests of this thread count as waiting now.
#[cfg(test)]
pub(super) fn is_waiting() -> bool {
    FAILED.get() > PATIENCE
}
