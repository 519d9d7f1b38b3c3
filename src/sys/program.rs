//! The main program as it is loaded: its segments and the end of its heap.
#![allow(unsafe_code)]

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
