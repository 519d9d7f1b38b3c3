//! The copy functions.
#![allow(unsafe_code)]

use crate::argument::place;
use crate::failure::OK;
use onenode_core::copy;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// `void onenode_copy(void *to, const void *from, size_t bytes)`
#[unsafe(no_mangle)]
unsafe extern "C" fn onenode_copy(to: *mut c_void, from: *const c_void, bytes: usize) {
    // SAFETY: the header requires that both ranges have `bytes` bytes and do not overlap.
    unsafe { copy::bytes(to.cast(), from.cast(), bytes) }
}

/// `void onenode_copy_strided(void *to, ptrdiff_t to_stride, const void *from, ptrdiff_t
/// from_stride, size_t bytes, size_t n)`
#[unsafe(no_mangle)]
unsafe extern "C" fn onenode_copy_strided(
    to: *mut c_void,
    to_stride: isize,
    from: *const c_void,
    from_stride: isize,
    bytes: usize,
    n: usize,
) {
    // Both strides in elements, if they are positive multiples of one.
    let size = bytes as isize;
    let whole = |stride: isize| size > 0 && stride >= size && stride % size == 0;
    let are_whole = whole(to_stride) && whole(from_stride);
    let (dst, sst) = if are_whole { (to_stride / size, from_stride / size) } else { (0, 0) };
    // SAFETY: the header requires that each element is readable and writable, and that the two
    // sides do not overlap. Strides in elements are at least 1.
    unsafe {
        match bytes {
            1 if are_whole => copy::strided::<u8>(to.cast(), from.cast(), dst, sst, n),
            2 if are_whole => copy::strided::<u16>(to.cast(), from.cast(), dst, sst, n),
            4 if are_whole => copy::strided::<u32>(to.cast(), from.cast(), dst, sst, n),
            8 if are_whole => copy::strided::<u64>(to.cast(), from.cast(), dst, sst, n),
            16 if are_whole => copy::strided::<[u64; 2]>(to.cast(), from.cast(), dst, sst, n),
            _ => {
                for i in 0..n as isize {
                    let to = to.wrapping_byte_offset(i.wrapping_mul(to_stride));
                    let from = from.wrapping_byte_offset(i.wrapping_mul(from_stride));
                    copy::bytes(to.cast(), from.cast(), bytes);
                }
            }
        }
    }
}

functions! {
    /// `int onenode_copy_signal(void *to, const void *from, size_t bytes, uint64_t *signal_there,
    /// uint64_t value, int add)`
    fn onenode_copy_signal(
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        signal_there: *mut u64,
        value: u64,
        add: c_int,
    ) -> number {
        let signal = place("signal_there", signal_there)?;
        copy::bytes(to.cast(), from.cast(), bytes);
        let signal = AtomicU64::from_ptr(signal);
        if add == 0 {
            signal.store(value, Ordering::Release);
        } else {
            signal.fetch_add(value, Ordering::Release);
        }
        Ok(OK)
    }
}
