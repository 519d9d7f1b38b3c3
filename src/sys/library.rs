//! Loads libraries at run time, and waits for their descriptors.
#![allow(unsafe_code)]

use crate::error::Error;
use onenode::sys::program;
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
    /// If the dynamic linker does not find it or one of its dependencies; the message is the
    /// linker's.
    pub fn load(name: &'static CStr) -> Result<Self, Error> {
        // SAFETY: a C string. Running the library's constructors is what the caller wants.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        match NonNull::new(handle) {
            Some(handle) => Ok(Self { name, handle }),
            None => Err(Error::Library(last_error())),
        }
    }

    /// The address of a function.
    ///
    /// # Errors
    /// If the library has no function of this name.
    pub fn function(&self, name: &CStr) -> Result<NonNull<c_void>, Error> {
        // SAFETY: the handle belongs to a library that stays loaded; a C string.
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
    // SAFETY: it returns null, or a C string that is valid until the thread's next such call.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            "the system's linker does not say why".into()
        } else {
            CStr::from_ptr(text).to_string_lossy().into_owned()
        }
    }
}

/// Returns an error if this program is static: loading a library would load a second C library.
pub fn check_static(name: &CStr) -> Result<(), Error> {
    match program::is_static() {
        true => Err(Error::Library(format!(
            "a static program cannot load {}; link it dynamically to run it on several nodes",
            name.to_string_lossy()
        ))),
        false => Ok(()),
    }
}

/// Waits until the descriptor is readable, at most for `most`.
pub fn await_readable(fd: i32, most: Duration) {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let millis = i32::try_from(most.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one record, ours. An interrupted call returns early, which is allowed.
    unsafe { libc::poll(&raw mut poll, 1, millis) };
}
