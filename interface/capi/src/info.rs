//! Routines that return results to C through pointers.

use crate::constants::{
    SHMEM_MAJOR_VERSION, SHMEM_MAX_NAME_LEN, SHMEM_MINOR_VERSION, SHMEM_VENDOR_STRING,
};
use oneshmem::internals::argument::memory::Out;
use oneshmem::internals::argument::required;
use oneshmem::internals::message;
use oneshmem::internals::start::setup;
use oneshmem_job::error::{Error, Routine};
use std::ffi::{c_char, c_int};

/// The number of characters in a program's array for the name.
pub const LONGEST: usize = SHMEM_MAX_NAME_LEN as usize;

/// Writes a result. Ends the job if there is no place for it.
pub fn output<T>(routine: Routine, argument: &str, place: Option<Out<'_, T>>, value: T) {
    required(routine, argument, place).set(0, value);
}

/// `shmem_info_get_version`.
pub fn version(routine: Routine, major: Option<Out<'_, c_int>>, minor: Option<Out<'_, c_int>>) {
    output(routine, "major", major, SHMEM_MAJOR_VERSION as c_int);
    output(routine, "minor", minor, SHMEM_MINOR_VERSION as c_int);
}

/// `shmem_info_get_name`.
pub fn name(routine: Routine, name: Option<Out<'_, c_char>>) {
    let name = required(routine, "name", name);
    for (i, character) in SHMEM_VENDOR_STRING.to_bytes_with_nul().iter().enumerate() {
        name.set(i, *character as c_char);
    }
}

/// `shmem_init_thread`: reports a failure, and returns -1.
pub fn init_thread(routine: Routine, requested: c_int, provided: Option<Out<'_, c_int>>) -> c_int {
    let provided = required(routine, "provided", provided);
    match setup::init_thread(routine, requested) {
        Ok(level) => {
            provided.set(0, level);
            0
        }
        Err(Error::Reported) => -1,
        Err(error) => {
            message::say(format_args!("{routine}: {error}"));
            -1
        }
    }
}
