//! Where `SHMEM_DEBUG` records which active sets use the PEs' `pSync` arrays.

use super::Control;
use crate::atomics::AtomicU64;
use crate::error::Error;
use onenode_core::sys::map;

/// Where it is in a generation's part of the file.
pub(super) const BASE: u64 = 1 << 37;
/// The words of each PE.
pub const WORDS: usize = 256;

impl Control {
    /// The words of all PEs, [`WORDS`] each; `None` if the job has no file.
    pub fn psyncs(&self) -> Result<Option<&[AtomicU64]>, Error> {
        if !self.job.has_file() {
            return Ok(None);
        }
        if self.psyncs.get().is_none() {
            let bytes = self.npes() * WORDS * size_of::<AtomicU64>();
            let place = self.part(BASE, bytes.next_multiple_of(map::page_size()))?;
            let _ = self.psyncs.set(place); // Another thread's place is as good.
        }
        Ok(self.psyncs.get().map(|area| area.slice(0, self.npes() * WORDS)))
    }
}
