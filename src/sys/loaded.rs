//! What the libraries of this process define.
#![allow(unsafe_code)]

use std::ffi::CStr;

/// Whether a library that this process has loaded, or the program, defines a symbol of this name.
pub fn exists(name: &CStr) -> bool {
    // SAFETY: the name ends with a zero byte; the address is only compared.
    unsafe { !libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).is_null() }
}
