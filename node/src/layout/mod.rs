//! Where the parts of a slot and the peers' mirrors go in this address space.
//!
//! A mirror has the slot's own inner layout, so one addition translates both
//! parts. What is not mapped stays reserved and untouchable: an address in the
//! hole, or past an end, faults and is explained (the client's fault handler).
//!
//! Where the heap may go and where mirrors are is decided in `mirrors`, of which there
//! are two: a window anywhere, or SMARTMAP's aliases.

#[cfg(feature = "smartmap")]
#[path = "aliases.rs"]
mod mirrors;
#[cfg(not(feature = "smartmap"))]
#[path = "window.rs"]
mod mirrors;

use crate::error::Error;
use crate::segment::DataSegment;
use crate::sys::map;
use mirrors::Mirrors;
pub(crate) use mirrors::heap_places;
use std::ops::Range;

/// Everything is placed at multiples of this, so that huge pages can be used.
pub const HUGE: usize = 2 << 20;
/// The heap starts at a multiple of this on every rank, so that equal offsets are
/// equally aligned up to it.
pub const HEAP_ALIGNMENT: usize = 64 << 20;
/// Room left for `brk` between the data segment and the heap.
const BREAK_ROOM: usize = 4 << 30;
/// How far apart the places tried for the heap are, and how many are tried.
const STEP: usize = 1 << 30;
const TRIES: usize = 64;

/// Nothing is ever mapped below this (`vm.mmap_min_addr`).
const NULL_PAGE: usize = 64 << 10;

/// Where the slot's parts lie. All in bytes of this address space.
#[derive(Clone, Debug)]
pub struct SlotBounds {
    /// The lower piece: usually the data segment.
    pub lower: Range<usize>,
    /// The upper piece: usually the heap.
    pub upper: Range<usize>,
    /// Whether nothing but the program's own code and constants lies between them.
    pub hole_is_program: bool,
}

/// This process's slot and where its peers' mirrors go.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Data segment.
    pub data: Range<usize>,
    /// Symmetric heap.
    pub heap: Range<usize>,
    /// Where the program itself starts.
    program_start: usize,
    mirrors: Mirrors,
}

const fn round_up(bytes: usize, unit: usize) -> usize {
    bytes.div_ceil(unit) * unit
}

impl Layout {
    /// Places a heap of `heap_bytes` near the data segment and finds room for
    /// `ranks` mirrors, the heap and its mirrors at multiples of `unit`. Nothing is mapped yet.
    pub fn reserve(
        program: &DataSegment,
        heap_bytes: usize,
        unit: usize,
        ranks: usize,
    ) -> Result<Self, Error> {
        mirrors::check(program)?;
        let alignment = HEAP_ALIGNMENT.max(unit);
        // Room to align, and a page at least on either side: a copy that runs over
        // an end must fault.
        let reserved = round_up(heap_bytes, HUGE) + HUGE + alignment;
        let heap = mirrors::heap_places(program, reserved)
            .find_map(|at| map::reserve_at(at, reserved))
            .map_or_else(|| mirrors::heap_elsewhere(reserved), Ok)
            .map_err(|error| no_room(heap_bytes, ranks, error))?;
        let heap = round_up(heap + 1, alignment);
        Self::with_heap(program, heap..heap + heap_bytes, unit, ranks)
    }

    /// The layout around a heap that has its place already.
    pub fn with_heap(
        program: &DataSegment,
        heap: Range<usize>,
        unit: usize,
        ranks: usize,
    ) -> Result<Self, Error> {
        let data = program.pages.clone();
        let slot = data.start.min(heap.start)..data.end.max(heap.end);
        let mirrors = Mirrors::for_slot(&slot, unit, ranks)
            .map_err(|error| no_room(heap.len(), ranks, error))?;
        Ok(Self { data, heap, program_start: program.program_start, mirrors })
    }

    /// The slot's parts in address order.
    pub fn bounds(&self) -> SlotBounds {
        let (data, heap) = (self.data.clone(), self.heap.clone());
        if data.start < heap.start {
            SlotBounds { lower: data, upper: heap, hole_is_program: false }
        } else {
            let room = 4 * HUGE + HEAP_ALIGNMENT.max(self.mirrors.unit());
            let hole_is_program = self.program_start - heap.end < room;
            SlotBounds { lower: heap, upper: data, hole_is_program }
        }
    }

    /// First address of the slot.
    pub fn start(&self) -> usize {
        self.data.start.min(self.heap.start)
    }

    /// Where the mirror of rank `rank` starts.
    pub fn mirror(&self, rank: usize) -> usize {
        self.mirrors.mirror(self.start(), rank)
    }

    /// Where an address of the slot is in the mirror of `rank`.
    pub fn mirrored(&self, rank: usize, address: usize) -> usize {
        self.mirror(rank) + (address - self.start())
    }

    /// Which rank's mirror an address lies in, and which address of the own slot it
    /// stands for.
    pub fn unmirrored(&self, address: usize) -> Option<(usize, usize)> {
        self.mirrors.unmirrored(self.start(), address)
    }

    /// The rank from whose mirror an address is as far away as the bottom of memory is from the own slot: where a
    /// null pointer leads that is translated all the same.
    pub fn unmirrored_null(&self, address: usize, ranks: usize) -> Option<usize> {
        let null = |rank: &usize| self.mirror(*rank).wrapping_sub(self.start());
        (0..ranks).find(|rank| address.wrapping_sub(null(rank)) < NULL_PAGE)
    }

    /// Whether an address is symmetric: in the data segment or the heap.
    pub fn contains(&self, address: usize) -> bool {
        self.data.contains(&address) || self.heap.contains(&address)
    }
}

fn no_room(bytes: usize, peers: usize, why: Error) -> Error {
    Error::NoRoom { peers, bytes, why: Box::new(why) }
}
