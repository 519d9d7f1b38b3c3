//! How foreign launchers are told to end a job: the one word of their own protocols that this
//! library speaks.
#![allow(unsafe_code)]

use crate::sys::environment;
use onenode::sys::{fd, program};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;

/// `cmd=abort` of PMI-1, the "simple" protocol on the descriptor that `PMI_FD` names. Runs
/// `before` if it can be sent: this process may not survive it.
pub fn abort_by_pmi(status: i32, before: impl FnOnce()) {
    let number = environment::variable("PMI_FD").and_then(|text| text.to_str()?.parse().ok());
    let Some(mut socket) = number.and_then(fd::socket) else { return };
    before();
    let _ = socket.write_all(format!("cmd=abort exitcode={status}\n").as_bytes());
}

/// `pmix_proc_t`: a name space and a rank.
#[repr(C)]
struct Proc {
    nspace: [c_char; 256],
    rank: u32,
}

type Init = unsafe extern "C" fn(*mut Proc, *mut c_void, usize) -> c_int;
type Abort = unsafe extern "C" fn(c_int, *const c_char, *mut Proc, usize) -> c_int;

/// `PMIx_Abort`, by the library that the launcher's own processes use, if it is installed. Runs
/// `before` as [`abort_by_pmi`] does.
pub fn abort_by_pmix(status: i32, before: impl FnOnce()) {
    // What a static program loads would bring a second C library along.
    if program::is_static() {
        return;
    }
    // SAFETY: both functions are called as PMIx declares them in every version of its ABI;
    // `proc` is large enough for what `PMIx_Init` writes, and counts its calls, so that an
    // MPI library in this process is not disturbed.
    unsafe {
        let library = libc::dlopen(c"libpmix.so.2".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if library.is_null() {
            return;
        }
        let function = |name: &CStr| libc::dlsym(library, name.as_ptr());
        let (init, abort) = (function(c"PMIx_Init"), function(c"PMIx_Abort"));
        if init.is_null() || abort.is_null() {
            return;
        }
        let init = std::mem::transmute::<*mut c_void, Init>(init);
        let abort = std::mem::transmute::<*mut c_void, Abort>(abort);
        let mut proc = Proc { nspace: [0; 256], rank: 0 };
        if init(&mut proc, std::ptr::null_mut(), 0) == 0 {
            before();
            abort(status, c"oneshmem ends the job".as_ptr(), std::ptr::null_mut(), 0);
        }
    }
}
