//! Checks on symmetric operands that several operation families share: natural
//! alignment, and "symmetric on this PE" for what is only accessed locally.

#![allow(unsafe_code)]

use crate::context::CTX_DEFAULT;
use crate::error::Routine;
use crate::failure;
use crate::job;
use crate::slow;
use crate::translate::TABLE;
use std::mem::MaybeUninit;

/// Whether an object of `T`'s size may be accessed atomically at `addr`.
#[inline(always)]
pub(crate) const fn is_aligned<T>(addr: usize) -> bool {
    addr & (size_of::<T>() - 1) == 0
}

/// Ends the job: `argument` is not aligned to its `size`.
#[cold]
#[inline(never)]
pub(crate) fn misaligned(routine: Routine, argument: &str, addr: usize, size: usize) -> ! {
    failure::misuse(
        routine,
        format_args!("{argument} = {addr:#x}"),
        format_args!(
            "the address must be a multiple of {size}, the size of the object; \
             the nearest below is {:#x}",
            addr & !(size - 1)
        ),
    )
}

/// Ends the job unless `addr` is an aligned `T` in this PE's symmetric memory:
/// for operations on the own copy, which need no translation. Returns whether the processor
/// reaches it; else it is on a device.
#[inline(always)]
pub(crate) fn check_local<T>(routine: Routine, argument: &'static str, addr: usize) -> bool {
    is_here::<T>(addr) || check_local_slow(routine, argument, addr, size_of::<T>())
}

/// Whether `addr` is surely an aligned `T` in this PE's symmetric memory that the processor
/// reaches; if not, [`check_local`] finds out.
#[inline(always)]
pub(crate) fn is_here<T>(addr: usize) -> bool {
    TABLE.surely_symmetric(addr) && is_aligned::<T>(addr)
}

#[cold]
#[inline(never)]
fn check_local_slow(routine: Routine, argument: &'static str, addr: usize, size: usize) -> bool {
    let pe = job::job(routine).pe();
    let on_device = slow::device_address(routine, addr, pe).is_some();
    if !on_device {
        // Comes back only if the address is symmetric after all (another partition).
        slow::address_of(routine, argument, CTX_DEFAULT, addr, pe);
    }
    if addr & (size - 1) != 0 {
        misaligned(routine, argument, addr, size);
    }
    !on_device
}

/// As [`check_local`], for what must not be on a device.
#[inline(always)]
pub(crate) fn check_loadable<T>(routine: Routine, argument: &'static str, addr: usize) {
    if !TABLE.surely_symmetric(addr) || !is_aligned::<T>(addr) {
        check_loadable_slow(routine, argument, addr, size_of::<T>());
    }
}

#[cold]
#[inline(never)]
fn check_loadable_slow(routine: Routine, argument: &'static str, addr: usize, size: usize) {
    if !check_local_slow(routine, argument, addr, size) {
        // Says that it is on a device.
        slow::address_of(routine, argument, CTX_DEFAULT, addr, job::job(routine).pe());
    }
}

/// The value of a word of this PE on a device.
///
/// # Safety
/// The address is that of a `T` in a partition, and any bytes are one.
#[cold]
#[inline(never)]
pub(crate) unsafe fn load_from_device<T: Copy>(routine: Routine, addr: usize) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    match job::job(routine).devices() {
        // SAFETY: the caller's promise; the copy fills the value in.
        Some(devices) => unsafe {
            devices.copy(value.as_mut_ptr().cast(), addr as *const u8, size_of::<T>());
            value.assume_init()
        },
        None => unreachable!("an address of a partition on a device"),
    }
}
