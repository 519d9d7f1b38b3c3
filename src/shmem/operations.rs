//! Communication on a context: puts, gets, atomics, signals, waits and locks.
#![allow(unsafe_code)]

use super::memory::{Part, same_len};
use crate::amo::{self, Integer, Word};
use crate::collectives::Element;
use crate::translate::{Numbering, PeArg};
use crate::wait::{self, Waitable};
use crate::{lock, order, rma, signal};
use std::marker::PhantomData;

/// A stream of communication that is ordered and completed by itself
/// (specification, section 9.5). [`Shmem`](super::Shmem) is the default one.
#[derive(Debug)]
pub struct Context<'a, C: Numbering> {
    ctx: C,
    owner: PhantomData<&'a ()>,
}

/// How a value is compared with another (specification, section 9.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Comparison {
    /// Equal.
    Eq = wait::CMP_EQ,
    /// Not equal.
    Ne = wait::CMP_NE,
    /// Greater.
    Gt = wait::CMP_GT,
    /// Greater or equal.
    Ge = wait::CMP_GE,
    /// Less.
    Lt = wait::CMP_LT,
    /// Less or equal.
    Le = wait::CMP_LE,
}

/// What a signal does to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Sets it to this value.
    Set(u64),
    /// Adds this value to it.
    Add(u64),
}

/// A PE number as the core takes it; one that no C `int` holds is no PE.
fn register(pe: usize) -> PeArg {
    i32::try_from(pe).map_or(u32::MAX as usize, |pe| pe as usize)
}

macro_rules! fetching {
    ($($(#[$doc:meta])* $name:ident ( $($argument:ident),* );)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name<T: Element + Integer>(
            &self, dest: Part<'_, T> $(, $argument: T)*, pe: usize,
        ) -> T {
            // SAFETY: a live, aligned element of a symmetric array, accessed atomically.
            unsafe { amo::$name(&stringify!($name), self.ctx, one(dest) $(, $argument)*, register(pe)) }
        }
    )*};
}

macro_rules! updating {
    ($($(#[$doc:meta])* $name:ident as $call:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name<T: Element + Integer>(&self, dest: Part<'_, T>, value: T, pe: usize) {
            // SAFETY: as for the fetching ones.
            unsafe { amo::$call(&stringify!($name), self.ctx, one(dest), value, register(pe)) }
        }
    )*};
}

/// The address of the first element; panics if there is none.
fn one<T: Element>(part: Part<'_, T>) -> *mut T {
    assert!(!part.is_empty(), "the symmetric argument has no elements");
    part.pointer()
}

impl<C: Numbering> Context<'_, C> {
    pub(super) fn new(ctx: C) -> Self {
        Self { ctx, owner: PhantomData }
    }

    pub(super) fn numbering(&self) -> C {
        self.ctx
    }

    /// Copies `source` to `dest` on PE `pe`. Panics unless they are equally long.
    #[inline]
    pub fn put<T: Element>(&self, dest: Part<'_, T>, source: &[T], pe: usize) {
        same_len(dest.len(), source.len());
        // SAFETY: both are as long as said; nobody has references to symmetric
        // memory, so the source is not part of it.
        unsafe {
            rma::put(&"put", self.ctx, dest.pointer(), source.as_ptr(), source.len(), register(pe));
        }
    }

    /// Copies PE `pe`'s `source` to `dest`. Panics unless they are equally long.
    #[inline]
    pub fn get<T: Element>(&self, dest: &mut [T], source: Part<'_, T>, pe: usize) {
        same_len(source.len(), dest.len());
        // SAFETY: as for `put`; any bits are a `T`.
        unsafe {
            rma::get(
                &"get",
                self.ctx,
                dest.as_mut_ptr(),
                source.pointer(),
                dest.len(),
                register(pe),
            );
        }
    }

    /// Stores one element on PE `pe`.
    #[inline]
    pub fn p<T: Element>(&self, dest: Part<'_, T>, value: T, pe: usize) {
        // SAFETY: one live element of a symmetric array.
        unsafe { rma::p(&"p", self.ctx, one(dest), value, register(pe)) }
    }

    /// Loads one element from PE `pe`.
    #[inline]
    pub fn g<T: Element>(&self, source: Part<'_, T>, pe: usize) -> T {
        // SAFETY: as for `p`; any bits are a `T`.
        unsafe { rma::g(&"g", self.ctx, one(source), register(pe)) }
    }

    /// Copies `source` to `dest` on PE `pe`, then signals there: who sees the signal
    /// sees the data.
    #[inline]
    pub fn put_signal<T: Element>(
        &self,
        dest: Part<'_, T>,
        source: &[T],
        object: Part<'_, u64>,
        what: Signal,
        pe: usize,
    ) {
        same_len(dest.len(), source.len());
        dest.assert_disjoint(object);
        let (value, operator) = match what {
            Signal::Set(value) => (value, signal::SIGNAL_SET),
            Signal::Add(value) => (value, signal::SIGNAL_ADD),
        };
        // SAFETY: as for `put`; the signal is one live element.
        unsafe {
            signal::put_signal(
                &"put_signal",
                self.ctx,
                dest.pointer(),
                source.as_ptr(),
                source.len(),
                one(object),
                value,
                operator,
                register(pe),
            );
        }
    }

    /// Waits until this PE's element satisfies the comparison, by an atomic or a
    /// signal of any PE.
    pub fn wait_until<T: Element + Waitable>(&self, ivar: Part<'_, T>, cmp: Comparison, value: T) {
        // SAFETY: a live, aligned element of a symmetric array.
        unsafe { wait::wait_until(&"wait_until", one(ivar), cmp as i32, value) }
    }

    /// Waits as [`wait_until`](Self::wait_until) and returns the signal's value.
    pub fn signal_wait_until(&self, object: Part<'_, u64>, cmp: Comparison, value: u64) -> u64 {
        // SAFETY: as for `wait_until`.
        unsafe { signal::wait_until(&"signal_wait_until", one(object), cmp as i32, value) }
    }

    /// Whether this PE's element satisfies the comparison now.
    pub fn test<T: Element + Waitable>(
        &self,
        ivar: Part<'_, T>,
        cmp: Comparison,
        value: T,
    ) -> bool {
        // SAFETY: as for `wait_until`.
        unsafe { wait::test(&"test", one(ivar), cmp as i32, value) != 0 }
    }

    /// Atomically loads PE `pe`'s element.
    #[inline]
    pub fn atomic_fetch<T: Element + Word>(&self, source: Part<'_, T>, pe: usize) -> T {
        // SAFETY: a live, aligned element of a symmetric array, accessed atomically.
        unsafe { amo::fetch(&"atomic_fetch", self.ctx, one(source), register(pe)) }
    }

    /// Atomically stores PE `pe`'s element.
    #[inline]
    pub fn atomic_set<T: Element + Word>(&self, dest: Part<'_, T>, value: T, pe: usize) {
        // SAFETY: as for `atomic_fetch`.
        unsafe { amo::set(&"atomic_set", self.ctx, one(dest), value, register(pe)) }
    }

    /// Atomically stores PE `pe`'s element and returns what it was.
    #[inline]
    pub fn swap<T: Element + Word>(&self, dest: Part<'_, T>, value: T, pe: usize) -> T {
        // SAFETY: as for `atomic_fetch`.
        unsafe { amo::swap(&"swap", self.ctx, one(dest), value, register(pe)) }
    }

    fetching! {
        /// Atomically stores `value` if the element is `cond`; returns what it was.
        compare_swap(cond, value);
        /// Atomically adds; returns what the element was. Integers wrap around.
        fetch_add(value);
        /// Atomically adds 1; returns what the element was.
        fetch_inc();
        /// Atomic bitwise and; returns what the element was.
        fetch_and(value);
        /// Atomic bitwise or; returns what the element was.
        fetch_or(value);
        /// Atomic bitwise exclusive or; returns what the element was.
        fetch_xor(value);
    }

    updating! {
        /// Atomically adds. Integers wrap around.
        atomic_add as add;
        /// Atomic bitwise and.
        atomic_and as and;
        /// Atomic bitwise or.
        atomic_or as or;
        /// Atomic bitwise exclusive or.
        atomic_xor as xor;
    }

    /// Acquires the lock that `lock`, zero at first, is; first come, first served.
    pub fn set_lock(&self, lock: Part<'_, i64>) {
        // SAFETY: a live element of a symmetric array.
        unsafe { lock::set(&"set_lock", one(lock)) }
    }

    /// Acquires the lock if it is free, without waiting. True if it was.
    pub fn test_lock(&self, lock: Part<'_, i64>) -> bool {
        // SAFETY: as for `set_lock`.
        unsafe { lock::test(&"test_lock", one(lock)) == 0 }
    }

    /// Releases the lock, after what was put before is complete.
    pub fn clear_lock(&self, lock: Part<'_, i64>) {
        // SAFETY: as for `set_lock`.
        unsafe { lock::clear(&"clear_lock", one(lock)) }
    }

    /// Orders communication on this context.
    pub fn ctx_fence(&self) {
        order::ctx_fence(&"ctx_fence", self.ctx);
    }

    /// Completes communication on this context.
    pub fn ctx_quiet(&self) {
        order::ctx_quiet(&"ctx_quiet", self.ctx);
    }
}
