//! Mirrors in a reserved window, at any place with enough room.
//!
//! ```text
//!  heap | hole: code, constants | data      brk ...     window: mirror 0 | mirror 1 | ...
//! ```
//!
//! The heap goes right below the program. Then only the program's own code lies between heap and
//! data, and all other memory (malloc, stacks, libraries) is outside the slot. A program linked at
//! a fixed low address has no room below it: there the heap goes above, and the hole leaves room
//! for `brk` to grow.

use super::{BREAK_ROOM, HUGE, STEP, TRIES, round_up};
use crate::error::Error;
use crate::segment::DataSegment;
use crate::sys::map::{self, OwnMapping};
use crate::sys::program;
use std::ops::Range;

/// No mapping goes below this. The system's own limit is lower.
pub(super) const LOWEST: usize = 1 << 30;

/// A window works for any program.
pub(super) fn check(_: &DataSegment) -> Result<(), Error> {
    Ok(())
}

/// The program break if it grows up from the data segment (a static position-independent program
/// has it elsewhere), otherwise the data segment's end.
fn end_of_break(data: &Range<usize>) -> usize {
    let end = program::program_break();
    if (data.end..data.end + STEP).contains(&end) { end } else { data.end }
}

/// The places to try for a heap with a reservation of `reserved` bytes, best first.
pub fn heap_places(program: &DataSegment, reserved: usize) -> impl Iterator<Item = usize> + use<> {
    let below = program.program_start.checked_sub(reserved).map(|at| at / HUGE * HUGE);
    let below =
        (0..TRIES).filter_map(move |i| below?.checked_sub(i * STEP).filter(|at| *at >= LOWEST));
    let above = round_up(end_of_break(&program.pages) + BREAK_ROOM, HUGE);
    below.chain((0..TRIES).map(move |i| above + i * STEP))
}

/// Reserves the heap anywhere if none of these places is free.
pub(super) fn heap_elsewhere(reserved: usize) -> Result<OwnMapping, Error> {
    OwnMapping::reserve(reserved)
}

/// The window.
#[derive(Clone, Debug)]
pub(super) struct Mirrors {
    window: Range<usize>,
    stride: usize,
    /// Mirrors and slot have equal remainders modulo this.
    unit: usize,
}

impl Mirrors {
    pub fn for_slot(slot: &Range<usize>, unit: usize, ranks: usize) -> Result<Self, Error> {
        let unit = unit.max(HUGE);
        let stride = round_up(slot.len(), unit) + 2 * unit;
        let bytes = stride.checked_mul(ranks).and_then(|b| b.checked_add(2 * unit));
        let bytes = bytes.ok_or_else(|| {
            Error::NoWay(format!("{ranks} mirrors of {stride:#x} bytes exceed the address space"))
        })?;
        let window = map::reserve(bytes)?;
        Ok(Self { window: window..window + bytes, stride, unit })
    }

    pub fn mirror(&self, start: usize, rank: usize) -> usize {
        let first = round_up(self.window.start, self.unit) + self.unit;
        first + rank * self.stride + start % self.unit
    }

    pub fn unmirrored(&self, start: usize, address: usize) -> Option<(usize, usize)> {
        if !self.window.contains(&address) {
            return None;
        }
        // What lies right below the slot, such as the program's constants, belongs to the mirror, too.
        let first = self.mirror(start, 0) - self.unit;
        let rank = address.saturating_sub(first) / self.stride;
        Some((rank, address.wrapping_sub(self.mirror(start, rank)).wrapping_add(start)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layout, Sizes};
    use super::*;

    fn program(at: usize) -> DataSegment {
        let pages = at + 0x10000..at + 0x13000;
        let system = pages.end..pages.end;
        DataSegment { pages, pieces: Vec::new(), system, program_start: at, fingerprint: 0 }
    }

    #[test]
    fn mirrors_keep_the_inner_layout_and_do_not_touch() {
        for at in [0x400000, 0x20_0000_0000] {
            let program = program(at);
            let layout = Layout::reserve(&program, &Sizes::of_heap(5 << 20, 4096), 3).unwrap();
            if at > LOWEST {
                assert!(layout.heap.end < program.program_start);
            } else {
                assert!(layout.heap.start >= layout.data.end + BREAK_ROOM);
            }
            for rank in 0..3 {
                let data = layout.mirrored(rank, layout.data.start);
                let heap = layout.mirrored(rank, layout.heap.start);
                assert_eq!(
                    heap.wrapping_sub(data),
                    layout.heap.start.wrapping_sub(layout.data.start)
                );
                assert_eq!(heap % HUGE, 0);
                assert_eq!(layout.unmirrored(heap + 5), Some((rank, layout.heap.start + 5)));
            }
            let last = layout.heap.end.max(layout.data.end);
            assert!(layout.mirrored(0, last) + HUGE <= layout.mirror(1));
            assert!(layout.mirrored(2, last) + HUGE <= layout.mirrors.window.end);
            assert_eq!(layout.unmirrored(layout.heap.start), None);
            for rank in 0..3 {
                for own in [layout.start() - 8, last + 8] {
                    let there = layout.mirror(rank).wrapping_add(own).wrapping_sub(layout.start());
                    assert_eq!(layout.unmirrored(there), Some((rank, own)));
                }
            }
        }
    }

    #[test]
    fn an_impossible_size_is_an_error_and_takes_no_addresses() {
        let program = program(0x10_0000_0000);
        for (heap, ranks) in [(1 << 52, 1), (5 << 20, 1 << 40)] {
            let error = Layout::reserve(&program, &Sizes::of_heap(heap, 4096), ranks).unwrap_err();
            assert!(error.to_string().contains("ask for less"), "{error}");
            assert!(!map::is_mapped(program.program_start - HUGE), "{heap} bytes are reserved");
        }
    }
}
