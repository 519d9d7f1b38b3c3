//! Locks (specification, section 9.13), each in one symmetric `long` of the program: the MCS lock of
//! `onenode-core`, applied to symmetric memory.

mod far;

use crate::argument::memory::Object;
use crate::atomics::{AtomicU64, Ordering};
use crate::call::{self, at_once, job};
use crate::failure;
use crate::operand::word::Word;
use crate::order as ordering;
use crate::pause::{self, WAIT_POLICY, Wait};
use crate::pe::about::About;
use crate::pe::threads::{self, THREAD_MULTIPLE};
use crate::wait::backoff;
use far::FarLock;
use onenode_core::arch;
use onenode_core::lock::{self, Order, Refused, Word as _, Words};
use oneshmem_job::env;
use oneshmem_job::error::Routine;
use oneshmem_job::jobfile::MAX_PES;
use oneshmem_job::stats::For;
use std::convert::Infallible;
use std::ffi::{c_int, c_long};
use std::time::Instant;

const _: () = assert!(MAX_PES <= lock::MOST);

/// One lock in a call, if all PEs are on this node.
#[derive(Clone, Copy)]
pub struct Lock<'m> {
    word: Word<'m>,
    me: usize,
}

impl<'m> Lock<'m> {
    /// Checks the argument.
    #[inline]
    fn new(routine: Routine, lock: Object<'m, c_long>, me: usize) -> Self {
        Self { word: Word::new(routine, "lock", lock.unsigned()), me }
    }
}

#[cold]
#[inline(never)]
fn held_already(lock: Lock<'_>) -> ! {
    let me = lock.me;
    misused(lock, format_args!("PE {me} holds this lock already and would wait for ever"))
}

#[cold]
#[inline(never)]
fn not_held<'m>(lock: impl Words<Stop = Infallible> + Copy + Into<Lock<'m>>) -> ! {
    let (Ok(home), me) = (lock.word(lock::HOME), lock.me());
    match lock::holder(home.load(Ordering::Relaxed)) {
        None => misused(lock.into(), "expected a lock that this PE holds; nobody holds this one"),
        Some(pe) => misused(
            lock.into(),
            format_args!("expected a lock that PE {me} holds; PE {pe} holds this one"),
        ),
    }
}

fn misused(lock: Lock<'_>, expected: impl std::fmt::Display) -> ! {
    let Lock { word, .. } = lock;
    failure::misuse(word.routine(), format_args!("lock = {:#x}", word.address()), expected)
}

impl Words for Lock<'_> {
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
        Ok(if pe == self.me { self.word.own() } else { self.word.of("lock", pe) })
    }

    fn begin(&self) -> Self::Wait {
        (Wait::new(For::Variable, About::Lock(self.word.routine(), self.word.address())), None)
    }

    fn step(&self, (wait, _): &mut Self::Wait) -> Result<(), Infallible> {
        wait.step();
        Ok(())
    }

    fn is_overdue(&self, (_, since): &mut Self::Wait) -> bool {
        since.get_or_insert_with(Instant::now).elapsed() >= lock::PATIENCE
    }
}

/// Which PE is served next: see [`Order`].
fn order() -> Order {
    if pause::may_overtake() { Order::Running } else { Order::Arrival }
}

/// In which order PEs get a lock, and why, for users.
pub fn order_description() -> String {
    match (pause::may_overtake(), WAIT_POLICY.shared()) {
        (true, _) => format!(
            "a running PE first, for up to {:?}, since PEs share CPUs and the next in line may have \
             none; {}=arrival sets the order of arrival",
            lock::PATIENCE,
            env::LOCK_ORDER.name
        ),
        (false, true) => format!("by arrival, since {} says so", env::LOCK_ORDER.name),
        (false, false) => "by arrival, since each PE has a CPU".into(),
    }
}

/// Whether only one thread of this PE at a time calls the library.
fn alone() -> bool {
    threads::level() < THREAD_MULTIPLE
}

/// Carries out a call on a lock: at once in the common case, otherwise in `apart`.
#[inline(always)]
fn on_lock<'m, R>(
    routine: Routine,
    lock: Object<'m, c_long>,
    near: impl FnOnce(Lock<'m>) -> R,
    far: impl FnOnce(FarLock<'m>) -> R,
) -> R {
    match at_once() {
        Some(job) => near(Lock::new(routine, lock, job.pe())),
        None => apart(routine, lock, near, far),
    }
}

/// Carries out a call if not all PEs are on this node, or the library is not initialised.
#[cold]
#[inline(never)]
fn apart<'m, R>(
    routine: Routine,
    lock: Object<'m, c_long>,
    near: impl FnOnce(Lock<'m>) -> R,
    far: impl FnOnce(FarLock<'m>) -> R,
) -> R {
    let job = job(routine);
    let _call = call::begin(routine);
    let lock = Lock::new(routine, lock, job.pe());
    match job.network() {
        None => {
            job.complete();
            near(lock)
        }
        Some(network) => far(FarLock::new(lock, job, network.engine())),
    }
}

#[inline(always)]
fn acquire<'m>(lock: impl Words<Stop = Infallible> + Copy + Into<Lock<'m>>) {
    if lock::set(lock, alone(), order()) == Err(Refused::Mine) {
        held_already(lock.into());
    }
}

#[inline(always)]
fn try_to_acquire(lock: impl Words<Stop = Infallible> + Copy) -> c_int {
    !backoff::tested(lock::test(lock, alone(), order()).is_ok()) as c_int
}

#[inline(always)]
fn release<'m>(lock: impl Words<Stop = Infallible> + Copy + Into<Lock<'m>>) {
    if lock::clear(lock, alone()).is_err() {
        not_held(lock);
    }
}

/// `shmem_set_lock`: waits until this PE holds the lock.
pub fn set(routine: Routine, lock: Object<'_, c_long>) {
    on_lock(routine, lock, acquire, acquire);
}

/// `shmem_test_lock`: 0 if this PE now holds the lock, 1 if it is in use.
pub fn test(routine: Routine, lock: Object<'_, c_long>) -> c_int {
    on_lock(routine, lock, try_to_acquire, try_to_acquire)
}

/// `shmem_clear_lock`: completes this PE's operations and passes the lock on.
pub fn clear(routine: Routine, lock: Object<'_, c_long>) {
    // Where that is so, the operation that passes the lock on is already a full barrier.
    if !arch::EXCHANGES_ARE_FULL_BARRIERS {
        ordering::quiet(routine);
    }
    on_lock(routine, lock, release, release);
}

#[cfg(test)]
mod tests;
