//! Checks on arguments that are not symmetric addresses.

pub mod memory;

use crate::failure;
use oneshmem_job::error::Routine;

/// Ends the job if a pointer to this PE's own memory is null.
#[inline]
pub fn not_null<T>(routine: Routine, argument: &str, pointer: *const T) {
    if pointer.is_null() {
        null(routine, argument);
    }
}

/// Unwraps a pointer to this PE's own memory; ends the job if it is null.
#[inline]
pub fn required<P>(routine: Routine, argument: &str, pointer: Option<P>) -> P {
    match pointer {
        Some(pointer) => pointer,
        None => null(routine, argument),
    }
}

#[cold]
#[inline(never)]
fn null(routine: Routine, argument: &str) -> ! {
    failure::misuse(
        routine,
        format_args!("{argument} = NULL"),
        "expected an address, not a null pointer",
    )
}
