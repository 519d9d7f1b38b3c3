//! The main program's data segment: which pages make it up.
//!
//! It is what the program headers say is writable, less what the loader makes
//! read-only after relocation (`PT_GNU_RELRO`). Nothing is scanned or guessed, so
//! position-independent, fixed and static programs are all alike.

use crate::error::Error;
use crate::sys::program::{self, Segment};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

const PT_LOAD: u32 = 1;
const PT_GNU_RELRO: u32 = 0x6474_e552;
const PF_W: u32 = 2;

/// The data segment of the main program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSegment {
    /// Whole pages from the first of `.data` to the last of `.bss`.
    pub pages: Range<usize>,
    /// Where the program's first segment starts.
    pub program_start: usize,
    /// Up to here, pages came from the program's file; beyond, they are zero until
    /// touched.
    pub file_end: usize,
    /// Equal for programs whose segments are laid out alike.
    pub fingerprint: u64,
}

/// Finds the data segment of the running program.
pub fn find(page: usize) -> Result<DataSegment, Error> {
    locate(&program::segments(), page)
}

fn locate(segments: &[Segment], page: usize) -> Result<DataSegment, Error> {
    let down = |address: usize| address / page * page;
    let up = |address: usize| down(address + page - 1);
    // As the loader rounds it: it protects whole pages only, from the page RELRO
    // starts in up to the last full one.
    let relro: Vec<_> = segments
        .iter()
        .filter(|s| s.kind == PT_GNU_RELRO)
        .map(|s| down(s.address)..down(s.address + s.memory_bytes))
        .collect();
    let loads = segments.iter().filter(|s| s.kind == PT_LOAD);
    let program_start = down(loads.map(|s| s.address).min().unwrap_or(0));
    let fingerprint = fingerprint(segments, program_start);
    let mut found: Option<DataSegment> = None;
    for load in segments.iter().filter(|s| s.kind == PT_LOAD && s.flags & PF_W != 0) {
        let end = up(load.address + load.memory_bytes);
        let mut start = down(load.address);
        for relro in &relro {
            if relro.start <= start && start < relro.end {
                start = relro.end;
            }
        }
        if start >= end {
            continue;
        }
        let file_end = up(load.address + load.file_bytes).clamp(start, end);
        found = Some(match found {
            None => DataSegment { pages: start..end, file_end, program_start, fingerprint },
            Some(before) if before.pages.end == start => {
                DataSegment { pages: before.pages.start..end, file_end, ..before }
            }
            Some(before) => {
                return Err(Error::Slot(format!(
                    "the program's writable data lies in more than one piece \
                     ({:#x}..{:#x} and {start:#x}..{end:#x}); link it with the default layout",
                    before.pages.start, before.pages.end
                )));
            }
        });
    }
    found.ok_or_else(|| {
        Error::Slot("the program has no writable data segment (no PT_LOAD with PF_W)".into())
    })
}

fn fingerprint(segments: &[Segment], base: usize) -> u64 {
    let mut hash = DefaultHasher::new();
    for s in segments.iter().filter(|s| s.kind == PT_LOAD) {
        (s.flags, s.address - base, s.file_bytes, s.memory_bytes).hash(&mut hash);
    }
    hash.finish()
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
            0x1000,
        )
        .unwrap();
        assert_eq!(data.pages, 0x4000..0x6000);
        assert_eq!(data.file_end, 0x5000);
    }

    #[test]
    fn lld_gives_relro_a_segment_of_its_own() {
        let data = locate(
            &[
                segment(PT_LOAD, 6, 0x3000, 0x1000, 0x1000),
                segment(PT_GNU_RELRO, 4, 0x3000, 0x1000, 0x1000),
                segment(PT_LOAD, 6, 0x5010, 0x20, 0x8000),
            ],
            0x1000,
        )
        .unwrap();
        assert_eq!(data.pages, 0x5000..0xe000);
        assert_eq!(data.file_end, 0x6000);
    }

    #[test]
    fn without_relro_the_whole_segment_counts() {
        let data = locate(&[segment(PT_LOAD, 6, 0x601e10, 0x230, 0x240)], 0x1000).unwrap();
        assert_eq!(data.pages, 0x601000..0x603000);
    }

    #[test]
    fn scattered_data_is_refused() {
        let pieces =
            [segment(PT_LOAD, 6, 0x3000, 0x10, 0x10), segment(PT_LOAD, 6, 0x9000, 0x10, 0x10)];
        assert!(locate(&pieces, 0x1000).unwrap_err().to_string().contains("more than one piece"));
    }

    #[test]
    fn this_program_has_its_statics_there() {
        static mut COUNTER: u32 = 7;
        let data = find(crate::sys::map::page_size()).unwrap();
        assert!(data.pages.contains(&(&raw const COUNTER as usize)));
        assert!(!data.pages.contains(&(&raw const data as usize)));
    }
}
