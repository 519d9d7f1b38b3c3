//! Names for the memory of members on other nodes. Algorithms calculate with them as with
//! addresses, but only the engine can use them.

use crate::engine::{Far, Network};
use crate::error::Routine;
use crate::job::Job;
use crate::slow;
use onenode_core::collectives::memory::Buffer;

/// The bit that marks a name: no program has memory at such an address.
const NAME: usize = 1 << 63;
/// The bit of a name at which the PE number begins, above the offset.
const PE_BITS: u32 = 43;

/// The names, and the engine that reaches the memory they stand for.
#[derive(Clone, Copy)]
pub struct Names {
    pub job: &'static Job,
    pub network: &'static dyn Network,
}

impl Far {
    /// An address to calculate with. Nothing is mapped there.
    fn name(self) -> usize {
        NAME | self.pe << PE_BITS | self.offset as usize
    }

    fn named(address: usize) -> Option<Self> {
        let (pe, offset) = ((address & !NAME) >> PE_BITS, (address & ((1 << PE_BITS) - 1)) as u64);
        (address & NAME != 0).then_some(Self { pe, offset })
    }
}

impl Names {
    /// The name of PE `pe`'s counterpart of this PE's `address`.
    pub fn of(&self, routine: Routine, buffer: Buffer, address: usize, pe: usize) -> usize {
        slow::check_symmetric(routine, buffer.name(), self.job, address);
        slow::far(routine, buffer.name(), self.job, address, pe).name()
    }

    /// The memory that an address names, if the address is a name.
    pub fn named(address: usize) -> Option<Far> {
        Far::named(address)
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
