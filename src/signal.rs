//! Signalling operations (specification, section 9.8): puts of data, each followed by an update of
//! a signal word.

use crate::argument::memory::{Object, Source};
use crate::failure;
use crate::operand::word::MappedVariable;
use crate::rma;
use crate::translate::{Numbering, PeArg};
use crate::wait;
use oneshmem_job::error::Routine;
use std::ffi::c_int;

pub use crate::amo::{signal_add as add, signal_set as set};

/// `SHMEM_SIGNAL_SET`: overwrites the signal.
pub const SIGNAL_SET: c_int = 1;
/// `SHMEM_SIGNAL_ADD`: adds to the signal.
pub const SIGNAL_ADD: c_int = 2;

/// An update of a signal.
pub struct Update<'m> {
    /// The signal.
    pub sig_addr: Object<'m, u64>,
    /// The operand.
    pub signal: u64,
    /// [`SIGNAL_SET`] or [`SIGNAL_ADD`].
    pub sig_op: c_int,
}

/// Copies the elements of `source` to `dest` on `pe`, then updates the signal there, even if there
/// are no elements.
#[inline(always)]
pub fn put_signal<T: Copy, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Object<'_, T>,
    source: Source<'_, T>,
    Update { sig_addr, signal, sig_op }: Update<'_>,
    pe: PeArg,
) {
    if sig_op != SIGNAL_SET && sig_op != SIGNAL_ADD {
        bad_operator(routine, sig_op);
    }
    // The copy comes first in program order, and both kinds of update release it.
    rma::put(routine, ctx, dest, source, pe);
    if sig_op == SIGNAL_SET {
        set(routine, ctx, sig_addr, signal, pe);
    } else {
        add(routine, ctx, sig_addr, signal, pe);
    }
}

#[cold]
#[inline(never)]
fn bad_operator(routine: Routine, sig_op: c_int) -> ! {
    failure::misuse(
        routine,
        format_args!("sig_op = {sig_op}"),
        format_args!("expected SHMEM_SIGNAL_SET ({SIGNAL_SET}) or SHMEM_SIGNAL_ADD ({SIGNAL_ADD})"),
    )
}

/// The value of this PE's own signal.
#[inline(always)]
pub fn fetch(routine: Routine, sig_addr: Object<'_, u64>) -> u64 {
    MappedVariable::loadable(routine, "sig_addr", sig_addr).load()
}

/// Waits until this PE's own signal satisfies the comparison with `value`, and returns the value
/// that does.
#[inline]
pub fn wait_until(routine: Routine, sig_addr: Object<'_, u64>, cmp: c_int, value: u64) -> u64 {
    wait::until(routine, "sig_addr", sig_addr, cmp, value)
}

#[cfg(test)]
mod tests;
