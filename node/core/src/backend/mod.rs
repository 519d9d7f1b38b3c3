//! How a slot is exported and how a peer's slot is attached: the common interface of the backends.
//! No backend is consulted on the data path.
#![allow(unsafe_code)]

pub mod memfd;
mod slots;
#[cfg(feature = "smartmap")]
pub mod smartmap;
pub mod xpmem;

use crate::error::Error;
use crate::layout::{Layout, Sizes};
use crate::pages::Pages;
use crate::segment::DataSegment;
use crate::sys::cgroup;

pub use slots::{Backing, SlotRecord, Slots};

/// A method of mapping peers' slots. A lifetime (first init to last finalize) consists of one
/// `export`, any number of `attach` and one `withdraw`.
///
/// # Safety
/// Users of a slot access it, and its mirrors, with nothing but these calls' word for it. So an
/// implementation maps at the places of the [`Layout`] and nowhere else, memory that stays there, as
/// long as the layout says; what is mapped in a mirror is the memory of that rank, and cannot become
/// shorter; and `export` leaves the data segment's address and content.
pub unsafe trait Backend: Send + Sync {
    /// The backend's name, for users.
    fn name(&self) -> &'static str;

    /// The default size of a symmetric heap in bytes. The memory that the node, or its control
    /// group, has is divided among the ranks, so a job that stays within its heaps stays within it.
    fn default_heap(&self, ranks: usize) -> u64 {
        (cgroup::memory() / ranks as u64).max(64 << 20)
    }

    /// Finds places for the heap, the partitions and the peers' mirrors: see [`Layout::reserve`].
    fn layout(
        &self,
        program: &DataSegment,
        sizes: &Sizes,
        ranks: usize,
        chance: u64,
    ) -> Result<Layout, Error> {
        Layout::reserve(program, sizes, ranks, chance)
    }

    /// Maps the heap at `layout.heap`, zeroed, with these pages. After a failure it can be called
    /// again with other pages.
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

    /// Makes this PE's slot attachable. Its heap and partitions are mapped already. The data
    /// segment keeps its address and content, and no write by another thread or a signal handler is
    /// lost.
    fn export(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        data: &DataSegment,
    ) -> Result<(), Error>;

    /// Maps the slot of `rank`, whose heap and partitions are as large as this PE's, at the place
    /// of its mirror in the window. The data segment is left out unless the rank runs the `same`
    /// executable: only then is it laid out as this PE's.
    fn attach(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        same: bool,
    ) -> Result<(), Error>;

    /// Frees the memory of the heap and of the partitions that are not files, and unmaps the
    /// mirrors. Nobody uses them any more. The data segment stays as it is.
    fn withdraw(&self, slots: &dyn Slots, rank: usize, layout: &Layout);

    /// Whether data segment and heap are shared memory, so that a forked child needs its own
    /// copies.
    fn is_shared(&self) -> bool;
}
