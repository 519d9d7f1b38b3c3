//! The main program's data segment: the pages that belong to it.
//!
//! It consists of the writable parts listed in the program headers, without those that the loader
//! makes read-only after relocation (`PT_GNU_RELRO`). Nothing is scanned or guessed, so
//! position-independent, fixed and static programs are handled the same. Where a variable has a
//! large alignment, linkers leave gaps, which also belong to the data segment.

use crate::atomics::{AtomicBool, Ordering};
use crate::error::Error;
use crate::sys::hash::fnv1a;
use crate::sys::map;
use crate::sys::program::{self, Segment};
use crate::sys::relocate;
use std::ops::Range;

const PT_LOAD: u32 = 1;
const PT_GNU_RELRO: u32 = 0x6474_e552;
const PF_W: u32 = 2;

/// The data segment of the main program. Only [`find`] makes one, so backends may move what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSegment {
    /// Whole pages from the first of `.data` to the last of `.bss`.
    pub(crate) pages: Range<usize>,
    /// The program's own pages among them, in order.
    pub(crate) pieces: Vec<Piece>,
    pub(crate) system: Range<usize>,
    /// Where the program's first segment starts.
    pub(crate) program_start: usize,
    /// Equal for PEs that run one executable: made of the segments' layout and of its notes, which
    /// linkers usually put a build ID in.
    pub(crate) fingerprint: u64,
}

/// Pages of the data segment without a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The pages.
    pub pages: Range<usize>,
    /// The end of the pages that come from the program's file. Those beyond are zero until touched.
    pub file_end: usize,
}

impl DataSegment {
    /// The whole pages of the segment, gaps included.
    pub fn pages(&self) -> &Range<usize> {
        &self.pages
    }

    /// The pages in a gap that hold the system's own code and data. Nothing else is put there.
    /// Usually empty.
    pub fn system(&self) -> &Range<usize> {
        &self.system
    }

    /// Equal for programs whose segments have the same layout.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The pieces, as they are copied. Initialised data is in the program's file, whether touched or not.
    pub fn copied(&self) -> Vec<relocate::Piece> {
        let piece = |piece: &Piece| {
            let (start, end) = (piece.pages.start, piece.pages.end);
            relocate::Piece { start, all_until: piece.file_end, end }
        };
        self.pieces.iter().map(piece).collect()
    }

    /// The gaps between the pieces, which hold nothing of the program.
    pub fn gaps(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let pairs = self.pieces.windows(2);
        pairs.map(|two| two[0].pages.end..two[1].pages.start).filter(|gap| !gap.is_empty())
    }
}

/// Finds the data segment of the running program.
pub fn find(page: usize) -> Result<DataSegment, Error> {
    let mut data = locate(&program::segments(), &program::notes(), page)?;
    data.system = system_pages(data.gaps(), data.pages.end);
    Ok(data)
}

/// Whether the gaps are reserved already.
static KEPT: AtomicBool = AtomicBool::new(false);

/// Reserves the gaps of the data segment, once. In a static position-independent program the system
/// puts other memory there, so this is done early.
pub fn keep_gaps(data: &DataSegment) -> Result<(), Error> {
    if KEPT.load(Ordering::Relaxed) {
        return Ok(());
    }
    let free: Vec<_> = data.gaps().flat_map(|gap| without(gap, &data.system)).collect();
    map::reserve_all(&free).map_err(|gap| {
        Error::NoWay(format!(
            "the program's writable data has a gap {:#x}..{:#x} in which other memory lies; link \
             it without a variable of such an alignment",
            gap.start, gap.end
        ))
    })?;
    KEPT.store(true, Ordering::Relaxed);
    Ok(())
}

/// The pages in the gaps that hold the system's own code and data (vdso(7)). They are there before
/// anything of the program runs, and never move. If there are none, the range is empty, at `end`.
pub(crate) fn system_pages(gaps: impl Iterator<Item = Range<usize>>, end: usize) -> Range<usize> {
    let page = map::page_size();
    let Some(code) = program::system_code() else { return end..end };
    let mut gaps = gaps;
    let Some(gap) = gaps.find(|gap| gap.contains(&code)) else { return end..end };
    let mut taken = code / page * page..code / page * page + page;
    while taken.start > gap.start && map::is_mapped(taken.start - page) {
        taken.start -= page;
    }
    while taken.end < gap.end && map::is_mapped(taken.end) {
        taken.end += page;
    }
    taken
}

/// A range without its part `taken`.
pub fn without(range: Range<usize>, taken: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let before = range.start..range.end.min(taken.start).max(range.start);
    let after = range.start.max(taken.end).min(range.end)..range.end;
    let parts =
        if taken.is_empty() { [range.clone(), range.end..range.end] } else { [before, after] };
    parts.into_iter().filter(|part| !part.is_empty())
}

fn locate(segments: &[Segment], notes: &[u8], page: usize) -> Result<DataSegment, Error> {
    let down = |address: usize| address / page * page;
    let up = |address: usize| down(address + page - 1);
    // Rounded like the loader does: it protects whole pages only, from the page in which RELRO
    // starts up to the last full one.
    let relro: Vec<_> = segments
        .iter()
        .filter(|s| s.kind == PT_GNU_RELRO)
        .map(|s| down(s.address)..down(s.address + s.memory_bytes))
        .collect();
    let loads = segments.iter().filter(|s| s.kind == PT_LOAD);
    let program_start = down(loads.map(|s| s.address).min().unwrap_or(0));
    let fingerprint = fingerprint(segments, notes, program_start);
    let mut pieces = Vec::new();
    for load in segments.iter().filter(|s| s.kind == PT_LOAD && s.flags & PF_W != 0) {
        let end = up(load.address + load.memory_bytes);
        let mut start = down(load.address);
        for relro in &relro {
            if relro.start <= start && start < relro.end {
                start = relro.end;
            }
        }
        if start < end {
            let file_end = up(load.address + load.file_bytes).clamp(start, end);
            pieces.push(Piece { pages: start..end, file_end });
        }
    }
    // The ELF specification demands this order, but not all linkers keep it.
    pieces.sort_by_key(|piece| piece.pages.start);
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else {
        return Err(Error::NoWay(
            "the program has no writable data segment (no PT_LOAD with PF_W)".into(),
        ));
    };
    let pages = first.pages.start..last.pages.end;
    let between = |s: &&Segment| {
        let read_only = s.kind == PT_LOAD && s.flags & PF_W == 0 || s.kind == PT_GNU_RELRO;
        read_only && s.memory_bytes > 0 && pages.contains(&down(s.address))
    };
    if let Some(other) = segments.iter().find(between) {
        return Err(Error::NoWay(format!(
            "the program's writable data ({:#x}..{:#x}) has read-only parts in it (at {:#x}); link \
             it with the default layout",
            pages.start, pages.end, other.address
        )));
    }
    let system = pages.end..pages.end;
    Ok(DataSegment { pages, pieces, system, program_start, fingerprint })
}

fn fingerprint(segments: &[Segment], notes: &[u8], base: usize) -> u64 {
    let loads = segments.iter().filter(|s| s.kind == PT_LOAD);
    let layout = loads
        .flat_map(|s| [s.flags as usize, s.address - base, s.file_bytes, s.memory_bytes])
        .flat_map(usize::to_ne_bytes);
    fnv1a(layout.chain(notes.iter().copied())) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn segment(kind: u32, flags: u32, address: usize, file: usize, memory: usize) -> Segment {
        Segment { kind, flags, address, file_bytes: file, memory_bytes: memory }
    }

    #[test]
    fn gnu_ld_puts_relro_at_the_start_of_the_one_writable_segment() {
        let data = locate(
            &[
                segment(PT_LOAD, 5, 0x1000, 0x500, 0x500),
                segment(PT_LOAD, 6, 0x3de8, 0x258, 0x1260),
                segment(PT_GNU_RELRO, 4, 0x3de8, 0x218, 0x218),
            ],
            &[],
            0x1000,
        )
        .unwrap();
        assert_eq!(data.pages, 0x4000..0x6000);
        assert_eq!(data.pieces[0].file_end, 0x5000);
    }

    #[test]
    fn lld_gives_relro_a_segment_of_its_own() {
        let data = locate(
            &[
                segment(PT_LOAD, 6, 0x3000, 0x1000, 0x1000),
                segment(PT_GNU_RELRO, 4, 0x3000, 0x1000, 0x1000),
                segment(PT_LOAD, 6, 0x5010, 0x20, 0x8000),
            ],
            &[],
            0x1000,
        )
        .unwrap();
        assert_eq!(data.pages, 0x5000..0xe000);
        assert_eq!(data.pieces[0].file_end, 0x6000);
    }

    #[test]
    fn without_relro_the_whole_segment_counts() {
        let data = locate(&[segment(PT_LOAD, 6, 0x601e10, 0x230, 0x240)], &[], 0x1000).unwrap();
        assert_eq!(data.pages, 0x601000..0x603000);
    }

    #[test]
    fn gaps_of_alignment_belong_to_it() {
        let pieces =
            [segment(PT_LOAD, 6, 0x3000, 0x10, 0x10), segment(PT_LOAD, 6, 0x10000, 0x10, 0x2010)];
        let data = locate(&pieces, &[], 0x1000).unwrap();
        assert_eq!(data.pages, 0x3000..0x13000);
        assert!(data.gaps().eq(std::iter::once(0x4000..0x10000)));
        assert_eq!(data.pieces[1], Piece { pages: 0x10000..0x13000, file_end: 0x11000 });
    }

    #[test]
    fn executables_of_one_layout_differ_by_their_notes() {
        let one = [segment(PT_LOAD, 6, 0x3000, 0x10, 0x10)];
        let moved = [segment(PT_LOAD, 6, 0x5000, 0x10, 0x10)];
        let of = |segments: &[Segment], notes| locate(segments, notes, 0x1000).unwrap().fingerprint;
        assert_eq!(of(&one, b"build"), of(&moved, b"build"));
        assert_ne!(of(&one, b"build"), of(&one, b"built"));
        assert!(!program::notes().is_empty(), "this program has a build ID");
    }

    #[test]
    fn code_between_data_is_refused() {
        let pieces = [
            segment(PT_LOAD, 6, 0x3000, 0x10, 0x10),
            segment(PT_LOAD, 5, 0x5000, 0x10, 0x10),
            segment(PT_LOAD, 6, 0x9000, 0x10, 0x10),
        ];
        assert!(locate(&pieces, &[], 0x1000).unwrap_err().to_string().contains("read-only parts"));
    }

    #[test]
    fn what_the_system_has_is_left_out() {
        let parts =
            |taken| without(10..20, &taken).map(|part| (part.start, part.end)).collect::<Vec<_>>();
        assert_eq!(parts(20..20), [(10, 20)]);
        assert_eq!(parts(12..14), [(10, 12), (14, 20)]);
        assert_eq!(parts(10..14), [(14, 20)]);
        assert_eq!(parts(14..20), [(10, 14)]);
        assert_eq!(parts(30..40), [(10, 20)]);
    }

    #[test]
    fn this_program_has_its_statics_there() {
        static mut COUNTER: u32 = 7;
        let data = find(crate::sys::map::page_size()).unwrap();
        assert!(data.pages.contains(&(&raw const COUNTER as usize)));
        assert!(!data.pages.contains(&(&raw const data as usize)));
    }
}
