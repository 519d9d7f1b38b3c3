//! Where generations and slots are in the job's files.

use super::{GENERATIONS, Home, JobFile, LARGEST};
use crate::atomics::Ordering;

/// How far apart the PEs' memories are in a file of huge pages: heap first, partitions in the
/// upper half.
pub(super) const HUGE_STRIDE: u64 = 1 << 41;

/// Every PE's slot starts at `SLOT_BASE + slot * SLOT_STRIDE` of its generation: so far apart
/// that no slot outgrows its place.
const SLOT_BASE: u64 = 1 << 40;
pub(crate) const SLOT_STRIDE: u64 = 1 << 42;

impl JobFile {
    /// How far apart generations are in the file.
    fn generation_stride(&self) -> u64 {
        SLOT_BASE + self.near.len() as u64 * SLOT_STRIDE
    }

    /// How many programs one after the other the job has room for.
    pub(crate) fn most_generations(&self) -> u32 {
        match self.home {
            Home::Memory(_) => 1,
            Home::File(_) => {
                let files = (LARGEST - GENERATIONS) / self.generation_stride();
                let huge = LARGEST / (self.near.len() as u64 * HUGE_STRIDE);
                let most = if self.huge.is_some() { files.min(huge) } else { files };
                u32::try_from(most).unwrap_or(u32::MAX)
            }
        }
    }

    /// How many programs PE `pe` has begun.
    pub fn programs(&self, pe: usize) -> u32 {
        self.member(pe).programs.load(Ordering::Acquire).min(self.most_generations())
    }

    /// Where a generation starts in the job's file.
    pub(crate) fn generation_offset(&self, generation: u32) -> u64 {
        GENERATIONS + u64::from(generation) * self.generation_stride()
    }

    /// Which slot of this node is PE `pe`'s.
    fn slot(&self, pe: usize) -> u64 {
        assert!(self.near.contains(&pe), "PE {pe} has its slot on another node");
        (pe - self.near.start) as u64
    }

    /// Where the slot of PE `pe`, a near one, starts in the job's file.
    pub(crate) fn slot_offset(&self, generation: u32, pe: usize) -> u64 {
        self.generation_offset(generation) + SLOT_BASE + self.slot(pe) * SLOT_STRIDE
    }

    /// Where the heap of huge pages of PE `pe`, a near one, starts in their file.
    pub(crate) fn huge_offset(&self, generation: u32, pe: usize) -> u64 {
        (u64::from(generation) * self.near.len() as u64 + self.slot(pe)) * HUGE_STRIDE
    }

    /// Where the partitions of huge pages of PE `pe`, a near one, start in their file, and how many
    /// bytes there are for them.
    pub(crate) fn huge_partitions(&self, generation: u32, pe: usize) -> (u64, u64) {
        (self.huge_offset(generation, pe) + HUGE_STRIDE / 2, HUGE_STRIDE / 2)
    }
}
