//! Active sets with members on other nodes: elements of their `pSync` arrays are reached by atomic
//! operations. A member that another waits for is looked at again and again.
#![allow(unsafe_code)]

use super::members::ActiveSet;
use super::names::Names;
use super::psync::{PSync, SyncArray, SyncWord};
use crate::atomics::{AtomicU64, Ordering};
use crate::engine::{Action, Amo, Engine, Far};
use crate::job;
use onenode::collectives::group::{Outcome, Reach};
use onenode::collectives::memory::{Buffer, Memory};
use onenode::collectives::range::{Readable, Remote, Writable};
use onenode::collectives::scratch::Scratch;
use std::convert::Infallible;

/// An active set with far members, in a call.
#[derive(Clone, Copy)]
pub struct FarSet {
    set: ActiveSet,
    names: Names,
}

/// The set as the algorithms see it, if it has members on other nodes.
#[cold]
pub fn on_set(set: ActiveSet) -> Option<PSync<FarSet>> {
    let job = job::job(set.routine);
    let engine = job.engine()?;
    let far = (0..set.size).any(|member| !job.is_near(set.world_pe(member)));
    far.then_some(PSync(FarSet { set, names: Names { job, engine } }))
}

impl FarSet {
    fn is_far(&self, member: usize) -> bool {
        !self.names.job.is_near(self.set.world_pe(member))
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

// SAFETY: that of the members here; names of the others lead the engine to the counterparts.
unsafe impl Memory for FarSet {
    type Stop = Infallible;

    fn peer(&self, buffer: Buffer, address: usize, member: usize) -> Result<usize, Infallible> {
        if !self.is_far(member) {
            return self.set.peer(buffer, address, member);
        }
        Ok(self.names.of(self.set.routine, buffer, address, self.set.world_pe(member)))
    }
    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Result<(), Infallible> {
        self.set.check(buffer, address, bytes)
    }
    fn copy(&self, from: Remote<Readable<'_>>, to: Remote<Writable<'_>>) {
        self.names.copy(from, to);
    }
    fn near<'m>(&self, from: Remote<Readable<'m>>, room: &'m mut Option<Scratch>) -> Readable<'m> {
        self.names.near(from, room)
    }
}

/// An element of a `pSync` array.
pub enum Word<'w> {
    /// On this node.
    Near(&'w AtomicU64),
    /// On another one.
    Far(&'static dyn Engine, Far),
}

/// Operations on one PE are carried out in the order of the calls; a load is over when it returns,
/// what is stored when [`SyncArray::complete`] does.
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
    fn fetch_add(&self, value: u64, order: Ordering) {
        match self {
            Self::Near(word) => {
                word.fetch_add(value, order);
            }
            Self::Far(engine, at) => {
                engine.update(*at, Amo { action: Action::Add, operand: value, bytes: 8 });
            }
        }
    }
}

impl SyncArray for FarSet {
    type Word<'w> = Word<'w>;

    fn word(&self, member: usize, element: usize) -> Word<'_> {
        if !self.is_far(member) {
            return Word::Near(self.set.word(member, element));
        }
        let Names { job, engine } = self.names;
        let array = job.far(self.set.world_pe(member), self.set.psync);
        Word::Far(engine, array.plus(element * size_of::<AtomicU64>()))
    }
    fn complete(&self) {
        self.names.engine.quiet();
    }
    fn wait_until(&self, ready: impl FnMut() -> bool) -> Outcome<Self> {
        self.set.wait_until(ready)
    }
}
