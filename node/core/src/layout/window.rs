//! Mirrors in reserved windows, at any place with enough room.
//!
//! ```text
//!  heap | hole: code, constants | data      brk ...     window: mirror 0 | mirror 1 | ...
//! ```
//!
//! The heap goes below the program. Then only the program's own code lies between heap and
//! data, and all other memory (malloc, stacks, libraries) is outside the slot. A program linked at
//! a fixed low address has no room below it: there the heap goes above, and the hole leaves room
//! for `brk` to grow.
//!
//! The first choice is a place that is the same on all ranks ([`common_place`]). From there it is up to
//! terabytes to a program that the system has put at a random address, too far for a window of whole
//! slots. So the mirrors of the heaps share a window, and those of the data segments another one, as far
//! away as the data segment is from the heap:
//!
//! ```text
//!  heap |   hole: nothing   | code, data   ...   heap 0 | heap 1 | ...   |   data 0 | data 1 | ...
//! ```
//!
//! One addition still translates an address of either.

use super::{BREAK_ROOM, HEAP_ALIGNMENT, HUGE, STEP, TRIES, round_up};
use crate::error::Error;
use crate::segment::DataSegment;
use crate::sys::map::{self, OwnMapping};
use crate::sys::{process, program};
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

/// The place for a heap with a reservation of `reserved` bytes that is the same on all ranks of a job. `chance`
/// varies it. Programs that the system puts at a random address, above two thirds of all addresses, have one
/// below them, and programs at a fixed low address one above.
pub(super) fn common_place(program: &DataSegment, reserved: usize, chance: u64) -> usize {
    let step = |steps: usize| (chance % steps as u64) as usize * HEAP_ALIGNMENT;
    let addresses = process::first_stack().end.next_power_of_two();
    // Where stacks are unlimited, the system maps memory from the first third upwards.
    let below = addresses / 64 * 38 + step(addresses / 64 / HEAP_ALIGNMENT);
    if below + reserved <= program.program_start {
        return below;
    }
    // The break starts up to `STEP` bytes after the data segment.
    round_up(program.pages.end, STEP) + STEP + BREAK_ROOM + step(STEP / HEAP_ALIGNMENT)
}

/// Reserves the heap anywhere if none of these places is free.
pub(super) fn heap_elsewhere(reserved: usize) -> Result<OwnMapping, Error> {
    OwnMapping::reserve(reserved)
}

/// The mirrors of the slot, or those of its lower piece and those of its upper piece.
#[derive(Debug)]
pub(super) struct Mirrors {
    /// Each with the distance from the slot's start to what it has the mirrors of.
    windows: Vec<(Range<usize>, usize)>,
    /// The mirror of rank 0. Mirrors and slot have equal remainders modulo `unit`.
    first: usize,
    stride: usize,
    unit: usize,
}

/// The reach of a 32-bit index of the largest elements: from the end of one heap's mirror to the next,
/// where there is room, so that such an access faults.
const REACH: usize = 16 << 30;

impl Mirrors {
    /// Mirrors of the slot as a whole.
    pub fn for_slot(slot: &Range<usize>, unit: usize, ranks: usize) -> Result<Self, Error> {
        let unit = unit.max(HUGE);
        let stride = round_up(slot.len(), unit) + 2 * unit;
        let bytes = stride.checked_mul(ranks).and_then(|b| b.checked_add(2 * unit));
        let bytes = bytes.ok_or_else(|| {
            Error::NoWay(format!("{ranks} mirrors of {stride:#x} bytes exceed the address space"))
        })?;
        let window = map::reserve(bytes)?;
        let first = round_up(window, unit) + unit + slot.start % unit;
        Ok(Self { windows: vec![(window..window + bytes, 0)], first, stride, unit })
    }

    /// Mirrors of a slot whose heap lies at the common place `heap`, and which starts at `start` if that is
    /// below the program. `None` where the system maps other memory in the slot, or room is missing.
    pub fn at_common_place(
        program: &DataSegment,
        heap: &Range<usize>,
        start: usize,
        unit: usize,
        ranks: usize,
    ) -> Option<Self> {
        match heap.start < program.program_start {
            true => {
                Self::apart(start, heap, &(program.program_start..program.pages.end), unit, ranks)
            }
            false => Self::for_slot(&(program.pages.start..heap.end), unit, ranks).ok(),
        }
    }

    fn apart(
        start: usize,
        lower: &Range<usize>,
        upper: &Range<usize>,
        unit: usize,
        ranks: usize,
    ) -> Option<Self> {
        let unit = unit.max(HUGE);
        let distance = upper.start - start;
        let least = round_up(lower.len().max(upper.len()), unit) + 2 * unit;
        let room = distance.checked_sub(2 * unit)? / ranks / unit * unit;
        let stride = room.min(least + round_up(REACH, unit));
        if stride < least {
            return None;
        }
        let bytes = stride * ranks + 2 * unit;
        drop(OwnMapping::reserve_at(lower.end, upper.start - lower.end)?);
        let is_outside =
            |it: &OwnMapping| it.range().end <= lower.start || upper.end <= it.range().start;
        let beside = |uppers: OwnMapping| {
            let at = uppers.range().start.checked_sub(distance).filter(|at| *at >= LOWEST)?;
            let lowers = OwnMapping::reserve_at(at, bytes).filter(is_outside)?;
            let first = round_up(at, unit) + unit + start % unit;
            let kept = |it: OwnMapping| {
                let start = it.keep();
                start..start + bytes
            };
            let windows = vec![(kept(lowers), 0), (kept(uppers), distance)];
            Some(Self { windows, first, stride, unit })
        };
        // The system's choice shows where it maps what comes later. Above the slot is best, because then
        // what lies below the slot's end is symmetric, or nothing.
        let uppers = OwnMapping::reserve(bytes).ok().filter(is_outside)?;
        beside(uppers)
            .or_else(|| beside(OwnMapping::reserve_at(lower.start.checked_sub(bytes)?, bytes)?))
    }

    /// The windows are reserved.
    pub fn reserve(&self, _: usize, _: [Range<usize>; 2]) -> Result<(), Error> {
        Ok(())
    }

    pub fn mirror(&self, _: usize, rank: usize) -> usize {
        self.first + rank * self.stride
    }

    pub fn unmirrored(&self, start: usize, address: usize) -> Option<(usize, usize)> {
        let (_, distance) = self.windows.iter().find(|(window, _)| window.contains(&address))?;
        // What lies right below the slot, such as the program's constants, belongs to the mirror, too.
        let first = self.first + distance - self.unit;
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

    /// Whether the mirrors have the slot's inner layout, and do not touch.
    fn check(layout: &Layout) {
        let (start, stride) = (layout.start(), layout.mirrors.stride);
        for rank in 0..3 {
            assert_eq!(layout.mirrored(rank, layout.heap.start) % HUGE, 0);
            for piece in [&layout.data, &layout.heap] {
                let there = layout.mirrored(rank, piece.start);
                assert_eq!(there - layout.mirror(rank), piece.start - start);
                let windows = &layout.mirrors.windows;
                let window = windows.iter().find(|(window, _)| window.contains(&there));
                let window = &window.expect("a window").0;
                assert!(there - HUGE >= window.start && there + piece.len() + HUGE <= window.end);
                assert!(piece.len() + HUGE <= stride);
                for own in [piece.start - 8, piece.start + 5, piece.end + 8] {
                    let there = layout.mirrored(rank, piece.start) + own - piece.start;
                    assert_eq!(layout.unmirrored(there), Some((rank, own)));
                }
                assert_eq!(layout.unmirrored(piece.start), None);
            }
        }
    }

    #[test]
    fn mirrors_keep_the_inner_layout_and_do_not_touch() {
        let (sizes, chance) = (Sizes::of_heap(5 << 20, 4096), 1);
        // The last one is a bit below where the system puts programs.
        let addresses = process::first_stack().end.next_power_of_two();
        for at in [0x400000, 0x20_0000_0000, addresses / 64 * 42 + 0x1000] {
            let program = program(at);
            let common = common_place(&program, 1 << 30, chance);
            for taken in [false, true] {
                let _taken = taken.then(|| OwnMapping::reserve_at(common + HUGE, HUGE));
                let layout = Layout::reserve(&program, &sizes, 3, chance).unwrap();
                let is_below = layout.heap.end < program.program_start;
                assert!(is_below == (at > LOWEST) || at < 1 << 40 && layout.is_common());
                assert!(is_below || layout.heap.start >= layout.data.end + BREAK_ROOM);
                assert_eq!(layout.is_common(), !taken, "{at:#x}");
                check(&layout);
            }
        }
    }

    #[test]
    fn the_common_place_is_the_same_wherever_the_system_puts_the_program() {
        let addresses = process::first_stack().end.next_power_of_two();
        let [low, high] = [0x400000, addresses / 3 * 2];
        for chance in [0, 1, u64::MAX] {
            for at in [low, high] {
                let [one, other] =
                    [at, at + 0x1234_5000].map(|at| common_place(&program(at), 1 << 30, chance));
                assert_eq!(one, other);
            }
        }
        assert_ne!(common_place(&program(high), HUGE, 2), common_place(&program(high), HUGE, 3));
    }

    #[test]
    fn an_impossible_size_is_an_error_and_takes_no_addresses() {
        let program = program(0x10_0000_0000);
        for (heap, ranks) in [(1 << 52, 1), (5 << 20, 1 << 40)] {
            let error =
                Layout::reserve(&program, &Sizes::of_heap(heap, 4096), ranks, 7).unwrap_err();
            assert!(error.to_string().contains("ask for less"), "{error}");
            assert!(!map::is_mapped(program.program_start - HUGE), "{heap} bytes are reserved");
        }
    }
}
