//! SMARTMAP's addresses on Linux: slots lie in the job's memory file as usual, and their aliases
//! are mapped one by one.
#![allow(unsafe_code)]

use crate::atomics::Ordering;
use crate::backend::memfd::{self, Memfd};
use crate::backend::{Backend, Slots};
use crate::error::Error;
use crate::layout::Layout;
use crate::pages::Pages;
use crate::segment::DataSegment;
use crate::sys::map;
use crate::sys::mutex;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Slots in the job's memory file, mirrors at their aliases.
#[derive(Debug, Default)]
pub struct Placed {
    slots: Memfd,
    /// The PEs whose aliases are mapped, with the kind of pages of their heaps. Aliases never move
    /// and are never unmapped.
    mapped: Mutex<BTreeMap<usize, u64>>,
}

impl Placed {
    fn map_aliases(&self, slots: &dyn Slots, rank: usize, layout: &Layout) -> Result<(), Error> {
        let mut mapped = mutex::lock(&self.mapped);
        let pages = slots.record(rank).heap_pages.load(Ordering::Relaxed);
        // SAFETY: its parts are reserved below, the first time. Nobody uses them before `translate` learns
        // of them, or between two lifetimes.
        let mirror = unsafe { layout.mirror_place(rank) };
        match mapped.insert(rank, pages) {
            Some(before) if before == pages => return Ok(()),
            Some(_) => return memfd::map_peers_heap(slots, mirror),
            None => {}
        }
        // The heap first: it is larger, and more likely to be refused.
        for range in [&layout.area(), &layout.data] {
            let at = layout.mirrored(rank, range.start);
            if map::reserve_at(at, range.len()).is_none() {
                return Err(Error::NoWay(format!(
                    "{at:#x}..{:#x}, where its {:#x}..{:#x} has to appear, is not free in this \
                     process",
                    at + range.len(),
                    range.start,
                    range.end
                )));
            }
        }
        memfd::map_peers_heap(slots, mirror)?;
        memfd::map_peers_partitions(slots, mirror)?;
        memfd::map_data(slots, mirror)
    }
}

// SAFETY: as for `Memfd`, which does most of it. Aliases are mapped over places that were free, and
// stay.
unsafe impl Backend for Placed {
    fn name(&self) -> &'static str {
        "smartmap"
    }

    fn map_heap(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        pages: Pages,
    ) -> Result<(), Error> {
        self.slots.map_heap(slots, rank, layout, pages)
    }

    fn map_partition(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        index: usize,
    ) -> Result<(), Error> {
        self.slots.map_partition(slots, rank, layout, index)
    }

    fn export(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        data: &DataSegment,
    ) -> Result<(), Error> {
        self.slots.export(slots, rank, layout, data)?;
        // As on Kitten, a PE also has an alias of its own memory.
        self.map_aliases(slots, rank, layout)
    }

    fn attach(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        _: bool,
    ) -> Result<(), Error> {
        self.map_aliases(slots, rank, layout)
    }

    fn withdraw(&self, slots: &dyn Slots, rank: usize, layout: &Layout) {
        self.slots.withdraw(slots, rank, layout);
    }

    fn is_shared(&self) -> bool {
        true
    }
}
