//! Copies as the compiler has them, in place of the library's.
#![allow(unsafe_code)]

/// Copies `bytes` bytes.
///
/// # Safety
/// As in the library.
pub unsafe fn bytes(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: readable, writable and apart, by the contract.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
}
