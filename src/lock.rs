//! Locks (specification, section 9.11) over the one symmetric `long` that the user gives: the
//! lock of the node crate meets symmetric memory.
#![allow(unsafe_code)]

use crate::amo::Word;
use crate::atomics::{AtomicU64, Ordering};
use crate::context;
use crate::error::Routine;
use crate::failure;
use crate::job::about::About;
use crate::job::job;
use crate::job::threads::{self, THREAD_MULTIPLE};
use crate::operand;
use crate::order as ordering;
use crate::pause::HABITS;
use crate::slow;
use crate::stats::{For, Wait};
use crate::translate::{MAX_PES, translate};
use crate::wait::polite;
use onenode::lock::{self, Order, Refused, Words};
use std::convert::Infallible;
use std::ffi::{c_int, c_long};
use std::time::Instant;

const _: () = assert!(MAX_PES <= lock::MOST);

/// One lock, as a call sees it.
#[derive(Clone, Copy)]
struct Lock {
    routine: Routine,
    address: usize,
    me: usize,
}

impl Lock {
    /// Checks the argument.
    #[inline]
    fn new(routine: Routine, lock: *mut c_long) -> Self {
        let address = lock as usize;
        operand::check_local::<c_long>(routine, "lock", address);
        Self { routine, address, me: job(routine).pe() }
    }

    #[cold]
    #[inline(never)]
    fn held_already(self) -> ! {
        let Self { me, .. } = self;
        self.misused(format_args!("PE {me} holds this lock already and would wait for ever"))
    }

    #[cold]
    #[inline(never)]
    fn not_held(self) -> ! {
        let Ok(home) = self.word(lock::HOME);
        match lock::holder(home.load(Ordering::Relaxed)) {
            None => self.misused("expected a lock that this PE holds; nobody holds this one"),
            Some(pe) => self.misused(format_args!(
                "expected a lock that PE {} holds; PE {pe} holds this one",
                self.me
            )),
        }
    }

    fn misused(self, expected: impl std::fmt::Display) -> ! {
        failure::misuse(self.routine, format_args!("lock = {:#x}", self.address), expected)
    }
}

impl Words for Lock {
    type Wait = (Wait, Option<Instant>);
    type Stop = Infallible;

    #[inline]
    fn me(&self) -> usize {
        self.me
    }

    #[inline]
    fn word(&self, pe: usize) -> Result<&AtomicU64, Infallible> {
        let address = if pe == self.me {
            self.address
        } else {
            translate(
                context::Default,
                self.address,
                pe,
                |address| address,
                |miss| slow::resolve(self.routine, "lock", context::CTX_DEFAULT, miss, pe),
            )
        };
        // SAFETY: a symmetric `long` of `pe`, aligned, which programs leave to the
        // lock routines while it is a lock.
        Ok(unsafe { u64::at(address) })
    }

    fn begin(&self) -> Self::Wait {
        (Wait::new(For::Variable, About::Lock(self.routine, self.address)), None)
    }

    fn step(&self, (wait, _): &mut Self::Wait) -> Result<(), Infallible> {
        wait.step();
        Ok(())
    }

    fn is_overdue(&self, (_, since): &mut Self::Wait) -> bool {
        since.get_or_insert_with(Instant::now).elapsed() >= lock::PATIENCE
    }
}

/// Who is served next: see [`Order`].
fn order() -> Order {
    if HABITS.shared() { Order::Running } else { Order::Arrival }
}

/// Whether only one thread of this PE calls the library at a time.
fn alone() -> bool {
    threads::level() < THREAD_MULTIPLE
}

/// `shmem_set_lock`: waits until this PE holds the lock.
///
/// # Safety
/// `lock` is used as a lock only, on all PEs.
pub unsafe fn set(routine: Routine, lock: *mut c_long) {
    let lock = Lock::new(routine, lock);
    if lock::set(lock, alone(), order()) == Err(Refused::Mine) {
        lock.held_already();
    }
}

/// `shmem_test_lock`: 0 if this PE now holds the lock, 1 if it is in use.
///
/// # Safety
/// As for [`set`].
pub unsafe fn test(routine: Routine, lock: *mut c_long) -> c_int {
    let lock = Lock::new(routine, lock);
    !polite::tested(lock::test(lock, alone(), order()).is_ok()) as c_int
}

/// `shmem_clear_lock`: completes this PE's operations and hands the lock on.
///
/// # Safety
/// As for [`set`].
pub unsafe fn clear(routine: Routine, lock: *mut c_long) {
    let lock = Lock::new(routine, lock);
    // On x86-64 what hands the lock on is a full barrier already.
    if cfg!(not(target_arch = "x86_64")) {
        ordering::quiet(routine);
    }
    if lock::clear(lock, alone()).is_err() {
        lock.not_held();
    }
}

#[cfg(test)]
mod tests;
