//! Mirrors at SMARTMAP's addresses: `own address | (pe + 1) << 39`.
//!
//! ```text
//!  slot 0: code | data | brk ...  | heap | ...      slot 1: PE 0     slot 2: PE 1 ...
//! ```
//!
//! The slot has to lie below 512 GiB, so the program is linked at a fixed low address, and the heap
//! goes above it, at the same address on all PEs. On Kitten nothing is placed: the heap is ordinary
//! memory of the process.

use super::{BREAK_ROOM, HUGE, Layout, STEP, Sizes, TRIES, round_up};
use crate::error::Error;
use crate::segment::DataSegment;
use crate::sys::map::{self, OwnMapping};
use crate::sys::mutex;
use oneshmem_kitten::addressing::{FIRST_SLOT, SHIFT, SLOT_BYTES, unalias};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Mutex;

/// The program must lie in slot 0.
pub(super) fn check(program: &DataSegment) -> Result<(), Error> {
    if program.pages.end < SLOT_BYTES {
        return Ok(());
    }
    Err(Error::NoWay(format!(
        "the program is position independent: its data lies at {:#x}, and this library (feature \
         smartmap) reaches peers' memory below {SLOT_BYTES:#x} only; compile with -fno-pie and \
         link with -no-pie, as this library's oshcc does",
        program.pages.start
    )))
}

/// The places to try for a heap with a reservation of `reserved` bytes, best first. The data
/// segment ends at the same address on all PEs, but `brk` starts at a random one.
pub fn heap_places(program: &DataSegment, reserved: usize) -> impl Iterator<Item = usize> + use<> {
    let above = round_up(program.pages.end + BREAK_ROOM, STEP);
    (0..TRIES)
        .map(move |i| above + i * STEP)
        .filter(move |at| at.saturating_add(reserved) <= SLOT_BYTES)
}

/// The best of these places is the same on all PEs.
pub(super) fn common_place(program: &DataSegment, _: usize, _: u64) -> usize {
    round_up(program.pages.end + BREAK_ROOM, STEP)
}

/// Fails: none of these places is free.
pub(super) fn heap_elsewhere(reserved: usize) -> Result<OwnMapping, Error> {
    Err(Error::NoWay(format!("no {reserved:#x} bytes are free below {SLOT_BYTES:#x}")))
}

impl Layout {
    /// The layout of a process under the Kitten kernel, which has each rank's memory at its alias: heap and
    /// partitions are memory of the process's own heap.
    pub fn in_own_heap(program: &DataSegment, sizes: &Sizes, ranks: usize) -> Result<Self, Error> {
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
        let mut layout = Self::with_places(program, places, HUGE, ranks)?;
        layout.mirrors.reserved = None;
        Ok(layout)
    }
}

/// The aliases of the ranks' slots.
#[derive(Debug)]
pub(super) struct Mirrors {
    ranks: usize,
    /// The ranks whose aliases are reserved; `None` where the kernel provides them.
    reserved: Option<Mutex<BTreeSet<usize>>>,
}

impl Mirrors {
    pub fn for_slot(slot: &Range<usize>, _: usize, ranks: usize) -> Result<Self, Error> {
        if slot.end > SLOT_BYTES {
            return Err(Error::NoWay(format!(
                "the slot {:#x}..{:#x} reaches beyond {SLOT_BYTES:#x}",
                slot.start, slot.end
            )));
        }
        Ok(Self { ranks, reserved: Some(Mutex::default()) })
    }

    pub fn at_common_place(
        program: &DataSegment,
        heap: &Range<usize>,
        _: usize,
        unit: usize,
        ranks: usize,
    ) -> Option<Self> {
        Self::for_slot(&(program.pages.start..heap.end), unit, ranks).ok()
    }

    /// Reserves the aliases of these parts of a rank's slot, once.
    pub fn reserve(&self, rank: usize, parts: [Range<usize>; 2]) -> Result<(), Error> {
        let Some(reserved) = &self.reserved else { return Ok(()) };
        let mut reserved = mutex::lock(reserved);
        if reserved.contains(&rank) {
            return Ok(());
        }
        let alias = |part: &Range<usize>| {
            let at = self.mirror(part.start, rank);
            at..at + part.len()
        };
        map::reserve_all(&parts.each_ref().map(alias)).map_err(|place| {
            Error::NoWay(format!(
                "{place:#x?}, where a part of its memory has to appear, is not free in this process"
            ))
        })?;
        reserved.insert(rank);
        Ok(())
    }

    pub fn mirror(&self, start: usize, rank: usize) -> usize {
        start + ((rank + FIRST_SLOT) << SHIFT)
    }

    pub fn unmirrored(&self, _: usize, address: usize) -> Option<(usize, usize)> {
        unalias(address).filter(|(rank, _)| *rank < self.ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneshmem_kitten::addressing::alias;

    fn program(at: usize) -> DataSegment {
        let pages = at + 0x10000..at + 0x13000;
        let system = pages.end..pages.end;
        DataSegment { pages, pieces: Vec::new(), system, program_start: at, fingerprint: 0 }
    }

    #[test]
    fn mirrors_are_aliases() {
        let layout =
            Layout::reserve(&program(0x400000), &Sizes::of_heap(5 << 20, 4096), 3, 0).unwrap();
        assert!(layout.heap.start >= layout.data.end + BREAK_ROOM);
        assert_eq!(layout.heap.start % HUGE, 0);
        for rank in 0..3 {
            for own in [layout.data.start, layout.heap.start + 5] {
                assert_eq!(layout.mirrored(rank, own), alias(own, rank));
                assert_eq!(layout.unmirrored(alias(own, rank)), Some((rank, own)));
            }
        }
        assert_eq!(layout.unmirrored(alias(layout.heap.start, 3)), None);
        assert_eq!(layout.unmirrored(layout.heap.start), None);
    }

    #[test]
    fn the_break_does_not_move_the_heap() {
        let program = program(0x400000);
        let first = heap_places(&program, HUGE).next();
        assert_eq!(first, Some(round_up(program.pages.end + BREAK_ROOM, STEP)));
    }

    #[test]
    fn a_position_independent_program_is_refused() {
        let error = Layout::reserve(&program(0x5555_5555_4000), &Sizes::of_heap(HUGE, 4096), 3, 0)
            .unwrap_err();
        assert!(error.to_string().contains("-no-pie"), "{error}");
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        let error =
            Layout::reserve(&program(0x400000), &Sizes::of_heap(1 << 39, 4096), 2, 0).unwrap_err();
        assert!(error.to_string().contains("ask for less"), "{error}");
    }
}
