//! Where a Python program has called: the interpreter knows the lines of its scripts, no debug information does.
#![allow(unsafe_code)]

use nix::sys::memfd::{self, MFdFlags};
use oneshmem_job::sys::library::{symbol, typed};
use std::ffi::{CStr, c_int};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// Writes the calls of a thread to a descriptor, innermost first. Meant for handlers of signals: needs no lock of
/// the interpreter's, and allocates nothing.
type Dump = extern "C" fn(c_int, Thread);

/// The interpreter's record of this thread, if it has one.
type ThisThread = extern "C" fn() -> Option<Thread>;

/// `PyThreadState *`.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Thread(NonNull<u8>);

/// Under its public name of later versions, and under that of the interpreter's own `faulthandler`.
const DUMP: [&CStr; 2] = [c"PyUnstable_DumpTraceback", c"_Py_DumpTraceback"];
/// Room for the calls of a script, by their lines.
const BYTES: usize = 4096;

/// Passes the line of each Python call of this thread to `each`, innermost first, as the interpreter writes it:
/// `File "ring.py", line 9 in <module>`. None if this thread runs no Python.
pub fn each_call(mut each: impl FnMut(&str)) {
    // SAFETY: the types that all versions of the C interface that have them give them, but for the result of the
    // last two, which is not used.
    let (this_thread, dump) = unsafe {
        (
            symbol(c"PyGILState_GetThisThreadState").map(|it| typed::<ThisThread>(it)),
            DUMP.iter().find_map(|name| symbol(name)).map(|it| typed::<Dump>(it)),
        )
    };
    let (Some(this_thread), Some(dump)) = (this_thread, dump) else { return };
    let (Some(thread), Ok(memory)) =
        (this_thread(), memfd::memfd_create(c"python", MFdFlags::MFD_CLOEXEC))
    else {
        return;
    };
    let mut file = File::from(memory);
    dump(file.as_raw_fd(), thread);
    let mut text = [0; BYTES];
    let bytes = file.rewind().and_then(|()| file.read(&mut text)).unwrap_or(0);
    String::from_utf8_lossy(&text[..bytes])
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .for_each(&mut each);
}
