//! A lock of PEs on several nodes: the same queue, with some words accessed through an engine.

use super::{Lock, LockWords};
use crate::atomics::{AtomicU64, Ordering};
use crate::job::Job;
use crate::slow;
use onenode_core::lock::{Word, Words};
use oneshmem_job::remote::{Action, Amo, Engine, Far};
use std::convert::Infallible;

/// One lock in a call.
#[derive(Clone, Copy)]
pub struct FarLock<'m> {
    lock: Lock<'m>,
    job: &'static Job,
    engine: &'static dyn Engine,
}

impl<'m> FarLock<'m> {
    /// The lock in a call. The call begins or ends a critical section, so this PE's earlier
    /// operations are completed first.
    pub fn new(lock: Lock<'m>, job: &'static Job, engine: &'static dyn Engine) -> Self {
        engine.quiet();
        Self { lock, job, engine }
    }
}

impl LockWords for FarLock<'_> {
    fn here(&self) -> Lock<'_> {
        self.lock
    }
}

/// A word of the lock.
pub enum Place<'w> {
    /// On this node.
    Near(&'w AtomicU64),
    /// On another node.
    Far(&'static dyn Engine, Far),
}

impl Words for FarLock<'_> {
    type Word<'w>
        = Place<'w>
    where
        Self: 'w;
    type Wait = <Lock<'static> as Words>::Wait;
    type Stop = Infallible;

    fn me(&self) -> usize {
        self.lock.me
    }
    fn word(&self, pe: usize) -> Result<Place<'_>, Infallible> {
        if !self.job.is_near(pe) {
            let word = self.lock.word;
            let at = slow::far(word.routine(), "lock", self.job, word.address(), pe);
            return Ok(Place::Far(self.engine, at));
        }
        let Ok(word) = self.lock.word(pe);
        Ok(Place::Near(word))
    }
    fn begin(&self) -> Self::Wait {
        self.lock.begin()
    }
    fn step(&self, wait: &mut Self::Wait) -> Result<(), Infallible> {
        self.lock.step(wait)
    }
    fn is_overdue(&self, wait: &mut Self::Wait) -> bool {
        self.lock.is_overdue(wait)
    }
}

impl Place<'_> {
    fn fetch(engine: &dyn Engine, at: Far, action: Action, operand: u64) -> u64 {
        engine.fetch(at, Amo { action, operand, bytes: size_of::<u64>() })
    }
}

/// An engine waits for each operation, and its agent carries it out with the processor's own
/// instructions. So the requested orders are kept.
impl Word for Place<'_> {
    fn load(&self, order: Ordering) -> u64 {
        match self {
            Self::Near(word) => word.load(order),
            Self::Far(engine, at) => Self::fetch(*engine, *at, Action::Add, 0),
        }
    }
    fn store(&self, value: u64, order: Ordering) {
        match self {
            Self::Near(word) => word.store(value, order),
            Self::Far(engine, at) => {
                Self::fetch(*engine, *at, Action::Swap, value);
            }
        }
    }
    fn fetch_or(&self, bits: u64, order: Ordering) -> u64 {
        match self {
            Self::Near(word) => word.fetch_or(bits, order),
            Self::Far(engine, at) => Self::fetch(*engine, *at, Action::Or, bits),
        }
    }
    fn fetch_and(&self, bits: u64, order: Ordering) -> u64 {
        match self {
            Self::Near(word) => word.fetch_and(bits, order),
            Self::Far(engine, at) => Self::fetch(*engine, *at, Action::And, bits),
        }
    }
    fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        match self {
            Self::Near(word) => word.compare_exchange_weak(current, new, success, failure),
            Self::Far(engine, at) => {
                let stood = Self::fetch(*engine, *at, Action::CompareSwap(current), new);
                if stood == current { Ok(stood) } else { Err(stood) }
            }
        }
    }
}
