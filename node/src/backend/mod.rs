//! How a slot is exported and how a peer's is attached: the one seam between the
//! ways to map memory. No backend is consulted on the data path.

pub mod memfd;
mod slots;
#[cfg(feature = "smartmap")]
pub mod smartmap;
pub mod xpmem;

use crate::error::Error;
use crate::layout::{Layout, Sizes};
use crate::pages::Pages;
use crate::segment::DataSegment;
use crate::sys::process;

pub use slots::{Backing, SlotRecord, Slots};

/// One way to map peers' slots. A lifetime (first init to last finalize) is one
/// `export`, any number of `attach`, one `withdraw`.
pub trait Backend: Send + Sync {
    /// Its name, as people spell it.
    fn name(&self) -> &'static str;

    /// Bytes of a symmetric heap if nobody says how many. The node's memory is shared
    /// out: a job that stays within its heaps stays within the machine.
    fn default_heap(&self, ranks: usize) -> u64 {
        (process::machine_memory() / ranks as u64).max(64 << 20)
    }

    /// Finds places for the heap, the partitions and the peers' mirrors.
    fn layout(&self, program: &DataSegment, sizes: &Sizes, ranks: usize) -> Result<Layout, Error> {
        Layout::reserve(program, sizes, ranks)
    }

    /// Maps the heap at `layout.heap`, zeroed, with these pages. Can be tried again with
    /// others after a failure.
    fn map_heap(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        pages: Pages,
    ) -> Result<(), Error>;

    /// Maps partition `index` at its place, zeroed unless it is a file of its own.
    fn map_partition(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        index: usize,
    ) -> Result<(), Error>;

    /// Makes this PE's slot attachable; its heap and partitions are mapped. The data segment keeps
    /// its address and content; no write by another thread or a handler is lost.
    fn export(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        data: &DataSegment,
    ) -> Result<(), Error>;

    /// Maps the slot of `pe`, whose heap and partitions are as large as this PE's, at its
    /// mirror's place in the window.
    fn attach(&self, slots: &dyn Slots, rank: usize, layout: &Layout) -> Result<(), Error>;

    /// Gives the heap's memory back, the partitions' but files, and the mirrors. Nobody uses either
    /// any more; the data segment stays as it is.
    fn withdraw(&self, slots: &dyn Slots, rank: usize, layout: &Layout);

    /// Whether data segment and heap are shared memory, so that a forked child needs
    /// copies of its own.
    fn is_shared(&self) -> bool;
}
