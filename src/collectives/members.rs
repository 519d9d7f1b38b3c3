//! The PEs of a collective as this process reaches them: a regular section of the world, through
//! the one translation. Their memory knows them by their numbers in the world.

use crate::argument::memory::PSyncArray;
use crate::counter::Counter;
use crate::pause::Wait;
use crate::pe::about::About;
use crate::team::Team;
use onenode_core::collectives::epoch_group::Controlled;
use onenode_core::collectives::group::{Outcome, Reach};
use onenode_core::collectives::words::ControlWords;
use onenode_core::sys::futex;
use oneshmem_job::error::Routine;
use oneshmem_job::stats::For;
use std::convert::Infallible;

/// A team in a call of `routine`.
#[derive(Clone, Copy)]
pub struct TeamMembers {
    pub routine: Routine,
    pub team: &'static Team,
}

impl Reach for TeamMembers {
    type Stop = Infallible;
    type Memory = Self;

    #[inline(always)]
    fn index(&self) -> usize {
        self.team.me()
    }
    #[inline(always)]
    fn size(&self) -> usize {
        self.team.size()
    }
    #[inline(always)]
    fn memory(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn number(&self, member: usize) -> usize {
        self.team.member(member)
    }
}

impl Controlled for TeamMembers {
    #[inline(always)]
    fn words(&self, member: usize) -> &ControlWords {
        self.team.words(member)
    }
    #[inline(always)]
    fn await_counter(&self, counter: &Counter, value: u64) -> Outcome<Self> {
        let routine = self.routine;
        counter.wait(value, move |counter| {
            let about = About::Counter(routine, std::ptr::from_ref(counter).addr());
            Wait::new(For::Collective, about)
        })
    }
    #[cold]
    fn wake(&self, counter: &Counter) {
        futex::wake_all(counter.place());
    }
}

/// An active set in a call of `routine`: members `start + i * stride`.
#[derive(Clone, Copy)]
pub struct ActiveSet {
    pub routine: Routine,
    pub start: usize,
    pub stride: usize,
    pub size: usize,
    pub me: usize,
    /// The array, already checked for alignment.
    pub psync: PSyncArray,
}

impl Reach for ActiveSet {
    type Stop = Infallible;
    type Memory = Self;

    fn index(&self) -> usize {
        self.me
    }
    fn size(&self) -> usize {
        self.size
    }
    #[inline(always)]
    fn memory(&self) -> &Self {
        self
    }
    fn number(&self, member: usize) -> usize {
        self.start + member * self.stride
    }
}
