//! Offsets of generations and slots in the job's files.

use super::{GENERATIONS, Home, JobFile, LARGEST};
use crate::atomics::Ordering;

/// The distance between the PEs' memories in a file of huge pages. Each has the heap first, and
/// partitions in the upper half.
pub(super) const HUGE_STRIDE: u64 = 1 << 41;

/// Every PE's slot starts at `SLOT_BASE + slot * SLOT_STRIDE` of its generation. The stride is
/// larger than any slot.
pub(super) const SLOT_BASE: u64 = 1 << 40;
pub(crate) const SLOT_STRIDE: u64 = 1 << 42;

impl JobFile {
    /// The distance between generations in the file.
    fn generation_stride(&self) -> u64 {
        SLOT_BASE + self.near.len() as u64 * SLOT_STRIDE
    }

    /// How many successive programs the job has room for.
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

    /// The offset of a generation in the job's file.
    pub(crate) fn generation_offset(&self, generation: u32) -> u64 {
        GENERATIONS + u64::from(generation) * self.generation_stride()
    }

    /// The index of PE `pe`'s slot among those of this node.
    fn slot(&self, pe: usize) -> u64 {
        assert!(self.near.contains(&pe), "PE {pe} has its slot on another node");
        (pe - self.near.start) as u64
    }

    /// The offset of near PE `pe`'s slot in the job's file.
    pub(crate) fn slot_offset(&self, generation: u32, pe: usize) -> u64 {
        self.generation_offset(generation) + SLOT_BASE + self.slot(pe) * SLOT_STRIDE
    }

    /// The offset of near PE `pe`'s heap in the file of huge pages.
    pub(crate) fn huge_offset(&self, generation: u32, pe: usize) -> u64 {
        (u64::from(generation) * self.near.len() as u64 + self.slot(pe)) * HUGE_STRIDE
    }

    /// The offset of near PE `pe`'s partitions in the file of huge pages, and how many bytes there
    /// are for them.
    pub(crate) fn huge_partitions(&self, generation: u32, pe: usize) -> (u64, u64) {
        (self.huge_offset(generation, pe) + HUGE_STRIDE / 2, HUGE_STRIDE / 2)
    }
}
