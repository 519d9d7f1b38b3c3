//! What a test does when a program polls with it.

use crate::pause::Pause;
use std::cell::{Cell, RefCell};

/// Failed tests in a row, in one thread, before further ones count as waiting: few
/// against a time slice, many against a look now and then.
const PATIENCE: u32 = 32;

thread_local! {
    static FAILED: Cell<u32> = const { Cell::new(0) };
    static PAUSE: RefCell<Option<Pause>> = const { RefCell::new(None) };
}

/// Notes the outcome of a test and returns it. After [`PATIENCE`] failures in a
/// row every further one is a step of waiting, which gives the CPU away when
/// others need it and notices the end of the job.
#[inline]
pub(crate) fn tested(success: bool) -> bool {
    FAILED.with(|failed| {
        if success {
            if failed.replace(0) > PATIENCE {
                PAUSE.with_borrow_mut(|pause| *pause = None);
            }
        } else if failed.get() < PATIENCE {
            failed.set(failed.get() + 1);
        } else {
            failed.set(PATIENCE + 1);
            wait_a_step();
        }
    });
    success
}

#[cold]
#[inline(never)]
fn wait_a_step() {
    PAUSE.with_borrow_mut(|pause| pause.get_or_insert_with(Pause::new).step());
}

/// Whether failed tests of this thread count as waiting now.
#[cfg(test)]
pub(super) fn is_waiting() -> bool {
    FAILED.get() > PATIENCE
}
