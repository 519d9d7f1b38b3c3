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

/// How large the heap and the partitions are to be, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The heap.
    pub heap: usize,
    /// The partitions, in their order in the slot.
    pub partitions: Vec<usize>,
    /// All of them and their mirrors start at multiples of this.
    pub unit: usize,
}

impl Sizes {
    /// A heap without partitions.
    pub fn of_heap(heap: usize, unit: usize) -> Self {
        Self { heap, partitions: Vec::new(), unit }
    }

    /// Bytes from one partition's start to what comes behind it: the rest faults.
    fn room(bytes: usize, alignment: usize) -> usize {
        round_up(bytes + HUGE, alignment)
    }

    /// Bytes of all partitions and what lies between them and the heap.
    fn below(&self, alignment: usize) -> usize {
        self.partitions.iter().map(|bytes| Self::room(*bytes, alignment)).sum()
    }

    /// Bytes from the first partition, at a multiple of `alignment`, to the heap's end.
    pub(crate) fn total(&self, alignment: usize) -> usize {
        self.below(alignment) + self.heap
    }

    /// The places from `start` on, a multiple of `alignment`: the partitions' and the heap's.
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

/// Where partitions and heap lie, which have one reservation.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub partitions: Vec<Range<usize>>,
    pub heap: Range<usize>,
}

impl Places {
    /// All of them.
    fn area(&self) -> Range<usize> {
        self.partitions.first().unwrap_or(&self.heap).start..self.heap.end
    }
}

/// Where the slot's parts lie. All in bytes of this address space.
#[derive(Clone, Debug)]
pub struct SlotBounds {
    /// The lower piece: usually the data segment.
    pub lower: Range<usize>,
    /// The upper piece: usually the heap.
    pub upper: Range<usize>,
    /// The partitions, which belong to the piece of the heap and are the first of it.
    pub partitions: Vec<Range<usize>>,
    /// Where the heap itself starts.
    pub heap: usize,
    /// Whether nothing but the program's own code and constants lies between them.
    pub hole_is_program: bool,
}

impl SlotBounds {
    /// All pieces one by one, if there are partitions.
    pub fn pieces(&self) -> Vec<Range<usize>> {
        if self.partitions.is_empty() {
            return Vec::new();
        }
        let heap_in = |piece: &Range<usize>| match piece.contains(&self.heap) {
            true => self.heap..piece.end,
            false => piece.clone(),
        };
        let core = [heap_in(&self.lower), heap_in(&self.upper)];
        self.partitions.iter().cloned().chain(core).collect()
    }
}

/// This process's slot and where its peers' mirrors go.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Data segment.
    pub data: Range<usize>,
    /// Symmetric heap.
    pub heap: Range<usize>,
    /// Further memory, right below the heap. What lies between is reserved and untouchable.
    pub partitions: Vec<Range<usize>>,
    /// Where the program itself starts.
    program_start: usize,
    mirrors: Mirrors,
}

const fn round_up(bytes: usize, unit: usize) -> usize {
    bytes.div_ceil(unit) * unit
}

impl Layout {
    /// Places heap and partitions near the data segment and finds room for `ranks` mirrors. Nothing
    /// is mapped yet.
    pub fn reserve(program: &DataSegment, sizes: &Sizes, ranks: usize) -> Result<Self, Error> {
        mirrors::check(program)?;
        let alignment = HEAP_ALIGNMENT.max(sizes.unit);
        // Room to align, and a page at least on either side: a copy that runs over
        // an end must fault.
        let bytes = sizes.total(alignment);
        let reserved = round_up(bytes, HUGE) + HUGE + alignment;
        let start = mirrors::heap_places(program, reserved)
            .find_map(|at| map::reserve_at(at, reserved))
            .map_or_else(|| mirrors::heap_elsewhere(reserved), Ok)
            .map_err(|error| no_room(bytes, ranks, error))?;
        let places = sizes.place(round_up(start + 1, alignment), alignment);
        Self::with_places(program, places, sizes.unit, ranks)
    }

    /// The layout around a heap and partitions that have their place already.
    pub(crate) fn with_places(
        program: &DataSegment,
        places: Places,
        unit: usize,
        ranks: usize,
    ) -> Result<Self, Error> {
        let (data, area) = (program.pages.clone(), places.area());
        let slot = data.start.min(area.start)..data.end.max(area.end);
        let mirrors = Mirrors::for_slot(&slot, unit, ranks)
            .map_err(|error| no_room(area.len(), ranks, error))?;
        let Places { partitions, heap } = places;
        Ok(Self { data, heap, partitions, program_start: program.program_start, mirrors })
    }

    /// From the first partition to the heap's end.
    pub fn area(&self) -> Range<usize> {
        self.partitions.first().unwrap_or(&self.heap).start..self.heap.end
    }

    /// How many bytes behind the first partition another one starts.
    pub fn partition_offset(&self, index: usize) -> usize {
        self.partitions[index].start - self.partitions[0].start
    }

    /// The slot's parts in address order.
    pub fn bounds(&self) -> SlotBounds {
        let (data, area) = (self.data.clone(), self.area());
        let (lower, upper, hole_is_program) = if data.start < area.start {
            (data, area, false)
        } else {
            let room = 4 * HUGE + HEAP_ALIGNMENT.max(self.mirrors.unit());
            let hole_is_program = self.program_start - area.end < room;
            (area, data, hole_is_program)
        };
        let (partitions, heap) = (self.partitions.clone(), self.heap.start);
        SlotBounds { lower, upper, partitions, heap, hole_is_program }
    }

    /// First address of the slot.
    pub fn start(&self) -> usize {
        self.data.start.min(self.area().start)
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

    /// The rank from whose mirror an address is as far away as the bottom of memory is from the own
    /// slot: where a null pointer leads that is translated all the same.
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
