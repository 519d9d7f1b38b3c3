//! The chain of calls to the point where a signal interrupted this thread, for a signal handler, and
//! the program's call of a routine. Allocates nothing, and takes no lock except those of the C library
//! when it looks up frames and names.
//!
//! A call is shown as `FUNCTION+0xN in FILE(+0xADDRESS)`, with the address that it has in the file, as
//! `addr2line -e FILE 0xADDRESS` takes it. `oshrun` adds the line of the source.
#![allow(unsafe_code)]

use super::stack;
use super::symbols::{self, Symbols};
use libc::c_int;
use onenode_core::sys::program;
use oneshmem_job::sys::own_names::is_librarys;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::CStr;
use std::fmt;
use std::ops::Range;
use std::sync::Mutex;

/// Most calls reported. Deeper ones are rarely of interest.
const MOST: usize = 48;
/// Stack that the lookup of frames may need.
const STACK_BYTES: usize = 16 << 10;
/// Stack that a thread must have left for a lookup that nobody has asked for: several times what one takes.
const ROOM: usize = 64 << 10;
/// The longest path of a program that is shown in full.
const PATH_BYTES: usize = 400;

// The unwinder in the compiler's runtime library (Itanium C++ ABI, level I).
#[allow(improper_ctypes, reason = "the unwinder only passes the argument on")]
unsafe extern "C" {
    // Calls `each` with the frames of this thread and with the argument, and keeps neither.
    safe fn _Unwind_Backtrace(
        each: extern "C" fn(&Frame, &mut Walk<'_>) -> c_int,
        argument: &mut Walk<'_>,
    ) -> c_int;
    safe fn _Unwind_GetIP(frame: &Frame) -> usize;
}

unsafe extern "C" {
    // With no new stack only fills the record of the present one.
    safe fn sigaltstack(new: Option<&NoStack>, present: &mut libc::stack_t) -> c_int;
}

/// No stack to handle signals on instead.
enum NoStack {}

/// A frame, while the unwinder shows it.
#[repr(C)]
struct Frame(u8);

const NO_REASON: c_int = 0;
const END_OF_STACK: c_int = 5;

/// A walk along the frames of this thread, innermost first.
struct Walk<'a> {
    /// Begins behind the frame that the signal interrupted here: those before it belong to the handler.
    behind: Option<usize>,
    /// How many places have been passed on.
    count: usize,
    /// Whether to go on.
    each: &'a mut dyn FnMut(usize) -> bool,
}

extern "C" fn take(frame: &Frame, walk: &mut Walk<'_>) -> c_int {
    let place = _Unwind_GetIP(frame);
    if let Some(behind) = walk.behind {
        if place == behind {
            walk.behind = None;
        }
        return NO_REASON;
    }
    if walk.count == MOST || place == 0 {
        return END_OF_STACK;
    }
    walk.count += 1;
    if (walk.each)(place) { NO_REASON } else { END_OF_STACK }
}

/// Passes the return addresses of this thread's calls to `each`, one by one, so that what comes before
/// damage of the stack is known, until it returns false.
fn walk(behind: Option<usize>, each: &mut dyn FnMut(usize) -> bool) {
    // If another thread holds forever what the unwinder waits for, the caller's time ends.
    _Unwind_Backtrace(take, &mut Walk { behind, count: 0, each });
}

/// The program's file.
struct Program {
    names: Option<Symbols<'static>>,
    /// The address that corresponds to address 0 in the file.
    base: usize,
    /// Where it is in memory; empty if the file cannot be read.
    image: Range<usize>,
    path: [u8; PATH_BYTES],
    path_bytes: usize,
}

impl Program {
    fn read() -> Self {
        let file = symbols::program_file();
        let mut path = [0; PATH_BYTES];
        // SAFETY: writes to the local variable, as many bytes as it has at most.
        let bytes = unsafe {
            libc::readlink(c"/proc/self/exe".as_ptr(), path.as_mut_ptr().cast(), PATH_BYTES)
        };
        // One that fills the buffer may be cut.
        let path_bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes < PATH_BYTES);
        Self {
            names: Symbols::of(file),
            base: symbols::load_address(file),
            image: symbols::image(file),
            path,
            path_bytes: path_bytes.unwrap_or(0),
        }
    }

    /// Its path, whatever the program has been called by.
    fn path(&self) -> Option<&str> {
        let path = std::str::from_utf8(&self.path[..self.path_bytes]).ok()?;
        (!path.is_empty()).then_some(path)
    }

    /// A call in this library, without its name: the whole table would be read for it.
    fn library(&self) -> Call<'_> {
        let place = code_of_library as *const () as usize;
        let info = program::look_up(place).unwrap_or(program::UNKNOWN);
        Call { place, info, own: None, program: None }
    }

    /// The call that returns to `place`, or is there if it is the innermost.
    fn call(&self, place: usize, is_innermost: bool) -> Call<'_> {
        // A return address can be past the end of the calling function.
        let within = place.saturating_sub(usize::from(!is_innermost));
        let info = program::look_up(within).unwrap_or(program::UNKNOWN);
        // The loader of a static program finds nothing.
        let is_own = self.image.contains(&within);
        let program = is_own.then(|| (self.path(), within.wrapping_sub(self.base)));
        let own = program.zip(self.names);
        let own = own.and_then(|((_, address), names)| names.function(address as u64));
        Call { place: within, info, own, program }
    }
}

/// A call on the stack.
pub struct Call<'a> {
    place: usize,
    info: libc::Dl_info,
    /// The program's own function, if it is one, and the offset in it.
    own: Option<(&'static str, u64)>,
    /// The program's file and the address there, if the call is the program's.
    program: Option<(Option<&'a str>, usize)>,
}

/// Passes each call to `each`, innermost first, starting with the one interrupted at `from`. `outer` is the one
/// that led there, from which on the unwinder finds the others, if it finds nothing at `from`. May hang
/// or fault where the stack is damaged: see [`signal::guarded`](super::signal::guarded).
pub fn each_call(from: usize, outer: Option<usize>, mut each: impl FnMut(usize, Call)) {
    if !has_stack() {
        return;
    }
    let program = Program::read();
    // The unwinder does not show it where it has nothing to go on from there, for example after a call
    // through a null pointer.
    each(0, program.call(from, true));
    let mut index = 0;
    if let Some(outer) = outer {
        index += 1;
        each(index, program.call(outer, true));
    }
    walk(outer.or(Some(from)), &mut |place| {
        index += 1;
        each(index, program.call(place, false));
        true
    });
}

/// The call by which the program entered this library, as far as it is known.
pub enum Entry<'a> {
    /// This call.
    Known(Call<'a>),
    /// One of several calls; this is the next of them, with its number. The library is part of a program
    /// without symbols, so its own calls cannot be told from the program's.
    Among(usize, Call<'a>),
}

/// Passes the call by which the program has entered this library on this thread to `each`, if it has. In a
/// signal handler `from` is the interrupted instruction.
#[inline(never)]
pub fn entry(from: Option<usize>, mut each: impl FnMut(Entry)) {
    if !has_stack() {
        return;
    }
    let (mut places, mut count) = ([0; MOST], 0);
    walk(from, &mut |place| {
        places[count] = place;
        count += 1;
        true
    });
    let program = Program::read();
    let calls = || places[..count].iter().map(|place| program.call(*place, false));
    let library = program.library();
    if !library.is_programs() {
        let outside = calls().find(|call| !call.is_of(&library));
        // The system calls what is no call of the program: threads, and handlers at the end.
        let system = program.call(libc::getpid as *const () as usize, true);
        let is_system = |call: &Call| call.info.dli_fbase == system.info.dli_fbase;
        if let Some(call) = outside.filter(|call| system.is_programs() || !is_system(call)) {
            each(Entry::Known(call));
        }
    } else if program.names.is_some() {
        if let Some(call) = calls().find(|call| !call.is_of(&library)) {
            each(Entry::Known(call));
        }
    } else {
        calls().enumerate().for_each(|(index, call)| each(Entry::Among(index, call)));
    }
}

/// Whether an instruction is this library's, and there is room to unwind from it.
pub fn is_in_library(instruction: usize) -> bool {
    let program = Program::read();
    has_stack() && program.call(instruction, true).is_of(&program.library())
}

/// Whether a call on the way to the one interrupted at `from` is in a file whose path contains `name`.
pub fn is_below(from: usize, name: &str) -> bool {
    let mut is_found = false;
    each_call(from, None, |_, call| {
        is_found |= call.loaders(Name::File).is_some_and(|path| path.contains(name));
    });
    is_found
}

/// Whether there may be code: a file of the program's is there.
pub fn is_in_a_file(instruction: usize) -> bool {
    let program = Program::read();
    let call = program.call(instruction, true);
    call.program.is_some() || !call.info.dli_fname.is_null()
}

/// The name of the routine in which a signal has interrupted this library at `from`, if that has one in C.
pub fn routine(from: usize) -> Option<&'static str> {
    let program = Program::read();
    let library = program.library();
    let mut name = program.call(from, true).name();
    walk(Some(from), &mut |place| {
        let call = program.call(place, false);
        let is_inside = call.is_of(&library);
        if is_inside {
            name = call.name();
        }
        is_inside
    });
    // The symbols are those of the profiling interface.
    let name = name.map(|name| name.strip_prefix('p').unwrap_or(name));
    name.filter(|name| name.starts_with("shmem"))
}

/// The address in the program's file of the call by which the program has entered this library on this
/// thread, if that is known, and the thread's stack has room to find it. Each place is looked up once, since symbol tables
/// may be long.
pub fn called_at() -> Option<u64> {
    thread_local! {
        /// What [`outside`] has told this thread: a timeline asks for each call, and is not to take a lock.
        static KNOWN: RefCell<HashMap<usize, Option<u64>>> = RefCell::default();
    }
    let look = |known: &RefCell<HashMap<usize, Option<u64>>>| {
        // A signal's handler may call while its thread is here.
        let mut known = known.try_borrow_mut().ok()?;
        let mut at = None;
        walk(None, &mut |place| {
            at = *known.entry(place).or_insert_with(|| outside(place));
            at.is_none()
        });
        at.filter(|address| *address != 0)
    };
    let has_room = stack::room().is_some_and(|room| room >= ROOM);
    has_room.then(|| KNOWN.try_with(look).ok().flatten()).flatten()
}

/// The address in the program's file of a return address, 0 if it is in another file; nothing if it is this library's, or
/// may be: in a static program without symbols.
fn outside(place: usize) -> Option<u64> {
    static KNOWN: Mutex<BTreeMap<usize, Option<u64>>> = Mutex::new(BTreeMap::new());
    // Not waited for: a signal's handler may call while its thread is here.
    let told = KNOWN.try_lock().ok().and_then(|known| known.get(&place).copied());
    told.unwrap_or_else(|| {
        let program = Program::read();
        let (call, library) = (program.call(place, false), program.library());
        let is_unknown = library.is_programs() && program.names.is_none();
        let address = call.program.map_or(0, |(_, address)| address as u64);
        let found = (!is_unknown && !call.is_of(&library)).then_some(address);
        if let Ok(mut known) = KNOWN.try_lock() {
            known.insert(place, found);
        }
        found
    })
}

/// Code of this library.
fn code_of_library() {}

/// Whether the address is in the program, not in a library.
fn is_program(info: &libc::Dl_info) -> bool {
    symbols::program_headers().wrapping_sub(info.dli_fbase as usize) < 4096
}

/// Whether there is room to unwind. This may be the program's small signal stack.
fn has_stack() -> bool {
    let here = 0u8;
    let mut stack = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: 0, ss_size: 0 };
    sigaltstack(None, &mut stack);
    stack.ss_flags & libc::SS_ONSTACK == 0
        || (&raw const here as usize).wrapping_sub(stack.ss_sp as usize) > STACK_BYTES
}

/// A name that the loader knows.
enum Name {
    Symbol,
    File,
}

impl Call<'_> {
    /// The symbol or file that the loader has found.
    fn loaders(&self, name: Name) -> Option<&'static str> {
        let at = match name {
            Name::Symbol => self.info.dli_sname,
            Name::File => self.info.dli_fname,
        };
        // SAFETY: null, or a name that the loader keeps: only `Program::call` makes calls, from what `dladdr` has
        // found. Read only when it is told: the name of the program lies on the stack, where it may be overwritten,
        // with its end.
        (!at.is_null()).then(|| unsafe { CStr::from_ptr(at) }.to_str().unwrap_or("?"))
    }

    /// Whether the C library releases memory or changes its size here.
    pub fn is_free(&self) -> bool {
        let names = ["free", "cfree", "__libc_free", "realloc", "__libc_realloc"];
        self.name().is_some_and(|name| names.contains(&name))
    }

    /// The name of the function.
    fn name(&self) -> Option<&'static str> {
        self.own.map(|(name, _)| name).or_else(|| self.loaders(Name::Symbol))
    }

    /// Whether it is in this library, of which `library` is another call.
    fn is_of(&self, library: &Self) -> bool {
        match library.is_programs() {
            true => self.own.is_some_and(|(name, _)| is_librarys(name)),
            false => self.info.dli_fbase == library.info.dli_fbase,
        }
    }

    /// Whether it is in the program, not in a library.
    fn is_programs(&self) -> bool {
        self.info.dli_fname.is_null() || is_program(&self.info)
    }
}

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, info, own, program } = self;
        if let Some((name, within)) = own {
            write!(f, "{name}+{within:#x} in ")?;
        } else if let Some(name) = self.loaders(Name::Symbol) {
            write!(f, "{name}+{:#x} in ", place.wrapping_sub(info.dli_saddr as usize))?;
        }
        let (path, address) = match program {
            Some((path, address)) => (*path, *address),
            None => (None, place.wrapping_sub(info.dli_fbase as usize)),
        };
        // The loader knows the program by its argument 0, which lies on the stack and may be overwritten.
        match path.or_else(|| self.loaders(Name::File)) {
            Some(file) => write!(f, "{file}(+{address:#x})"),
            None => write!(f, "{place:#x}, in no known file"),
        }
    }
}
