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
    // SAFETY: the header requires that each element is readable and writable, and that the two
    // sides do not overlap.
    unsafe {
        match bytes {
            1 => elements::<u8>(to, to_stride, from, from_stride, n),
            2 => elements::<u16>(to, to_stride, from, from_stride, n),
            4 => elements::<u32>(to, to_stride, from, from_stride, n),
            8 => elements::<u64>(to, to_stride, from, from_stride, n),
            16 => elements::<[u64; 2]>(to, to_stride, from, from_stride, n),
            _ => blocks(to, to_stride, from, from_stride, bytes, n),
        }
    }
}

/// Copies elements of a size that the core has moves for, if both strides are positive multiples of
/// it.
///
/// # Safety
/// As for [`blocks`].
unsafe fn elements<T: Copy>(
    to: *mut c_void,
    to_stride: isize,
    from: *const c_void,
    from_stride: isize,
    n: usize,
) {
    let size = size_of::<T>() as isize;
    let whole = |stride: isize| stride >= size && stride % size == 0;
    // SAFETY: the caller guarantees the contract of `blocks`: the elements are readable and
    // writable. The strides, checked above, are at least one element.
    unsafe {
        if whole(to_stride) && whole(from_stride) {
            copy::strided::<T>(to.cast(), from.cast(), to_stride / size, from_stride / size, n);
        } else {
            blocks(to, to_stride, from, from_stride, size_of::<T>(), n);
        }
    }
}

/// Copies blocks of any size at any strides, one by one.
///
/// # Safety
/// `n` blocks at `from` are readable and `n` at `to` writable, and no two of them overlap.
unsafe fn blocks(
    to: *mut c_void,
    to_stride: isize,
    from: *const c_void,
    from_stride: isize,
    bytes: usize,
    n: usize,
) {
    for i in 0..n as isize {
        let to = to.wrapping_byte_offset(i.wrapping_mul(to_stride));
        let from = from.wrapping_byte_offset(i.wrapping_mul(from_stride));
        // SAFETY: the caller guarantees that the blocks are readable and writable.
        unsafe { copy::bytes(to.cast(), from.cast(), bytes) }
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
