//! SMARTMAP as the Kitten kernel provides it: nothing to export, nothing to attach. The symmetric
//! heap is part of the process's own heap.
#![allow(unsafe_code)]

use crate::atomics::Ordering;
use crate::backend::{Backend, Backing, Slots};
use crate::error::Error;
use crate::layout::{HUGE, Layout, Sizes};
use crate::pages::Pages;
use crate::segment::DataSegment;
use crate::sys::map::{self, Reserved};
use oneshmem_kitten::addressing::SLOT_BYTES;
use std::ops::Range;

/// Kitten commits memory when it is requested, from what the loader gave the process: 16 MiB with
/// the simplest of its loaders.
const DEFAULT_HEAP: u64 = 4 << 20;

/// Slots that the kernel provides.
#[derive(Debug)]
pub struct Kitten;

/// Zeroes a part of the layout's memory.
fn zero(part: &Reserved) {
    let Range { start, end } = *part.range();
    // SAFETY: of the writable memory that `layout` asked for, and no peer uses it before this PE reports
    // that it is ready.
    unsafe { std::ptr::write_bytes(start as *mut u8, 0, end - start) };
}

// SAFETY: the heap and the partitions are this process's own memory, given to it for good. The kernel
// itself has each peer's memory at its alias.
unsafe impl Backend for Kitten {
    fn name(&self) -> &'static str {
        "smartmap"
    }

    fn default_heap(&self, _: usize) -> u64 {
        DEFAULT_HEAP
    }

    fn layout(
        &self,
        program: &DataSegment,
        sizes: &Sizes,
        ranks: usize,
        _: u64,
    ) -> Result<Layout, Error> {
        // Aligned like all symmetric heaps, so that blocks can be aligned.
        let bytes = sizes.total(HUGE) + HUGE;
        let at = map::private_anywhere(bytes).map_err(|error| {
            Error::NoWay(format!(
                "the loader's heap for this process has no room for a symmetric heap of \
                 {bytes} bytes: {error}; lower SHMEM_SYMMETRIC_SIZE or have the loader give more"
            ))
        })?;
        if at == 0 || at.saturating_add(bytes) > SLOT_BYTES {
            return Err(Error::NoWay(format!(
                "the kernel put the symmetric heap at {at:#x}, not below {SLOT_BYTES:#x}"
            )));
        }
        let places = sizes.place(at.next_multiple_of(HUGE), HUGE);
        Layout::with_places(program, places, HUGE, ranks)
    }

    fn map_heap(
        &self,
        _: &dyn Slots,
        _: usize,
        layout: &Layout,
        pages: Pages,
    ) -> Result<(), Error> {
        if pages != Pages::Normal {
            return Err(Error::NoWay("Kitten decides itself what its memory is made of".into()));
        }
        zero(&layout.heap_place());
        Ok(())
    }

    fn map_partition(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        index: usize,
    ) -> Result<(), Error> {
        let Backing::Memory(Pages::Normal, _) =
            slots.partition(rank, index, layout.partition_offset(index))?
        else {
            return Err(Error::NoWay("on Kitten partitions are ordinary memory only".into()));
        };
        zero(&layout.partition_place(index));
        Ok(())
    }

    fn export(&self, _: &dyn Slots, _: usize, _: &Layout, _: &DataSegment) -> Result<(), Error> {
        Ok(())
    }

    fn attach(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        _: bool,
    ) -> Result<(), Error> {
        let theirs = slots.record(rank).heap_address.load(Ordering::Relaxed) as usize;
        if theirs == layout.heap.start {
            return Ok(());
        }
        Err(Error::NoWay(format!(
            "its symmetric heap is at {theirs:#x}, this PE's at {:#x}; all PEs must have allocated \
             the same memory before shmem_init",
            layout.heap.start
        )))
    }

    fn withdraw(&self, _: &dyn Slots, _: usize, _: &Layout) {}

    fn is_shared(&self) -> bool {
        false
    }
}
