//! Checks on arguments that are no symmetric addresses.

use crate::error::Routine;
use crate::failure;

/// Ends the job if a pointer to memory of this PE's is null.
#[inline]
pub fn not_null<T>(routine: Routine, argument: &str, pointer: *const T) {
    if pointer.is_null() {
        null(routine, argument);
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
