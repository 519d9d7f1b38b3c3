//! What a test does when a program polls with it.

use crate::job::about::About;
use crate::pause::{HABITS, Pause};
use std::cell::{Cell, RefCell};

/// Failed tests in a row, in one thread, before further ones count as waiting: few
/// against a time slice, many against a look now and then.
const PATIENCE: u32 = 32;

/// The same where each PE has a CPU: some microseconds, several times what a message between
/// distant CPUs takes. (With 32, a ping-pong by tests took 1.4 times one by waits there.)
const PATIENCE_ALONE: u32 = 256;

/// From then on, every so-manyth failed test gives the CPU away, where each PE has one: that takes
/// some 400 ns, a test 10. So a program that looks while it works pays little, and
/// where others want the CPU after all they get it hardly later.
const SELDOM: u32 = 16;

thread_local! {
    static FAILED: Cell<u32> = const { Cell::new(0) };
    static PAUSE: RefCell<Option<Pause>> = const { RefCell::new(None) };
}

/// Notes the outcome of a test and returns it. After [`PATIENCE`], or [`PATIENCE_ALONE`], failures
/// in a row further ones are waiting, which gives the CPU away when others need it and notices
/// the end of the job: every one where PEs share CPUs, else one in [`SELDOM`].
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
    let (patience, seldom) = if HABITS.shared() { (PATIENCE, 0) } else { (PATIENCE_ALONE, SELDOM) };
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
