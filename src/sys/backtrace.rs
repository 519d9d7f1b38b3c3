//! The chain of calls to the point where a signal interrupted this thread, for a signal handler.
//! Allocates nothing, and takes no lock except those of the C library when it looks up frames and
//! names.
#![allow(unsafe_code)]

use super::symbols::{self, Symbols};
use libc::{c_char, c_int, c_void};
use std::ffi::CStr;
use std::fmt;

/// Most calls reported. Deeper ones are rarely of interest.
const MOST: usize = 48;
/// Stack that the lookup of frames may need.
const STACK_BYTES: usize = 16 << 10;

// The unwinder in the compiler's runtime library (Itanium C++ ABI, level I).
unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
}

const NO_REASON: c_int = 0;
const END_OF_STACK: c_int = 5;

struct Frames {
    places: [usize; MOST],
    count: usize,
    /// Where the signal interrupted the program. Frames before it belong to the handler.
    from: usize,
    seen: bool,
}

extern "C" fn take(frame: *mut c_void, frames: *mut c_void) -> c_int {
    // SAFETY: the unwinder passes its frame, and passes back `each_call`'s local variable.
    let (frames, place) = unsafe { (&mut *frames.cast::<Frames>(), _Unwind_GetIP(frame)) };
    frames.seen |= place == frames.from;
    if !frames.seen {
        return NO_REASON;
    }
    if frames.count == MOST || place == 0 {
        return END_OF_STACK;
    }
    frames.places[frames.count] = place;
    frames.count += 1;
    NO_REASON
}

/// A call on the stack.
pub struct Call {
    place: usize,
    info: libc::Dl_info,
    /// The program's own function, if it is one, and the offset in it.
    own: Option<(&'static str, u64)>,
}

/// Passes each call to `each`, innermost first, starting with the one interrupted at `from`. May hang
/// or fault where the stack is damaged: see [`signal::in_time`](super::signal::in_time).
pub fn each_call(from: usize, mut each: impl FnMut(usize, Call)) {
    if !has_stack() {
        return;
    }
    let mut frames = Frames { places: [0; MOST], count: 0, from, seen: false };
    // SAFETY: `take` gets the local variable. If another thread holds forever what the unwinder waits
    // for, the caller's time ends.
    unsafe { _Unwind_Backtrace(take, (&raw mut frames).cast()) };
    if frames.count == 0 {
        // The stack shows nothing, for example after a call through a null pointer.
        (frames.places[0], frames.count) = (from, 1);
    }
    let file = symbols::program_file();
    let names = Symbols::of(file);
    let base = symbols::load_address(file);
    for (index, place) in frames.places[..frames.count].iter().enumerate() {
        // A return address can be past the end of the calling function.
        let within = place.saturating_sub(usize::from(index > 0));
        // SAFETY: all-zero bytes are a valid `Dl_info`, which the call fills or leaves unchanged.
        let info = unsafe {
            let mut info = std::mem::zeroed();
            libc::dladdr(within as *const c_void, &mut info);
            info
        };
        // The loader of a static program finds nothing.
        let own = names.filter(|_| info.dli_fname.is_null() || is_program(&info));
        let own = own.and_then(|names| names.function(within.wrapping_sub(base) as u64));
        each(index, Call { place: within, info, own });
    }
}

/// Whether the address is in the program, not in a library.
fn is_program(info: &libc::Dl_info) -> bool {
    symbols::program_headers().wrapping_sub(info.dli_fbase as usize) < 4096
}

/// Whether there is room to unwind. This may be the program's small signal stack.
fn has_stack() -> bool {
    let here = 0u8;
    // SAFETY: all-zero bytes are a valid `stack_t`, which the call fills.
    let stack = unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(std::ptr::null(), &mut stack);
        stack
    };
    stack.ss_flags & libc::SS_ONSTACK == 0
        || (&raw const here as usize).wrapping_sub(stack.ss_sp as usize) > STACK_BYTES
}

/// A name of the loader's.
fn text(at: *const c_char) -> Option<&'static str> {
    // SAFETY: null, or a name that the loader keeps.
    (!at.is_null()).then(|| unsafe { CStr::from_ptr(at) }.to_str().unwrap_or("?"))
}

impl Call {
    /// Whether the C library releases memory or changes its size here.
    pub fn is_free(&self) -> bool {
        let name = self.own.map(|(name, _)| name).or_else(|| text(self.info.dli_sname));
        let names = ["free", "cfree", "__libc_free", "realloc", "__libc_realloc"];
        name.is_some_and(|name| names.contains(&name))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, info, own } = self;
        if let Some((name, within)) = own {
            write!(f, "{name}+{within:#x} in ")?;
        } else if let Some(name) = text(info.dli_sname) {
            write!(f, "{name}+{:#x} in ", place.wrapping_sub(info.dli_saddr as usize))?;
        }
        let Some(file) = text(info.dli_fname) else { return write!(f, "{place:#x}") };
        write!(f, "{file}(+{:#x})", place.wrapping_sub(info.dli_fbase as usize))
    }
}
