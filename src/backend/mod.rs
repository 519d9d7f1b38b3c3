//! How a slot is exported and how a peer's is attached: the one seam between the
//! ways to map memory. No backend is consulted on the data path.

mod memfd;

use crate::error::Error;
use crate::job::control::Control;
use crate::memory::layout::Layout;
use crate::memory::segment::DataSegment;

/// The backend that is used unless another is asked for.
pub use memfd::Memfd as Recommended;

/// One way to map peers' slots.
pub trait Backend: Send + Sync {
    /// Its name, as `SHMEM_BACKEND` spells it.
    fn name(&self) -> &'static str;

    /// Makes this PE's slot attachable. The data segment keeps its address and
    /// content, the heap appears at `layout.heap`, zeroed.
    ///
    /// Writes that other threads make to the data segment meanwhile can be lost.
    fn export(
        &self,
        control: &Control,
        pe: usize,
        layout: &Layout,
        data: &DataSegment,
    ) -> Result<(), Error>;

    /// Maps the slot of `pe`, which has published `heap_bytes` of heap, at its
    /// mirror's place in the window.
    fn attach(
        &self,
        control: &Control,
        pe: usize,
        layout: &Layout,
        heap_bytes: usize,
    ) -> Result<(), Error>;
}

/// The backend that `SHMEM_BACKEND` asks for.
pub fn choose() -> Result<Box<dyn Backend>, Error> {
    match crate::env::BACKEND.word()? {
        None | Some("auto" | "memfd") => Ok(Box::new(Recommended)),
        Some(other) => unreachable!("{other} is not among the words of SHMEM_BACKEND"),
    }
}
