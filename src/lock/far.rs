//! A lock of PEs on several nodes: the same queue, with some words accessed through an engine.

use super::Lock;
use crate::pe::Job;
use crate::slow;
use onenode_core::lock::Words;
use oneshmem_job::remote::{Engine, Word};
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

/// The lock without its engine, as PEs of one node use it.
impl<'m> From<FarLock<'m>> for Lock<'m> {
    fn from(far: FarLock<'m>) -> Self {
        far.lock
    }
}

impl Words for FarLock<'_> {
    type Word<'w>
        = Word<'w>
    where
        Self: 'w;
    type Wait = <Lock<'static> as Words>::Wait;
    type Stop = Infallible;

    fn me(&self) -> usize {
        self.lock.me
    }
    fn word(&self, pe: usize) -> Result<Word<'_>, Infallible> {
        if !self.job.is_near(pe) {
            let word = self.lock.word;
            let at = slow::far(word.routine(), "lock", self.job, word.address(), pe);
            return Ok(Word::Far(self.engine, at));
        }
        let Ok(word) = self.lock.word(pe);
        Ok(Word::Near(word))
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
