//! What C gets through pointers.
#![allow(unsafe_code)]

use crate::constants::{SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION, SHMEM_VENDOR_STRING};
use oneshmem::argument::not_null;
use oneshmem::error::{Error, Routine};
use oneshmem::job::setup;
use oneshmem::message;
use std::ffi::{c_char, c_int};

/// Writes what a routine returns through a pointer; ends the job if that is null.
///
/// # Safety
/// `pointer` is null or writable.
pub unsafe fn output<T>(routine: Routine, argument: &str, pointer: *mut T, value: T) {
    not_null(routine, argument, pointer);
    // SAFETY: not null, so writable by the caller's promise.
    unsafe { pointer.write(value) }
}

/// `shmem_info_get_version`.
///
/// # Safety
/// Each is null or writable.
pub unsafe fn version(routine: Routine, major: *mut c_int, minor: *mut c_int) {
    // SAFETY: the caller's promise.
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
    // SAFETY: the text is no longer than the caller's array (see `constants`).
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) }
}

/// `shmem_init_thread`: a failure is a return value, and said aloud.
///
/// # Safety
/// `provided` is null or writable.
pub unsafe fn init_thread(routine: Routine, requested: c_int, provided: *mut c_int) -> c_int {
    not_null(routine, "provided", provided);
    match setup::init_thread(routine, requested) {
        Ok(level) => {
            // SAFETY: the caller's promise.
            unsafe { provided.write(level) };
            0
        }
        Err(Error::Told) => -1,
        Err(error) => {
            message::say(format_args!("{routine}: {error}"));
            -1
        }
    }
}
