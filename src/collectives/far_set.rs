//! Active sets with members on other nodes. Atomic operations access the elements of those members'
//! `pSync` arrays. A wait for a far member polls it.

use super::far_members::FarMembers;
use super::members::ActiveSet;
use super::psync::{PSync, SyncArray, SyncWord};
use crate::atomics::{AtomicU64, Ordering};
use crate::call;
use crate::slow;
use onenode_core::collectives::group::{Outcome, Reach};
use onenode_core::lock;
use oneshmem_job::remote::{Action, Amo, Word};

/// An active set with far members, in a call of a routine.
pub type FarSet = FarMembers<ActiveSet>;

/// The set's group for the algorithms, if the set has members on other nodes.
#[cold]
pub fn on_set(set: ActiveSet) -> Option<PSync<FarSet>> {
    let job = call::job(set.routine);
    let network = job.network()?;
    let far = (0..set.size).any(|member| !job.is_near(set.number(member)));
    far.then_some(PSync(FarMembers { routine: set.routine, near: set, job, network }))
}

/// Operations on one PE take effect in the order of the calls. A load is complete when it returns,
/// a store when [`SyncArray::complete`] returns.
impl SyncWord for Word<'_> {
    fn load(&self, order: Ordering) -> u64 {
        lock::Word::load(self, order)
    }
    fn store(&self, value: u64, order: Ordering) {
        match self {
            Self::Near(word) => word.store(value, order),
            Self::Far(engine, at) => {
                engine.update(*at, Amo::on_u64(Action::Swap, value));
            }
        }
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> Option<u64> {
        match self {
            Self::Near(word) => {
                word.fetch_add(value, order);
            }
            Self::Far(engine, at) => {
                engine.update(*at, Amo::on_u64(Action::Add, value));
            }
        }
        None
    }
}

impl SyncArray for FarSet {
    type Word<'w> = Word<'w>;

    fn word(&self, member: usize, element: usize) -> Word<'_> {
        if !self.is_far(member) {
            return Word::Near(self.near.word(member, element));
        }
        let (pe, address) = (self.number(member), self.near.psync.address());
        let array = slow::far(self.routine, "pSync", self.job, address, pe);
        Word::Far(self.network.engine(), array.plus(element * size_of::<AtomicU64>()))
    }
    fn complete(&self) {
        self.network.quiet();
    }
    fn wait_until(&self, ready: impl FnMut() -> bool) -> Outcome<Self> {
        self.near.wait_until(ready)
    }
}
