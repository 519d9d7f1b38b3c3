//! The main program as it is loaded: its segments, and which of its pages exist.
#![allow(unsafe_code)]

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// A piece of the main program, from its program headers.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// `PT_LOAD`, `PT_GNU_RELRO`, ...
    pub kind: u32,
    /// `PF_R`, `PF_W`, `PF_X`.
    pub flags: u32,
    /// Where it starts in memory.
    pub address: usize,
    /// Bytes that come from the file.
    pub file_bytes: usize,
    /// Bytes in memory.
    pub memory_bytes: usize,
}

/// The main program's segments, from its program headers as they are loaded.
pub fn segments() -> Vec<Segment> {
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        out: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: `out` is the vector below; the walker passes a valid `info`,
        // whose headers stay mapped.
        unsafe {
            let out = &mut *out.cast::<Vec<Segment>>();
            for i in 0..(*info).dlpi_phnum as usize {
                let header = &*(*info).dlpi_phdr.add(i);
                out.push(Segment {
                    kind: header.p_type,
                    flags: header.p_flags,
                    address: ((*info).dlpi_addr + header.p_vaddr) as usize,
                    file_bytes: header.p_filesz as usize,
                    memory_bytes: header.p_memsz as usize,
                });
            }
        }
        1 // The main program comes first; no more.
    }
    let mut segments = Vec::new();
    // SAFETY: `visit` has the walker's signature and gets the vector it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut segments).cast()) };
    segments
}

/// Whether the main program is static: then the C library's own data is in its data segment.
pub fn is_static() -> bool {
    const PT_INTERP: u32 = 3;
    !segments().iter().any(|segment| segment.kind == PT_INTERP)
}

/// The end of the heap that `brk` moves.
pub fn program_break() -> usize {
    // SAFETY: an increment of 0 only asks.
    unsafe { libc::sbrk(0) as usize }
}

/// Calls `found` with each stretch of pages in `range` that this process has
/// touched (present, or swapped out), in order. Without `/proc` that cannot be
/// known, and the whole range counts as touched.
pub fn touched<E>(
    range: Range<usize>,
    page: usize,
    mut found: impl FnMut(Range<usize>) -> Result<(), E>,
) -> Result<(), E> {
    // Bits 63 and 62 of a pagemap entry: present, swapped.
    const EXISTS: u64 = 0b11 << 62;
    let Ok(pagemap) = File::open("/proc/self/pagemap") else {
        return if range.is_empty() { Ok(()) } else { found(range) };
    };
    let mut entries = [0u64; 4096];
    let mut run: Option<Range<usize>> = None;
    let mut at = range.start;
    while at < range.end {
        let wanted = ((range.end - at) / page).min(entries.len());
        // SAFETY: u64 has no invalid bytes and the slice covers `wanted` of them.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(entries.as_mut_ptr().cast::<u8>(), wanted * 8)
        };
        if pagemap.read_exact_at(bytes, (at / page * 8) as u64).is_err() {
            return found(run.map_or(at, |run| run.start)..range.end);
        }
        for entry in &entries[..wanted] {
            match &mut run {
                Some(run) if entry & EXISTS != 0 => run.end = at + page,
                Some(done) => {
                    found(done.clone())?;
                    run = None;
                }
                None if entry & EXISTS != 0 => run = Some(at..at + page),
                None => {}
            }
            at += page;
        }
    }
    run.map_or(Ok(()), found)
}
