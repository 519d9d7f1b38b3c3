//! The main program as loaded: its segments and the end of its heap.
#![allow(unsafe_code)]

use super::process::passed_by_kernel;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;

/// A segment of the main program, from its program headers.
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

/// A visit of a loaded object.
type Visit = extern "C" fn(&libc::dl_phdr_info, libc::size_t, &mut Vec<Segment>) -> libc::c_int;

// Functions of the loader's, with types that leave nothing to promise.
#[allow(improper_ctypes, reason = "the loader only passes the argument on")]
unsafe extern "C" {
    // Calls `visit` for the objects until it returns another value than 0, and keeps nothing.
    safe fn dl_iterate_phdr(visit: Visit, argument: &mut Vec<Segment>) -> libc::c_int;
    // Only looks `address` up; fills the record or leaves it.
    safe fn dladdr(address: *const libc::c_void, info: &mut libc::Dl_info) -> libc::c_int;
}

/// The main program's segments, from its program headers in memory.
pub fn segments() -> Vec<Segment> {
    extern "C" fn visit(
        info: &libc::dl_phdr_info,
        _: libc::size_t,
        out: &mut Vec<Segment>,
    ) -> libc::c_int {
        // SAFETY: the loader's table of so many headers, which stays mapped.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        out.extend(headers.iter().map(|header| Segment {
            kind: header.p_type,
            flags: header.p_flags,
            address: (info.dlpi_addr + header.p_vaddr) as usize,
            file_bytes: header.p_filesz as usize,
            memory_bytes: header.p_memsz as usize,
        }));
        1 // The main program comes first; no more.
    }
    let mut segments = Vec::new();
    dl_iterate_phdr(visit, &mut segments);
    segments
}

/// The loader's answer for code that it does not know.
pub const UNKNOWN: libc::Dl_info = libc::Dl_info {
    dli_fname: std::ptr::null(),
    dli_fbase: std::ptr::null_mut(),
    dli_sname: std::ptr::null(),
    dli_saddr: std::ptr::null_mut(),
};

/// The loader's facts of `code`: names that stay as long as the object is loaded, or null.
pub fn look_up(code: usize) -> Option<libc::Dl_info> {
    let mut info = UNKNOWN;
    (dladdr(code as *const _, &mut info) != 0).then_some(info)
}

/// The main program's notes, which name its build if the linker was asked to (elf(5): build ID).
pub fn notes() -> Vec<u8> {
    const PT_LOAD: u32 = 1;
    const PT_NOTE: u32 = 4;
    const PF_W: u32 = 2;
    const PF_R: u32 = 4;
    let segments = segments();
    let range = |s: &Segment| s.address..s.address + s.memory_bytes;
    let is_constant = |note: &Segment| {
        let (note, whole) = (range(note), |s: &Segment| s.file_bytes == s.memory_bytes);
        let holds = |s: &Segment| range(s).start <= note.start && note.end <= range(s).end;
        let loads =
            segments.iter().filter(|s| s.kind == PT_LOAD && s.flags & (PF_R | PF_W) == PF_R);
        loads.filter(|s| whole(s)).any(holds)
    };
    let notes = segments.iter().filter(|s| s.kind == PT_NOTE && is_constant(s));
    notes
        .flat_map(|note| {
            // SAFETY: in a segment that the loader has mapped readable from the program's file and
            // that nobody writes to. The main program is never unmapped.
            unsafe { std::slice::from_raw_parts(note.address as *const u8, note.memory_bytes) }
        })
        .copied()
        .collect()
}

/// The object (program or shared library) that contains an address of code.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Its load address.
    pub base: usize,
    /// The exported function that contains the address.
    pub function: Option<&'static CStr>,
}

/// The object that contains `code`. Allocates nothing. May be called in the handler of a fault in
/// this library, which does not call the loader.
pub fn object_at(code: usize) -> Option<Object> {
    let info = look_up(code)?;
    // SAFETY: null, or a name in the symbol table of an object that stays loaded.
    let function = (!info.dli_sname.is_null()).then(|| unsafe { CStr::from_ptr(info.dli_sname) });
    Some(Object { base: info.dli_fbase as usize, function })
}

/// Whether an object, this library's, is the main program. `None` stands for a static program,
/// which has no objects.
pub fn contains(object: Option<Object>) -> bool {
    let entry = passed_by_kernel(libc::AT_ENTRY);
    object.is_none_or(|object| object_at(entry).is_some_and(|program| program.base == object.base))
}

/// Whether the main program is static: then the C library's own data is in its data segment.
pub fn is_static() -> bool {
    const PT_INTERP: u32 = 3;
    !segments().iter().any(|segment| segment.kind == PT_INTERP)
}

/// The path by which the kernel was asked to run the program, from the directory of then (getauxval(3)).
pub fn path_asked_for() -> Option<&'static OsStr> {
    let path = passed_by_kernel(libc::AT_EXECFN) as *const libc::c_char;
    // SAFETY: if it is not null, a C string that the kernel has put beside the first stack, where it stays.
    (!path.is_null()).then(|| OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()))
}

/// The end of the heap that `brk` moves.
pub fn program_break() -> usize {
    // A function of the C library, with a type that leaves nothing to promise: it only asks.
    unsafe extern "C" {
        safe fn sbrk(increment: Increment) -> usize;
    }
    #[repr(isize)]
    enum Increment {
        None = 0,
    }
    sbrk(Increment::None)
}

/// The address of the system's own code in this process (vdso(7)), if there is any.
pub fn system_code() -> Option<usize> {
    Some(passed_by_kernel(libc::AT_SYSINFO_EHDR)).filter(|address| *address != 0)
}
