//! Where the parts of a slot and the peers' mirrors go in this address space.
//!
//! ```text
//!  heap | hole: code, constants | data      brk ...     window: mirror 0 | mirror 1 | ...
//! ```
//!
//! The heap goes right below the program, so that nothing but the program's own
//! code lies between heap and data, and any other memory (malloc, stacks,
//! libraries) is outside the slot. A program linked at a fixed low address has no room below
//! it; there the heap goes above, and the hole holds what `brk` grows into.
//!
//! A mirror has the slot's own inner layout, so one addition translates both
//! parts. What is not mapped stays reserved and untouchable: an address in the
//! hole, or past an end, faults and is explained ([`crate::job`]'s fault handler).

use crate::error::Error;
use crate::memory::segment::DataSegment;
use crate::sys::{map, program};
use crate::translate::SlotBounds;
use std::ops::Range;

/// Everything is placed at multiples of this, so that huge pages can be used.
pub(crate) const HUGE: usize = 2 << 20;
/// Room left for `brk` between the data segment and the heap.
const BREAK_ROOM: usize = 4 << 30;
/// How far apart the places tried for the heap are, and how many are tried.
const STEP: usize = 1 << 30;
const TRIES: usize = 64;
/// No mapping below this (the system's own limit is lower).
const LOWEST: usize = 1 << 30;

/// This PE's slot and the window its peers' mirrors go into.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Data segment.
    pub data: Range<usize>,
    /// Symmetric heap.
    pub heap: Range<usize>,
    program_start: usize,
    window: Range<usize>,
    stride: usize,
}

/// Where `brk` stands if it grows up from the data segment (a static
/// position-independent program has it elsewhere), else the data segment's end.
fn end_of_break(data: &Range<usize>) -> usize {
    let end = program::program_break();
    if (data.end..data.end + STEP).contains(&end) { end } else { data.end }
}

const fn round_up(bytes: usize, unit: usize) -> usize {
    bytes.div_ceil(unit) * unit
}

impl Layout {
    /// Places a heap of `heap_bytes` near the data segment and reserves the window
    /// for `npes` mirrors. Nothing is mapped yet.
    pub fn reserve(program: &DataSegment, heap_bytes: usize, npes: usize) -> Result<Self, Error> {
        let data = program.pages.clone();
        let explain = |error: Error| {
            Error::Slot(format!(
                "no address space for {npes} PEs with a symmetric heap of {heap_bytes} bytes each: \
                 {error}; lower SHMEM_SYMMETRIC_SIZE or raise the limit (ulimit -v)"
            ))
        };
        // Room to align, and a page at least on either side: a copy that runs over
        // an end must fault.
        let reserved = round_up(heap_bytes, HUGE) + 2 * HUGE;
        let below = program.program_start.checked_sub(reserved).map(|at| at / HUGE * HUGE);
        let below =
            (0..TRIES).filter_map(|i| below?.checked_sub(i * STEP).filter(|at| *at >= LOWEST));
        let above = round_up(end_of_break(&data) + BREAK_ROOM, HUGE);
        let above = (0..TRIES).map(|i| above + i * STEP);
        let heap = below
            .chain(above)
            .find_map(|at| map::reserve_at(at, reserved))
            .map_or_else(|| map::reserve(reserved), Ok)
            .map_err(explain)?;
        let heap = round_up(heap + 1, HUGE);
        let heap = heap..heap + heap_bytes;

        let span = data.end.max(heap.end) - data.start.min(heap.start);
        let stride = round_up(span, HUGE) + 2 * HUGE;
        let bytes = stride.checked_mul(npes).and_then(|b| b.checked_add(2 * HUGE));
        let bytes = bytes.ok_or_else(|| {
            Error::Slot(format!("{npes} mirrors of {stride:#x} bytes exceed the address space"))
        })?;
        let window = map::reserve(bytes).map_err(explain)?;
        Ok(Self {
            data,
            heap,
            program_start: program.program_start,
            window: window..window + bytes,
            stride,
        })
    }

    /// The slot's parts in address order.
    pub fn bounds(&self) -> SlotBounds {
        let (data, heap) = (self.data.clone(), self.heap.clone());
        if data.start < heap.start {
            SlotBounds { lower: data, upper: heap, hole_is_program: false }
        } else {
            let hole_is_program = self.program_start - heap.end < 4 * HUGE;
            SlotBounds { lower: heap, upper: data, hole_is_program }
        }
    }

    /// First address of the slot.
    pub fn start(&self) -> usize {
        self.data.start.min(self.heap.start)
    }

    /// Where the mirror of PE `pe` starts.
    pub fn mirror(&self, pe: usize) -> usize {
        round_up(self.window.start, HUGE) + HUGE + pe * self.stride + self.start() % HUGE
    }

    /// Where an address of the slot is in the mirror of `pe`.
    pub fn mirrored(&self, pe: usize, address: usize) -> usize {
        self.mirror(pe) + (address - self.start())
    }

    /// Which PE's mirror an address lies in, and which address of the own slot it
    /// stands for.
    pub fn unmirrored(&self, address: usize) -> Option<(usize, usize)> {
        if !self.window.contains(&address) {
            return None;
        }
        let first = self.mirror(0);
        let pe = address.saturating_sub(first) / self.stride;
        Some((pe, address.wrapping_sub(self.mirror(pe)).wrapping_add(self.start())))
    }

    /// Whether an address is symmetric: in the data segment or the heap.
    pub fn contains(&self, address: usize) -> bool {
        self.data.contains(&address) || self.heap.contains(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(at: usize) -> DataSegment {
        let pages = at + 0x10000..at + 0x13000;
        DataSegment { file_end: pages.start, pages, program_start: at, fingerprint: 0 }
    }

    #[test]
    fn mirrors_keep_the_inner_layout_and_do_not_touch() {
        for at in [0x400000, 0x2000_0000_0000] {
            let program = program(at);
            let layout = Layout::reserve(&program, 5 << 20, 3).unwrap();
            if at > LOWEST {
                assert!(layout.heap.end < program.program_start);
            } else {
                assert!(layout.heap.start >= layout.data.end + BREAK_ROOM);
            }
            for pe in 0..3 {
                let data = layout.mirrored(pe, layout.data.start);
                let heap = layout.mirrored(pe, layout.heap.start);
                assert_eq!(
                    heap.wrapping_sub(data),
                    layout.heap.start.wrapping_sub(layout.data.start)
                );
                assert_eq!(heap % HUGE, 0);
                assert_eq!(layout.unmirrored(heap + 5), Some((pe, layout.heap.start + 5)));
            }
            let last = layout.heap.end.max(layout.data.end);
            assert!(layout.mirrored(0, last) + HUGE <= layout.mirror(1));
            assert!(layout.mirrored(2, last) + HUGE <= layout.window.end);
            assert_eq!(layout.unmirrored(layout.heap.start), None);
        }
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        let error = Layout::reserve(&program(0x400000), 1 << 47, 64).unwrap_err();
        assert!(error.to_string().contains("SHMEM_SYMMETRIC_SIZE"), "{error}");
    }
}
