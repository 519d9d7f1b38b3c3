//! How a slot is exported and how a peer's is attached: the one seam between the
//! ways to map memory. No backend is consulted on the data path.

#[cfg(feature = "smartmap")]
#[path = "smartmap/mod.rs"]
mod choice;
#[cfg(not(feature = "smartmap"))]
#[path = "auto.rs"]
mod choice;
mod memfd;
#[cfg(not(feature = "smartmap"))]
mod xpmem;

use crate::error::Error;
use crate::job::control::Control;
use crate::memory::layout::Layout;
use crate::memory::pages::Pages;
use crate::memory::segment::DataSegment;
use crate::sys::process;

pub use choice::choose;

/// One way to map peers' slots. A session (first init to last finalize) is one
/// `export`, any number of `attach`, one `withdraw`.
pub trait Backend: Send + Sync {
    /// Its name, as `SHMEM_BACKEND` spells it.
    fn name(&self) -> &'static str;

    /// Bytes of a symmetric heap if nobody says how many. The node's memory is shared
    /// out: a job that stays within its heaps stays within the machine.
    fn default_heap(&self, npes: usize) -> u64 {
        (process::machine_memory() / npes as u64).max(64 << 20)
    }

    /// Finds places for the heap, at a multiple of `unit` bytes, and the peers' mirrors.
    fn layout(
        &self,
        program: &DataSegment,
        heap_bytes: usize,
        unit: usize,
        npes: usize,
    ) -> Result<Layout, Error> {
        Layout::reserve(program, heap_bytes, unit, npes)
    }

    /// Maps the heap at `layout.heap`, zeroed, with these pages. Can be tried again with
    /// others after a failure.
    fn map_heap(
        &self,
        control: &Control,
        pe: usize,
        layout: &Layout,
        pages: Pages,
    ) -> Result<(), Error>;

    /// Makes this PE's slot attachable; its heap is mapped. The data segment keeps its
    /// address and content; no write by another thread or a handler is lost.
    fn export(
        &self,
        control: &Control,
        pe: usize,
        layout: &Layout,
        data: &DataSegment,
    ) -> Result<(), Error>;

    /// Maps the slot of `pe`, whose heap is as large as this PE's, at its mirror's
    /// place in the window.
    fn attach(&self, control: &Control, pe: usize, layout: &Layout) -> Result<(), Error>;

    /// Gives the heap's memory back, and the mirrors. Nobody uses either any more;
    /// the data segment stays as it is.
    fn withdraw(&self, control: &Control, pe: usize, layout: &Layout);

    /// Whether data segment and heap are shared memory, so that a forked child needs
    /// copies of its own.
    fn is_shared(&self) -> bool;
}

/// A backend, and why it was chosen.
pub struct Choice {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// The reason, for people.
    pub reason: String,
}
