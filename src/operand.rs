//! Checks on symmetric operands that several families of operations share: natural alignment, and
//! "symmetric on this PE" for operands that are only accessed locally.

pub(crate) mod word;

use crate::call;
use crate::context::CTX_DEFAULT;
use crate::failure;
use crate::slow;
use crate::translate::TABLE;
use oneshmem_job::error::Routine;

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

/// Ends the job unless `addr` is an aligned `T` in this PE's symmetric memory. Operations on the
/// PE's own copy use this: they need no translation. Returns whether the processor reaches it;
/// otherwise it is on a device.
#[inline(always)]
fn check_local<T>(routine: Routine, argument: &'static str, addr: usize) -> bool {
    is_here::<T>(addr) || check_local_slow(routine, argument, addr, size_of::<T>())
}

/// Whether `addr` is known to be an aligned `T` in this PE's symmetric memory that the processor
/// reaches. If not, [`check_local`] decides.
#[inline(always)]
fn is_here<T>(addr: usize) -> bool {
    TABLE.surely_symmetric(addr) && is_aligned::<T>(addr)
}

#[cold]
#[inline(never)]
fn check_local_slow(routine: Routine, argument: &'static str, addr: usize, size: usize) -> bool {
    let pe = call::job(routine).pe();
    let on_device = slow::device_address(routine, addr, pe).is_some();
    if !on_device {
        // Returns only if the address is symmetric after all (in another partition).
        slow::address_of(routine, argument, CTX_DEFAULT, addr, pe);
    }
    if addr & (size - 1) != 0 {
        misaligned(routine, argument, addr, size);
    }
    !on_device
}

/// Like [`check_local`], for an operand that must not be on a device.
#[inline(always)]
fn check_loadable<T>(routine: Routine, argument: &'static str, addr: usize) {
    if !TABLE.surely_symmetric(addr) || !is_aligned::<T>(addr) {
        check_loadable_slow(routine, argument, addr, size_of::<T>());
    }
}

#[cold]
#[inline(never)]
fn check_loadable_slow(routine: Routine, argument: &'static str, addr: usize, size: usize) {
    if !check_local_slow(routine, argument, addr, size) {
        // Reports that it is on a device.
        slow::address_of(routine, argument, CTX_DEFAULT, addr, call::job(routine).pe());
    }
}
