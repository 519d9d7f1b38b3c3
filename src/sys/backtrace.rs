//! The calls that led to where a signal interrupted this thread, for a signal handler: no
//! allocation, and no lock that the C library does not take itself in finding frames and names.
#![allow(unsafe_code)]

use super::symbols::{self, Symbols};
use libc::{c_char, c_int, c_void};
use std::ffi::CStr;
use std::fmt;

/// Most calls that are told; deeper ones are rarely of interest.
const MOST: usize = 48;
/// Stack that finding the frames may need.
const STACK_BYTES: usize = 16 << 10;
/// Seconds until a process that has come to stand still in here is ended.
const PATIENCE: u32 = 2;

// The unwinder that the compiler's runtime brings along (Itanium C++ ABI, level I).
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
    /// Where the signal came; what is found before is the handler's.
    from: usize,
    seen: bool,
}

extern "C" fn take(frame: *mut c_void, frames: *mut c_void) -> c_int {
    // SAFETY: the unwinder passes its frame, and `each_call`'s local back.
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

/// Where a signal interrupted the program, from what the handler was passed.
///
/// # Safety
/// `context` is a handler's third argument.
pub unsafe fn interrupted_at(context: *const c_void) -> usize {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise.
    return unsafe {
        (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] as usize
    };
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's promise.
    return unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.pc as usize };
}

/// A call on the stack.
pub struct Call {
    place: usize,
    info: libc::Dl_info,
    /// The function of the program itself, and how far into it.
    own: Option<(&'static str, u64)>,
}

/// Hands on each call, innermost first, beginning with the one interrupted at `from`.
pub fn each_call(from: usize, mut each: impl FnMut(usize, Call)) {
    if !has_stack() {
        return;
    }
    let mut frames = Frames { places: [0; MOST], count: 0, from, seen: false };
    // SAFETY: the process is about to be ended by a signal; should another thread hold for ever
    // what the unwinder waits for, SIGALRM ends it. `take` gets the local.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::alarm(PATIENCE);
        _Unwind_Backtrace(take, (&raw mut frames).cast());
    }
    if frames.count == 0 {
        // Its stack tells nothing: a call through a null pointer, for example.
        (frames.places[0], frames.count) = (from, 1);
    }
    let file = symbols::program_file();
    let names = Symbols::of(file);
    let base = symbols::load_address(file);
    for (index, place) in frames.places[..frames.count].iter().enumerate() {
        // A call's return address can already belong to what follows in memory.
        let within = place.saturating_sub(usize::from(index > 0));
        // SAFETY: all-zero bytes are a valid `Dl_info`, which the call fills or leaves.
        let info = unsafe {
            let mut info = std::mem::zeroed();
            libc::dladdr(within as *const c_void, &mut info);
            info
        };
        // The loader of a static program knows nothing.
        let own = names.filter(|_| info.dli_fname.is_null() || is_program(&info));
        let own = own.and_then(|names| names.function(within.wrapping_sub(base) as u64));
        each(index, Call { place: within, info, own });
    }
    // SAFETY: no memory is passed.
    unsafe { libc::alarm(0) };
}

/// Whether this is the program and no library.
fn is_program(info: &libc::Dl_info) -> bool {
    symbols::program_headers().wrapping_sub(info.dli_fbase as usize) < 4096
}

/// Whether there is room to unwind, on what may be the program's small stack for signals.
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

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, info, own } = self;
        let text = |at: *const c_char| {
            // SAFETY: null, or a name that the loader keeps.
            (!at.is_null()).then(|| unsafe { CStr::from_ptr(at) }.to_str().unwrap_or("?"))
        };
        if let Some((name, within)) = own {
            write!(f, "{name}+{within:#x} in ")?;
        } else if let Some(name) = text(info.dli_sname) {
            write!(f, "{name}+{:#x} in ", place.wrapping_sub(info.dli_saddr as usize))?;
        }
        let Some(file) = text(info.dli_fname) else { return write!(f, "{place:#x}") };
        write!(f, "{file}(+{:#x})", place.wrapping_sub(info.dli_fbase as usize))
    }
}
