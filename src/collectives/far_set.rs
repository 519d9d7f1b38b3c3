//! Active sets with members on other nodes. Atomic operations access the elements of those members'
//! `pSync` arrays. A wait for a far member polls it.

use super::members::ActiveSet;
use super::names::Names;
use super::psync::{PSync, SyncArray, SyncWord};
use crate::atomics::{AtomicU64, Ordering};
use crate::engine::{Action, Amo, Engine, Far};
use crate::job;
use crate::slow;
use onenode_core::collectives::group::{Outcome, Reach};
use std::convert::Infallible;

/// An active set with far members, in a call of a routine.
#[derive(Clone, Copy)]
pub struct FarSet {
    pub(super) set: ActiveSet,
    pub(super) names: Names,
}

/// The set's group for the algorithms, if the set has members on other nodes.
#[cold]
pub fn on_set(set: ActiveSet) -> Option<PSync<FarSet>> {
    let job = job::job(set.routine);
    let network = job.network()?;
    let far = (0..set.size).any(|member| !job.is_near(set.world_pe(member)));
    far.then_some(PSync(FarSet { set, names: Names { job, network } }))
}

impl FarSet {
    pub(super) fn pe(&self, member: usize) -> usize {
        self.set.world_pe(member)
    }

    pub(super) fn is_far(&self, member: usize) -> bool {
        !self.names.job.is_near(self.pe(member))
    }
}

impl Reach for FarSet {
    type Stop = Infallible;
    type Memory = Self;

    fn index(&self) -> usize {
        self.set.me
    }
    fn size(&self) -> usize {
        self.set.size
    }
    fn memory(&self) -> &Self {
        self
    }
    fn nodes(&self) -> Vec<usize> {
        self.names.nodes(self.set.size, |member| self.set.world_pe(member))
    }
}

/// An element of a `pSync` array.
pub enum Word<'w> {
    /// On this node.
    Near(&'w AtomicU64),
    /// On another node.
    Far(&'static dyn Engine, Far),
}

/// Operations on one PE take effect in the order of the calls. A load is complete when it returns,
/// a store when [`SyncArray::complete`] returns.
impl SyncWord for Word<'_> {
    fn load(&self, order: Ordering) -> u64 {
        match self {
            Self::Near(word) => word.load(order),
            Self::Far(engine, at) => {
                engine.fetch(*at, Amo { action: Action::Add, operand: 0, bytes: 8 })
            }
        }
    }
    fn store(&self, value: u64, order: Ordering) {
        match self {
            Self::Near(word) => word.store(value, order),
            Self::Far(engine, at) => {
                engine.update(*at, Amo { action: Action::Swap, operand: value, bytes: 8 });
            }
        }
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> Option<u64> {
        match self {
            Self::Near(word) => {
                word.fetch_add(value, order);
            }
            Self::Far(engine, at) => {
                engine.update(*at, Amo { action: Action::Add, operand: value, bytes: 8 });
            }
        }
        None
    }
}

impl SyncArray for FarSet {
    type Word<'w> = Word<'w>;

    fn word(&self, member: usize, element: usize) -> Word<'_> {
        if !self.is_far(member) {
            return Word::Near(self.set.word(member, element));
        }
        let Names { job, network } = self.names;
        let (pe, address) = (self.pe(member), self.set.psync.address());
        let array = slow::far(self.set.routine, "pSync", job, address, pe);
        Word::Far(network.engine(), array.plus(element * size_of::<AtomicU64>()))
    }
    fn complete(&self) {
        self.names.network.quiet();
    }
    fn wait_until(&self, ready: impl FnMut() -> bool) -> Outcome<Self> {
        self.set.wait_until(ready)
    }
}
