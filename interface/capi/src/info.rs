//! Routines that return results to C through pointers.
#![allow(unsafe_code)]

use crate::constants::{SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION, SHMEM_VENDOR_STRING};
use oneshmem::argument::not_null;
use oneshmem::error::{Error, Routine};
use oneshmem::job::setup;
use oneshmem::message;
use std::ffi::{c_char, c_int};

/// Writes a result through a pointer. Ends the job if the pointer is null.
///
/// # Safety
/// `pointer` is null or writable.
pub unsafe fn output<T>(routine: Routine, argument: &str, pointer: *mut T, value: T) {
    not_null(routine, argument, pointer);
    // SAFETY: checked not to be null, so the caller guarantees that it is writable.
    unsafe { pointer.write(value) }
}

/// `shmem_info_get_version`.
///
/// # Safety
/// Each is null or writable.
pub unsafe fn version(routine: Routine, major: *mut c_int, minor: *mut c_int) {
    // SAFETY: the caller guarantees that each is null or writable.
    unsafe {
        output(routine, "major", major, SHMEM_MAJOR_VERSION as c_int);
        output(routine, "minor", minor, SHMEM_MINOR_VERSION as c_int);
    }
}

/// `shmem_info_get_name`.
///
/// # Safety
/// `name` is null or has room for `SHMEM_MAX_NAME_LEN` characters.
pub unsafe fn name(routine: Routine, name: *mut c_char) {
    not_null(routine, "name", name);
    let text = SHMEM_VENDOR_STRING.to_bytes_with_nul();
    // SAFETY: checked not to be null. The text fits the caller's array (see `constants`).
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) }
}

/// `shmem_init_thread`: reports a failure, and returns -1.
///
/// # Safety
/// `provided` is null or writable.
pub unsafe fn init_thread(routine: Routine, requested: c_int, provided: *mut c_int) -> c_int {
    not_null(routine, "provided", provided);
    match setup::init_thread(routine, requested) {
        Ok(level) => {
            // SAFETY: checked not to be null, so the caller guarantees that it is writable.
            unsafe { provided.write(level) };
            0
        }
        Err(Error::Reported) => -1,
        Err(error) => {
            message::say(format_args!("{routine}: {error}"));
            -1
        }
    }
}
