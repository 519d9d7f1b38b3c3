//! Locks (specification, section 9.11) over the one symmetric `long` that the user gives: the
//! lock of the node crate meets symmetric memory.
#![allow(unsafe_code)]

mod far;

use crate::amo;
use crate::atomics::{AtomicU64, Ordering};
use crate::context;
use crate::error::Routine;
use crate::failure;
use crate::job::about::About;
use crate::job::threads::{self, THREAD_MULTIPLE};
use crate::job::{at_once, job};
use crate::operand;
use crate::order as ordering;
use crate::pause::HABITS;
use crate::slow;
use crate::stats::{For, Wait};
use crate::translate::{MAX_PES, translate};
use crate::wait::polite;
use far::FarLock;
use onenode::lock::{self, Order, Refused, Word as _, Words};
use std::convert::Infallible;
use std::ffi::{c_int, c_long};
use std::time::Instant;

const _: () = assert!(MAX_PES <= lock::MOST);

/// One lock, as a call sees it, of PEs that are all on this node.
#[derive(Clone, Copy)]
pub struct Lock {
    routine: Routine,
    address: usize,
    me: usize,
}

impl Lock {
    /// Checks the argument.
    #[inline]
    fn new(routine: Routine, lock: *mut c_long, me: usize) -> Self {
        let address = lock as usize;
        operand::check_loadable::<c_long>(routine, "lock", address);
        Self { routine, address, me }
    }
}

/// A lock of PEs on this node or on several.
trait Kind: Words<Stop = Infallible> + Copy {
    /// The lock as PEs of one node see it.
    fn here(self) -> Lock;
}

impl Kind for Lock {
    #[inline(always)]
    fn here(self) -> Lock {
        self
    }
}

#[cold]
#[inline(never)]
fn held_already(lock: Lock) -> ! {
    let me = lock.me;
    misused(lock, format_args!("PE {me} holds this lock already and would wait for ever"))
}

#[cold]
#[inline(never)]
fn not_held(lock: impl Kind) -> ! {
    let (Ok(home), me) = (lock.word(lock::HOME), lock.here().me);
    match lock::holder(home.load(Ordering::Relaxed)) {
        None => misused(lock.here(), "expected a lock that this PE holds; nobody holds this one"),
        Some(pe) => misused(
            lock.here(),
            format_args!("expected a lock that PE {me} holds; PE {pe} holds this one"),
        ),
    }
}

fn misused(lock: Lock, expected: impl std::fmt::Display) -> ! {
    failure::misuse(lock.routine, format_args!("lock = {:#x}", lock.address), expected)
}

impl Words for Lock {
    type Word<'w>
        = &'w AtomicU64
    where
        Self: 'w;
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
        Ok(unsafe { <u64 as amo::Word>::at(address) })
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

/// Carries out a call on a lock: at once if all is as it is mostly, else apart.
macro_rules! on_lock {
    ($routine:expr, $lock:expr, $call:ident) => {
        match at_once() {
            Some(job) => $call(Lock::new($routine, $lock, job.pe())),
            None => apart($routine, $lock, $call, $call),
        }
    };
}

/// The calls where all PEs are not on this node, or the library is not initialised.
#[cold]
#[inline(never)]
fn apart<R>(routine: Routine, lock: *mut c_long, near: fn(Lock) -> R, far: fn(FarLock) -> R) -> R {
    let job = job(routine);
    let lock = Lock::new(routine, lock, job.pe());
    match job.engine() {
        None => {
            job.complete();
            near(lock)
        }
        Some(engine) => far(FarLock::new(lock, job, engine)),
    }
}

#[inline(always)]
fn acquire(lock: impl Kind) {
    if lock::set(lock, alone(), order()) == Err(Refused::Mine) {
        held_already(lock.here());
    }
}

#[inline(always)]
fn try_to_acquire(lock: impl Kind) -> c_int {
    !polite::tested(lock::test(lock, alone(), order()).is_ok()) as c_int
}

#[inline(always)]
fn release(lock: impl Kind) {
    if lock::clear(lock, alone()).is_err() {
        not_held(lock);
    }
}

/// `shmem_set_lock`: waits until this PE holds the lock.
///
/// # Safety
/// `lock` is used as a lock only, on all PEs.
pub unsafe fn set(routine: Routine, lock: *mut c_long) {
    on_lock!(routine, lock, acquire);
}

/// `shmem_test_lock`: 0 if this PE now holds the lock, 1 if it is in use.
///
/// # Safety
/// As for [`set`].
pub unsafe fn test(routine: Routine, lock: *mut c_long) -> c_int {
    on_lock!(routine, lock, try_to_acquire)
}

/// `shmem_clear_lock`: completes this PE's operations and hands the lock on.
///
/// # Safety
/// As for [`set`].
pub unsafe fn clear(routine: Routine, lock: *mut c_long) {
    // On x86-64 what hands the lock on is a full barrier already.
    if cfg!(not(target_arch = "x86_64")) {
        ordering::quiet(routine);
    }
    on_lock!(routine, lock, release);
}

#[cfg(test)]
mod tests;
