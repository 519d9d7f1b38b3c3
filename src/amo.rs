//! Atomic memory operations (specification, section 9.7): one locked
//! instruction, of exactly the type's width, on the mirror address.
//!
//! Every way to reach a location (any context or team, fetching or not, signal or
//! wait) ends in the same processor atomics of the same width, so all are
//! mutually atomic, which is more than the specification asks for.
//!
//! Orders: a read-modify-write is acquire and release, a fetch acquires, a set
//! releases. The specification asks for no order at all (that is what fence and
//! quiet are for), but programs lean on atomics to hand data over. On x86-64 this
//! costs nothing: locked instructions are full barriers anyway, and a set stays a
//! plain store where sequential consistency would make it an exchange.
#![allow(unsafe_code)]

use crate::engine::Place;
use crate::error::Routine;
use crate::operand;
use crate::slow;
use crate::span::Span;
use crate::translate::{Cold, Miss, Numbering, PeArg, TABLE, cold_path, translate};

mod cell;
mod ops;

pub use cell::{Integer, Word};
use ops::{Add, And, CompareSwap, Fetch, Operation, Or, Set, Signal, Silent, Swap, Xor};

/// Performs `op` at `target` on PE `pe`.
///
/// # Safety
/// Concurrent accesses to the target are atomic operations of this width.
#[inline(always)]
unsafe fn apply<O: Operation, C: Numbering>(
    routine: Routine,
    ctx: C,
    target: *const O::Word,
    op: O,
    pe: PeArg,
) -> O::Output {
    // The same offset that `translate` computes: nothing else of `target` has to be
    // kept for the slow path.
    let miss = TABLE.miss(target as usize);
    let slow = Slow { routine, ctx, miss, op, pe };
    translate(
        ctx,
        target as usize,
        pe,
        |address| {
            if !operand::is_aligned::<O::Word>(address) {
                cold_path();
                return slow.perform();
            }
            // SAFETY: in `pe`'s mirror, aligned; the rest is the caller's promise.
            op.perform(unsafe { O::Word::at(address) })
        },
        slow,
    )
}

/// An operation that leaves the hot path. A type, not a closure, so that it can be
/// told to inline: the hot path then ends in a jump and needs no stack frame.
#[derive(Clone, Copy)]
struct Slow<O, C> {
    routine: Routine,
    ctx: C,
    miss: Miss,
    op: O,
    pe: PeArg,
}

impl<O: Operation, C: Numbering> Slow<O, C> {
    #[inline(always)]
    fn perform(self) -> O::Output {
        let Self { routine, ctx, miss, op, pe } = self;
        // SAFETY: made by `apply` only, whose caller promised what is asked here.
        unsafe { apply_slow(ctx, miss, op, pe, routine) }
    }
}

impl<O: Operation, C: Numbering> Cold<O::Output> for Slow<O, C> {
    #[inline(always)]
    fn miss(&self, _: Miss) -> O::Output {
        self.perform()
    }
}

#[cold]
#[inline(never)]
unsafe fn apply_slow<O: Operation, C: Numbering>(
    ctx: C,
    miss: Miss,
    op: O,
    pe: PeArg,
    routine: Routine,
) -> O::Output {
    let word = Span::object(size_of::<O::Word>());
    let place = slow::access(routine, O::ACCESS, ctx.handle(), miss, pe, word);
    let target = TABLE.address(miss);
    if !operand::is_aligned::<O::Word>(target) {
        operand::misaligned(routine, O::ACCESS.1, target, size_of::<O::Word>());
    }
    match place {
        // SAFETY: `access` returns only with an address inside `pe`'s mirror; aligned
        // because mirrors keep the offset within a page.
        Place::Near(address) => op.perform(unsafe { O::Word::at(address) }),
        Place::Far(engine, at) => op.send(engine, at),
    }
}

/// Defines the public routines. Each has the safety contract of [`apply`].
macro_rules! routines {
    ($($(#[$doc:meta])* $name:ident<$bound:ident>($target:ident: $pointer:ty $(, $arg:ident)*) -> $out:ty {
        $op:expr
    })*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Concurrent accesses to the object on `pe` are atomic and of this type.
        #[inline(always)]
        pub unsafe fn $name<T: $bound, C: Numbering>(
            routine: Routine,
            ctx: C,
            $target: $pointer,
            $($arg: T,)*
            pe: PeArg,
        ) -> $out {
            // SAFETY: the caller's promise, passed on.
            unsafe { apply(routine, ctx, $target, $op, pe) }
        }
    )*};
}

routines! {
    /// Reads `source` on `pe`.
    fetch<Word>(source: *const T) -> T { Fetch::new() }
    /// Writes `value` to `dest` on `pe`.
    set<Word>(dest: *mut T, value) -> () { Set(value) }
    /// Writes `value` to `dest` on `pe` and returns the old value.
    swap<Word>(dest: *mut T, value) -> T { Swap(value) }
    /// Writes `value` to `dest` on `pe` if `cond` stands there; returns the old value.
    compare_swap<Integer>(dest: *mut T, cond, value) -> T { CompareSwap { cond, value } }
    /// Adds one to `dest` on `pe` and returns the old value.
    fetch_inc<Integer>(dest: *mut T) -> T { Add(T::ONE) }
    /// Adds `value` to `dest` on `pe` and returns the old value.
    fetch_add<Integer>(dest: *mut T, value) -> T { Add(value) }
    /// Ands `value` into `dest` on `pe` and returns the old value.
    fetch_and<Integer>(dest: *mut T, value) -> T { And(value) }
    /// Ors `value` into `dest` on `pe` and returns the old value.
    fetch_or<Integer>(dest: *mut T, value) -> T { Or(value) }
    /// Exclusive-ors `value` into `dest` on `pe` and returns the old value.
    fetch_xor<Integer>(dest: *mut T, value) -> T { Xor(value) }
}

/// Defines the forms without a result.
macro_rules! without_result {
    ($($(#[$doc:meta])* $name:ident($($arg:ident)?) { $op:expr })*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Concurrent accesses to the object on `pe` are atomic and of this type.
        #[inline(always)]
        pub unsafe fn $name<T: Integer, C: Numbering>(
            routine: Routine,
            ctx: C,
            dest: *mut T,
            $($arg: T,)?
            pe: PeArg,
        ) {
            // SAFETY: the caller's promise, passed on.
            unsafe { apply(routine, ctx, dest, Silent($op), pe) };
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

/// [`add`] to a signal.
///
/// # Safety
/// As for [`add`].
#[inline(always)]
pub(crate) unsafe fn signal_add<C: Numbering>(
    routine: Routine,
    ctx: C,
    sig_addr: *mut u64,
    signal: u64,
    pe: PeArg,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe { apply(routine, ctx, sig_addr, Signal(Silent(Add(signal))), pe) };
}

/// [`set`] of a signal.
///
/// # Safety
/// As for [`set`].
#[inline(always)]
pub(crate) unsafe fn signal_set<C: Numbering>(
    routine: Routine,
    ctx: C,
    sig_addr: *mut u64,
    signal: u64,
    pe: PeArg,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe { apply(routine, ctx, sig_addr, Signal(Set(signal)), pe) }
}

#[cfg(test)]
mod tests;
