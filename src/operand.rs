//! Checks on symmetric operands that several operation families share: natural
//! alignment, and "symmetric on this PE" for what is only accessed locally.

use crate::context::CTX_DEFAULT;
use crate::error::Routine;
use crate::failure;
use crate::job;
use crate::slow;
use crate::translate::TABLE;

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
/// for operations on the own copy, which need no translation.
#[inline(always)]
pub(crate) fn check_local<T>(routine: Routine, argument: &'static str, addr: usize) {
    if !TABLE.surely_symmetric(addr) || !is_aligned::<T>(addr) {
        check_local_slow(routine, argument, addr, size_of::<T>());
    }
}

#[cold]
#[inline(never)]
fn check_local_slow(routine: Routine, argument: &'static str, addr: usize, size: usize) {
    let pe = job::job(routine).pe();
    // Comes back only if the address is symmetric after all (another partition).
    slow::address_of(routine, argument, CTX_DEFAULT, addr, pe);
    if addr & (size - 1) != 0 {
        misaligned(routine, argument, addr, size);
    }
}
