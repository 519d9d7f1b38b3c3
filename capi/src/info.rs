//! What C gets through pointers.
#![allow(unsafe_code)]

use crate::constants::{SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION, SHMEM_VENDOR_STRING};
use oneshmem::error::{self, Routine};
use oneshmem::job::session;
use std::ffi::{c_char, c_int};

/// `shmem_info_get_version`.
///
/// # Safety
/// Both are writable.
pub unsafe fn version(major: *mut c_int, minor: *mut c_int) {
    // SAFETY: the caller's promise.
    unsafe {
        major.write(SHMEM_MAJOR_VERSION as c_int);
        minor.write(SHMEM_MINOR_VERSION as c_int);
    }
}

/// `shmem_info_get_name`.
///
/// # Safety
/// `name` has room for `SHMEM_MAX_NAME_LEN` characters.
pub unsafe fn name(name: *mut c_char) {
    let text = SHMEM_VENDOR_STRING.to_bytes_with_nul();
    // SAFETY: the text is no longer than the caller's array (see `constants`).
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) }
}

/// `shmem_init_thread`: a failure is a return value, and said aloud.
///
/// # Safety
/// `provided` is writable.
pub unsafe fn init_thread(routine: Routine, requested: c_int, provided: *mut c_int) -> c_int {
    match session::init_thread(routine, requested) {
        Ok(level) => {
            // SAFETY: the caller's promise.
            unsafe { provided.write(level) };
            0
        }
        Err(error) => {
            error::say(format_args!("{routine}: {error}"));
            -1
        }
    }
}
