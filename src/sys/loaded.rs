//! Which symbols this process's libraries define.
#![allow(unsafe_code)]

use std::ffi::CStr;

/// Whether the program or a loaded library defines this symbol.
pub fn exists(name: &CStr) -> bool {
    // SAFETY: the name ends with a zero byte; the address is only compared.
    unsafe { !libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).is_null() }
}
