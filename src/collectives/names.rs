//! What members of a collective on other nodes have in their memory: names for it, which algorithms
//! calculate with as with addresses, and which only the engine can use.
#![allow(unsafe_code)]

use crate::engine::{Engine, Far, Over};
use crate::error::Routine;
use crate::job::Job;
use crate::slow;
use onenode::collectives::memory::Buffer;
use onenode::collectives::range::{self, Readable, Remote, Writable};
use onenode::collectives::scratch::Scratch;

/// Addresses above this bit are names: no program has memory there.
const NAME: usize = 1 << 63;
/// Where in a name the PE's number begins, behind the offset.
const PE_BITS: u32 = 43;

/// The names, and the way to what they stand for.
#[derive(Clone, Copy)]
pub struct Names {
    pub job: &'static Job,
    pub engine: &'static dyn Engine,
}

impl Far {
    /// As an address that can be calculated with, and that nothing is mapped at.
    fn name(self) -> usize {
        NAME | self.pe << PE_BITS | self.offset as usize
    }

    fn named(address: usize) -> Option<Self> {
        let (pe, offset) = ((address & !NAME) >> PE_BITS, (address & ((1 << PE_BITS) - 1)) as u64);
        (address & NAME != 0).then_some(Self { pe, offset })
    }
}

impl Names {
    /// The name of PE `pe`'s counterpart of the own `address`.
    pub fn of(&self, routine: Routine, buffer: Buffer, address: usize, pe: usize) -> usize {
        slow::check_symmetric(routine, buffer.name(), self.job, address);
        self.job.far(pe, address).name()
    }

    /// The first member of each node. Members are a regular section of the PEs, which are numbered
    /// node by node.
    pub fn nodes(&self, size: usize, pe: impl Fn(usize) -> usize) -> Vec<usize> {
        let Some(nodes) = self.job.nodes() else { return vec![0] };
        let node = |member: usize| nodes.node_of(pe(member));
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

    /// As [`Memory::copy`](onenode::collectives::memory::Memory::copy). What is put is there on
    /// return, so that a step which is announced next does not overtake it.
    pub fn copy(&self, from: Remote<Readable<'_>>, to: Remote<Writable<'_>>) {
        let bytes = from.bytes();
        assert_eq!(bytes, to.bytes(), "a copy has two lengths");
        let (far_from, far_to) = (Far::named(from.address()), Far::named(to.address()));
        // SAFETY: below, nothing is loaded from a name or stored to one.
        let (from, to) = unsafe { (from.range(), to.range()) };
        match (far_from, far_to) {
            (None, None) => range::copy(from, to),
            _ if bytes == 0 => {}
            (Some(from), None) => {
                // SAFETY: a range, which is mapped here, and the transfer is over on return.
                unsafe { self.engine.get(to.at(), from, bytes, Over::AtReturn) };
            }
            (None, Some(to)) => {
                // SAFETY: as above.
                unsafe { self.engine.put(to, from.at(), bytes, Over::AtReturn) };
                self.engine.quiet();
            }
            (Some(_), Some(_)) => unreachable!("no algorithm moves what is not its own"),
        }
    }

    /// As [`Memory::near`](onenode::collectives::memory::Memory::near).
    pub fn near<'m>(
        &self,
        from: Remote<Readable<'m>>,
        room: &'m mut Option<Scratch>,
    ) -> Readable<'m> {
        if Far::named(from.address()).is_none() {
            // SAFETY: no name, so it is mapped here.
            return unsafe { from.range() };
        }
        let room = room.insert(Scratch::new(from.bytes())).all();
        self.copy(from, room.into());
        room.readable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::CONTROL;

    #[test]
    fn names_keep_all_bits_and_can_be_calculated_with() {
        for pe in [0, 1, 4095, (1 << 19) - 1] {
            for offset in [0, 8, crate::engine::HEAP + 5, CONTROL + (1 << 40)] {
                let far = Far { pe, offset };
                assert_eq!(Far::named(far.name()), Some(far));
                assert_eq!(Far::named(far.name() + 100), Some(far.plus(100)));
            }
        }
        assert_eq!(Far::named(0x7fff_ffff_f000), None);
    }
}
