//! Libraries that are loaded while the program runs, and waiting for a descriptor of theirs.
#![allow(unsafe_code)]

use crate::error::Error;
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::time::Duration;

/// A shared library that stays loaded for the life of the process.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    name: &'static CStr,
    handle: NonNull<c_void>,
}

impl Library {
    /// Loads a library by its name.
    ///
    /// # Errors
    /// If the system's linker does not find it, or what it depends on, in its own words.
    pub fn load(name: &'static CStr) -> Result<Self, Error> {
        // SAFETY: a C string; the library's constructors are the caller's wish.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        match NonNull::new(handle) {
            Some(handle) => Ok(Self { name, handle }),
            None => Err(Error::Library(last_error())),
        }
    }

    /// The address of a function.
    ///
    /// # Errors
    /// If the library has none of this name.
    pub fn function(&self, name: &CStr) -> Result<NonNull<c_void>, Error> {
        // SAFETY: the handle is of a library that stays loaded; a C string.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) }).ok_or_else(|| {
            Error::Library(format!(
                "{} has no {}",
                self.name.to_string_lossy(),
                name.to_string_lossy()
            ))
        })
    }
}

fn last_error() -> String {
    // SAFETY: returns null or a C string that is valid until the thread's next such call.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            "the system's linker does not say why".into()
        } else {
            CStr::from_ptr(text).to_string_lossy().into_owned()
        }
    }
}

/// Returns when there is something to read from the descriptor, or that time has passed.
pub fn await_readable(fd: i32, most: Duration) {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let millis = i32::try_from(most.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one record, ours. An interrupted call has waited less, which is in order.
    unsafe { libc::poll(&raw mut poll, 1, millis) };
}
