//! Groups with members on other nodes. Those members' memory is represented by tagged addresses, with which
//! algorithms calculate as with any, but which only the engine can use.
#![allow(unsafe_code)]

use crate::pe::Job;
use crate::slow;
use onenode_core::collectives::group::Reach;
use onenode_core::collectives::memory::{Buffer, Memory};
use onenode_core::collectives::range::{self, Readable, Remote, Writable};
use onenode_core::collectives::scratch::Scratch;
use oneshmem_job::error::Routine;
use oneshmem_job::remote::{Completion, Far, Network};
use std::convert::Infallible;

/// The bit that marks a name: no program has memory at such an address.
const NAME: usize = 1 << 63;
/// The bit of a name at which the PE number begins, above the offset.
const PE_BITS: u32 = 43;

/// A group that may have members on other nodes.
#[derive(Clone, Copy)]
pub struct FarMembers<S> {
    /// The routine that the group is called from.
    pub routine: Routine,
    /// The group as if all members were on this node.
    pub near: S,
    pub job: &'static Job,
    /// The engine for the others.
    pub network: &'static dyn Network,
}

/// An address to calculate with. Nothing is mapped there.
fn name(far: Far) -> usize {
    NAME | far.pe << PE_BITS | far.offset as usize
}

/// The memory with this name; `None` if it is an address.
fn named(address: usize) -> Option<Far> {
    let (pe, offset) = ((address & !NAME) >> PE_BITS, (address & ((1 << PE_BITS) - 1)) as u64);
    (address & NAME != 0).then_some(Far { pe, offset })
}

/// The range if it is mapped here, otherwise the memory that its address names.
fn mapped<'m, R>(range: Remote<R>) -> Result<R, Far>
where
    Remote<R>: Copy + Into<Remote<Readable<'m>>>,
{
    match named(range.into().address()) {
        Some(far) => Err(far),
        // SAFETY: the address is not a name, so the range is mapped here.
        None => Ok(unsafe { range.range() }),
    }
}

impl<S: Reach> FarMembers<S> {
    pub fn is_far(&self, member: usize) -> bool {
        !self.job.is_near(self.near.number(member))
    }
}

/// A member on this node is reached as in a group that has no others.
// SAFETY: for a member on another node, the engine copies exactly so many bytes to or from the counterpart
// of the address, or ends the job.
unsafe impl<S: Memory<Stop = Infallible>> Memory for FarMembers<S> {
    type Stop = Infallible;

    fn peer(&self, buffer: Buffer, address: usize, pe: usize) -> Result<usize, Infallible> {
        if self.job.is_near(pe) {
            return self.near.peer(buffer, address, pe);
        }
        let (routine, argument) = (self.routine, buffer.name());
        slow::check_symmetric(routine, argument, self.job, address);
        Ok(name(slow::far(routine, argument, self.job, address, pe)))
    }

    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Result<(), Infallible> {
        self.near.check(buffer, address, bytes)
    }

    /// A put is complete on return, so that a step announced next cannot overtake it. The members' arrays
    /// are in the caches of several nodes, so it does not matter how many bytes are copied together.
    fn copy(&self, from: Remote<Readable<'_>>, to: Remote<Writable<'_>>, _: usize) {
        let bytes = from.bytes();
        assert_eq!(bytes, to.bytes(), "a copy has two lengths");
        match (mapped(from), mapped(to)) {
            (Ok(from), Ok(to)) => range::copy(from, to),
            _ if bytes == 0 => {}
            // SAFETY: the bytes of a `Writable` that is mapped here are writable. The transfer is over on return.
            (Err(from), Ok(to)) => unsafe {
                self.network.get(to.at(), from, bytes, Completion::AtReturn);
            },
            (Ok(from), Err(to)) => {
                // SAFETY: the bytes of a `Readable` that is mapped here are readable. The transfer is over on
                // return.
                unsafe { self.network.put(to, from.at(), bytes, Completion::AtReturn) };
                self.network.quiet();
            }
            (Err(_), Err(_)) => unreachable!("one side of a copy is this PE's own memory"),
        }
    }

    fn near<'m>(&self, from: Remote<Readable<'m>>, room: &'m mut Option<Scratch>) -> Readable<'m> {
        if let Ok(here) = mapped(from) {
            return here;
        }
        let room = room.insert(Scratch::new(from.bytes())).all();
        Memory::copy(self, from, room.into(), 0);
        room.readable()
    }
}

impl<S: Reach + Memory<Stop = Infallible>> Reach for FarMembers<S> {
    type Stop = Infallible;
    type Memory = Self;

    fn index(&self) -> usize {
        self.near.index()
    }
    fn size(&self) -> usize {
        self.near.size()
    }
    fn memory(&self) -> &Self {
        self
    }
    fn number(&self, member: usize) -> usize {
        self.near.number(member)
    }

    /// The first member of each node. Members are a regular section of the PEs, which are numbered
    /// node by node.
    fn nodes(&self) -> Vec<usize> {
        let Some(nodes) = self.job.nodes() else { return vec![0] };
        let (size, node) = (self.size(), |member: usize| nodes.node_of(self.number(member)));
        let next = |first: &usize| {
            let (mut on_it, mut beyond) = (*first, size);
            while beyond - on_it > 1 {
                let middle = on_it + (beyond - on_it) / 2;
                match node(middle) == node(*first) {
                    true => on_it = middle,
                    false => beyond = middle,
                }
            }
            (beyond < size).then_some(beyond)
        };
        std::iter::successors(Some(0), next).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneshmem_job::remote::CONTROL;

    #[test]
    fn names_keep_all_bits_and_can_be_calculated_with() {
        for pe in [0, 1, 4095, (1 << 19) - 1] {
            for offset in [0, 8, oneshmem_job::remote::HEAP + 5, CONTROL + (1 << 40)] {
                let far = Far { pe, offset };
                assert_eq!(named(name(far)), Some(far));
                assert_eq!(named(name(far) + 100), Some(far.plus(100)));
            }
        }
        assert_eq!(named(0x7fff_ffff_f000), None);
    }
}
