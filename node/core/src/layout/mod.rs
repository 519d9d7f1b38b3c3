//! Places the parts of a slot and the peers' mirrors in this address space.
//!
//! A mirror has the slot's own inner layout, so one addition translates addresses of both parts.
//! Memory that is not mapped stays reserved and inaccessible: an access to the hole or past an end
//! faults, and the client's fault handler explains it.
//!
//! `mirrors` decides where the heap may go and where the mirrors are. There are two versions: a
//! window anywhere, or SMARTMAP's aliases.

#[cfg(feature = "smartmap")]
#[path = "aliases.rs"]
mod mirrors;
#[cfg(not(feature = "smartmap"))]
#[path = "window.rs"]
mod mirrors;
mod reserved;

use crate::error::Error;
use crate::segment::DataSegment;
use crate::sys::map::OwnMapping;
use mirrors::Mirrors;
pub use mirrors::heap_places;
pub use reserved::MirrorPlace;
use std::ops::Range;

/// Everything is placed at multiples of this, so that huge pages can be used.
pub const HUGE: usize = 2 << 20;
/// The heap starts at a multiple of this on every rank, so that equal offsets have equal alignment
/// up to this value.
pub const HEAP_ALIGNMENT: usize = 64 << 20;
/// Room left for `brk` between the data segment and the heap.
const BREAK_ROOM: usize = 4 << 30;
/// The distance between the places tried for the heap, and the number of tries.
const STEP: usize = 1 << 30;
const TRIES: usize = 64;

/// Nothing is ever mapped below this (`vm.mmap_min_addr`).
const NULL_PAGE: usize = 64 << 10;

/// The sizes of the heap and the partitions, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The heap.
    pub heap: usize,
    /// The partitions, in their order in the slot.
    pub partitions: Vec<usize>,
    /// Heap, partitions and their mirrors start at multiples of this.
    pub unit: usize,
}

impl Sizes {
    /// A heap without partitions.
    pub fn of_heap(heap: usize, unit: usize) -> Self {
        Self { heap, partitions: Vec::new(), unit }
    }

    /// Bytes from one partition's start to the next part. The bytes past its end fault.
    fn room(bytes: usize, alignment: usize) -> usize {
        round_up(bytes + HUGE, alignment)
    }

    /// Bytes of all partitions and the gaps between them and the heap.
    fn below(&self, alignment: usize) -> usize {
        self.partitions.iter().map(|bytes| Self::room(*bytes, alignment)).sum()
    }

    /// Bytes from the first partition, at a multiple of `alignment`, to the heap's end.
    pub(crate) fn total(&self, alignment: usize) -> usize {
        self.below(alignment) + self.heap
    }

    /// The places of the partitions and the heap from `start` on, a multiple of `alignment`.
    pub(crate) fn place(&self, start: usize, alignment: usize) -> Places {
        let mut at = start;
        let partition = |bytes: &usize| {
            let range = at..at + bytes;
            at += Self::room(*bytes, alignment);
            range
        };
        let partitions = self.partitions.iter().map(partition).collect();
        Places { partitions, heap: at..at + self.heap }
    }
}

/// Where partitions and heap lie. They share one reservation.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub partitions: Vec<Range<usize>>,
    pub heap: Range<usize>,
}

impl Places {
    /// The range of partitions and heap.
    fn area(&self) -> Range<usize> {
        self.partitions.first().unwrap_or(&self.heap).start..self.heap.end
    }
}

/// Where the slot's parts lie, as addresses in this address space.
#[derive(Clone, Debug)]
pub struct SlotBounds {
    /// The lower piece: usually the data segment.
    pub lower: Range<usize>,
    /// The upper piece: usually the heap.
    pub upper: Range<usize>,
    /// The partitions, which come first in the heap's piece.
    pub partitions: Vec<Range<usize>>,
    /// Where the heap itself starts.
    pub heap: usize,
    /// Whether nothing of this process lies below: neither its program nor what the system maps for it.
    pub is_lowest: bool,
}

impl SlotBounds {
    /// The data segment, the heap and each partition, in address order.
    pub fn pieces(&self) -> Vec<Range<usize>> {
        let heap_in = |piece: &Range<usize>| match piece.contains(&self.heap) {
            true => self.heap..piece.end,
            false => piece.clone(),
        };
        let core = [heap_in(&self.lower), heap_in(&self.upper)];
        let mut pieces: Vec<_> = self.partitions.iter().cloned().chain(core).collect();
        pieces.sort_by_key(|piece| piece.start);
        pieces
    }
}

/// This process's slot and the places of its peers' mirrors. All of these addresses are reserved for
/// them, for good, so they may be mapped over: nothing else makes a layout.
#[derive(Debug)]
pub struct Layout {
    pub(crate) data: Range<usize>,
    pub(crate) heap: Range<usize>,
    pub(crate) partitions: Vec<Range<usize>>,
    mirrors: Mirrors,
    is_common: bool,
}

const fn round_up(bytes: usize, unit: usize) -> usize {
    bytes.div_ceil(unit) * unit
}

impl Layout {
    /// Finds places for heap and partitions, and room for `ranks` mirrors. Where the system allows it, heap
    /// and partitions get equal addresses on all ranks that pass the same sizes and the same `chance`;
    /// otherwise they lie near the data segment. Nothing is mapped yet.
    pub fn reserve(
        program: &DataSegment,
        sizes: &Sizes,
        ranks: usize,
        chance: u64,
    ) -> Result<Self, Error> {
        mirrors::check(program)?;
        let alignment = HEAP_ALIGNMENT.max(sizes.unit);
        // Room to align, and at least a page on either side: a copy that runs past an end must
        // fault.
        let bytes = sizes.total(alignment);
        let reserved = round_up(bytes, HUGE) + HUGE + alignment;
        let places =
            |at: &OwnMapping| sizes.place(round_up(at.range().start + 1, alignment), alignment);
        let at = mirrors::common_place(program, reserved, chance);
        if let Some(reservation) = OwnMapping::reserve_if_free(at, reserved) {
            let places = places(&reservation);
            let (place, start) = (reservation.range(), places.area().start);
            let mirrors = Mirrors::at_common_place(program, place, start, sizes.unit, ranks);
            if let Some(mirrors) = mirrors {
                reservation.keep();
                return Ok(Self::of(program, places, mirrors, true));
            }
        }
        let reservation = mirrors::heap_places(program, reserved)
            .find_map(|at| OwnMapping::reserve_at(at, reserved))
            .map_or_else(|| mirrors::heap_elsewhere(reserved), Ok)
            .map_err(|error| no_room(bytes, ranks, error))?;
        let layout = Self::with_places(program, places(&reservation), sizes.unit, ranks)?;
        reservation.keep();
        Ok(layout)
    }

    /// The layout around a heap and partitions whose places are fixed already.
    pub(crate) fn with_places(
        program: &DataSegment,
        places: Places,
        unit: usize,
        ranks: usize,
    ) -> Result<Self, Error> {
        let (data, area) = (&program.pages, places.area());
        let slot = data.start.min(area.start)..data.end.max(area.end);
        let mirrors = Mirrors::for_slot(&slot, unit, ranks)
            .map_err(|error| no_room(area.len(), ranks, error))?;
        Ok(Self::of(program, places, mirrors, false))
    }

    fn of(program: &DataSegment, places: Places, mirrors: Mirrors, is_common: bool) -> Self {
        let Places { partitions, heap } = places;
        Self { data: program.pages.clone(), heap, partitions, mirrors, is_common }
    }

    /// Whether heap and partitions are where all ranks of the job have theirs, if these can.
    pub fn is_common(&self) -> bool {
        self.is_common
    }

    /// The data segment.
    pub fn data(&self) -> &Range<usize> {
        &self.data
    }

    /// The symmetric heap.
    pub fn heap(&self) -> &Range<usize> {
        &self.heap
    }

    /// Further memory, right below the heap. The gaps between are reserved and inaccessible.
    pub fn partitions(&self) -> &[Range<usize>] {
        &self.partitions
    }

    /// From the first partition to the heap's end.
    pub fn area(&self) -> Range<usize> {
        self.partitions.first().unwrap_or(&self.heap).start..self.heap.end
    }

    /// The offset of a partition from the first one, in bytes.
    pub fn partition_offset(&self, index: usize) -> usize {
        self.partitions[index].start - self.partitions[0].start
    }

    /// The slot's parts in address order.
    pub fn bounds(&self) -> SlotBounds {
        let (data, area) = (self.data.clone(), self.area());
        // The system has found a place for the mirrors, as for other memory.
        let (lower, upper, is_lowest) = match data.start < area.start {
            true => (data, area, false),
            false => (area, data, self.mirror(0) > self.start()),
        };
        let (partitions, heap) = (self.partitions.clone(), self.heap.start);
        SlotBounds { lower, upper, partitions, heap, is_lowest }
    }

    /// First address of the slot.
    pub fn start(&self) -> usize {
        self.data.start.min(self.area().start)
    }

    /// Where the mirror of rank `rank` starts.
    pub fn mirror(&self, rank: usize) -> usize {
        self.mirrors.mirror(self.start(), rank)
    }

    /// The address in the mirror of `rank` that corresponds to an address of the slot.
    pub fn mirrored(&self, rank: usize, address: usize) -> usize {
        self.mirror(rank) + (address - self.start())
    }

    /// The rank whose mirror contains an address, and the corresponding address of this process's
    /// slot.
    pub fn unmirrored(&self, address: usize) -> Option<(usize, usize)> {
        self.mirrors.unmirrored(self.start(), address)
    }

    /// The rank for which a null pointer, if translated nevertheless, leads to this address: as far
    /// from the rank's mirror as the bottom of memory is from this process's slot.
    pub fn unmirrored_null(&self, address: usize, ranks: usize) -> Option<usize> {
        let null = |rank: &usize| self.mirror(*rank).wrapping_sub(self.start());
        (0..ranks).find(|rank| address.wrapping_sub(null(rank)) < NULL_PAGE)
    }

    /// Whether an address is symmetric: in the data segment, the heap or a partition.
    pub fn contains(&self, address: usize) -> bool {
        self.data.contains(&address)
            || self.heap.contains(&address)
            || self.partitions.iter().any(|partition| partition.contains(&address))
    }
}

fn no_room(bytes: usize, peers: usize, why: Error) -> Error {
    Error::NoRoom { peers, bytes, why: Box::new(why) }
}
