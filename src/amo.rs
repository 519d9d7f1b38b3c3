//! Atomic memory operations (specification, section 9.7): one locked instruction, of exactly the
//! type's width, on the mirror address.
//!
//! All routines (any context or team, fetching or not, signal or wait) end in the same processor
//! atomics of the same width. So all are mutually atomic, which is more than the specification
//! requires.
//!
//! Memory order: a read-modify-write acquires and releases, a fetch acquires, a set releases. The
//! specification requires no order at all (fence and quiet are for that), but programs use atomics
//! to hand data over. On x86-64 the order costs nothing: locked instructions are full barriers
//! anyway, and a set stays a plain store, where sequential consistency would make it an exchange.
#![allow(unsafe_code)]

use crate::argument::memory::{Dest, Object};
use crate::operand;
use crate::slow::{self, Missed};
use crate::span::Span;
use crate::translate::{Cold, Miss, Numbering, PeArg, TABLE, cold_path, translate};
use oneshmem_job::error::Routine;
use oneshmem_job::remote::AccessTarget;

mod cell;
mod ops;

pub use cell::{Integer, Word};
use ops::{
    Add, And, CompareSwap, Deferred, Fetch, Operation, Or, Returned, Set, Signal, Silent, Swap, Xor,
};

/// Performs `op` at `target` on PE `pe`.
#[inline(always)]
fn apply<O: Operation, C: Numbering>(
    routine: Routine,
    ctx: C,
    target: Object<'_, O::Word>,
    op: O,
    pe: PeArg,
) -> O::Output {
    let slow = Slow { routine, ctx, target: Missed::of(target), op, pe };
    translate(
        ctx,
        target.address(),
        pe,
        |address| {
            if !operand::is_aligned::<O::Word>(address) {
                cold_path();
                return slow.perform();
            }
            // SAFETY: `target` is a symmetric `Object`, so the whole word is in `pe`'s mirror, and
            // all other accesses to it are atomic operations of this width. Its alignment is
            // checked above.
            op.perform(unsafe { &*(address as *const <O::Word as Word>::Atomic) })
        },
        slow,
    )
}

/// An operation that leaves the hot path. It is a type, not a closure, so that its inlining can be
/// forced: the hot path then ends in a jump and needs no stack frame.
#[derive(Clone, Copy)]
struct Slow<'m, O: Operation, C> {
    routine: Routine,
    ctx: C,
    target: Missed<'m, O::Word>,
    op: O,
    pe: PeArg,
}

impl<O: Operation, C: Numbering> Slow<'_, O, C> {
    #[inline(always)]
    fn perform(self) -> O::Output {
        let Self { routine, ctx, target, op, pe } = self;
        apply_slow(ctx, target, op, pe, routine)
    }
}

impl<O: Operation, C: Numbering> Cold<O::Output> for Slow<'_, O, C> {
    #[inline(always)]
    fn miss(&self, _: Miss) -> O::Output {
        self.perform()
    }
}

#[cold]
#[inline(never)]
fn apply_slow<O: Operation, C: Numbering>(
    ctx: C,
    target: Missed<'_, O::Word>,
    op: O,
    pe: PeArg,
    routine: Routine,
) -> O::Output {
    let word = Span::object(size_of::<O::Word>());
    let (place, _call) = slow::access(routine, O::ACCESS, ctx.handle(), target.miss(), pe, word);
    let target = TABLE.address(target.miss());
    if !operand::is_aligned::<O::Word>(target) {
        operand::misaligned(routine, O::ACCESS.1, target, size_of::<O::Word>());
    }
    match place {
        AccessTarget::Near(address) => {
            // SAFETY: `access` returns only with an address in `pe`'s mirror that holds the whole word. The
            // address is aligned as `target` is, because mirrors keep the offset within a page. All other
            // accesses to an object of one word are atomic operations of its width.
            op.perform(unsafe { &*(address as *const <O::Word as Word>::Atomic) })
        }
        AccessTarget::Far(engine, at) => op.send(engine, at),
    }
}

/// Defines the routines that return the old value, and their nonblocking forms, which write it to `fetch`: on
/// a node when they return, at other nodes when the next quiet returns at the latest.
macro_rules! fetching {
    ($($(#[$doc:meta])* $name:ident, $nbi:ident<$bound:ident>($target:ident $(, $arg:ident)*) { $op:expr })*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: $bound, C: Numbering>(
            routine: Routine,
            ctx: C,
            $target: Object<'_, T>,
            $($arg: T,)*
            pe: PeArg,
        ) -> T {
            apply(routine, ctx, $target, Returned($op), pe)
        }

        $(#[$doc])*
        ///
        /// Nonblocking.
        #[inline(always)]
        pub fn $nbi<T: $bound, C: Numbering>(
            routine: Routine,
            ctx: C,
            fetch: Dest<'_, T>,
            $target: Object<'_, T>,
            $($arg: T,)*
            pe: PeArg,
        ) {
            apply(routine, ctx, $target, Deferred { op: $op, result: fetch }, pe);
        }
    )*};
}

fetching! {
    /// Reads `source` on `pe`.
    fetch, fetch_nbi<Word>(source) { Fetch::new() }
    /// Writes `value` to `dest` on `pe` and returns the old value.
    swap, swap_nbi<Word>(dest, value) { Swap(value) }
    /// Writes `value` to `dest` on `pe` if `dest` holds `cond`; returns the old value.
    compare_swap, compare_swap_nbi<Integer>(dest, cond, value) { CompareSwap { cond, value } }
    /// Adds one to `dest` on `pe` and returns the old value.
    fetch_inc, fetch_inc_nbi<Integer>(dest) { Add(T::ONE) }
    /// Adds `value` to `dest` on `pe` and returns the old value.
    fetch_add, fetch_add_nbi<Integer>(dest, value) { Add(value) }
    /// Ands `value` into `dest` on `pe` and returns the old value.
    fetch_and, fetch_and_nbi<Integer>(dest, value) { And(value) }
    /// Ors `value` into `dest` on `pe` and returns the old value.
    fetch_or, fetch_or_nbi<Integer>(dest, value) { Or(value) }
    /// Exclusive-ors `value` into `dest` on `pe` and returns the old value.
    fetch_xor, fetch_xor_nbi<Integer>(dest, value) { Xor(value) }
}

/// Writes `value` to `dest` on `pe`.
#[inline(always)]
pub fn set<T: Word, C: Numbering>(
    routine: Routine,
    ctx: C,
    dest: Object<'_, T>,
    value: T,
    pe: PeArg,
) {
    apply(routine, ctx, dest, Set(value), pe);
}

/// Defines the forms without a result.
macro_rules! without_result {
    ($($(#[$doc:meta])* $name:ident($($arg:ident)?) { $op:expr })*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: Integer, C: Numbering>(
            routine: Routine,
            ctx: C,
            dest: Object<'_, T>,
            $($arg: T,)?
            pe: PeArg,
        ) {
            apply(routine, ctx, dest, Silent($op), pe);
        }
    )*};
}

without_result! {
    /// Adds one to `dest` on `pe`.
    inc() { Add(T::ONE) }
    /// Adds `value` to `dest` on `pe`.
    add(value) { Add(value) }
    /// Ands `value` into `dest` on `pe`.
    and(value) { And(value) }
    /// Ors `value` into `dest` on `pe`.
    or(value) { Or(value) }
    /// Exclusive-ors `value` into `dest` on `pe`.
    xor(value) { Xor(value) }
}

/// Adds `signal` to the signal on `pe`.
#[inline(always)]
pub fn signal_add<C: Numbering>(
    routine: Routine,
    ctx: C,
    sig_addr: Object<'_, u64>,
    signal: u64,
    pe: PeArg,
) {
    apply(routine, ctx, sig_addr, Signal(Silent(Add(signal))), pe);
}

/// Sets the signal on `pe`.
#[inline(always)]
pub fn signal_set<C: Numbering>(
    routine: Routine,
    ctx: C,
    sig_addr: Object<'_, u64>,
    signal: u64,
    pe: PeArg,
) {
    apply(routine, ctx, sig_addr, Signal(Set(signal)), pe);
}

#[cfg(test)]
mod tests;
