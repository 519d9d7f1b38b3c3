//! What `shmemx.h` declares.
#![allow(unsafe_code)]

use oneshmem::collectives::select;
use std::ffi::{CStr, c_char, c_int};

/// `shmemx_set_algorithm`.
///
/// # Safety
/// Both are null or strings that end with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_set_algorithm(
    operation: *const c_char,
    algorithm: *const c_char,
) -> c_int {
    let text = |string: *const c_char| {
        // SAFETY: not null, so a string by the caller's promise.
        (!string.is_null()).then(|| unsafe { CStr::from_ptr(string) }.to_str().ok()).flatten()
    };
    match (text(operation), text(algorithm)) {
        (Some(operation), Some(algorithm)) => c_int::from(!select::set(operation, algorithm)),
        _ => 1,
    }
}
