//! The atomic operations: one type per operation, so that the hot path and the cold path are each
//! written only once.
#![allow(unsafe_code)]

use super::Word;
use crate::argument::memory::Dest;
use crate::slow::Access;
use onenode_core::arch::ReadModifyWrite;
use oneshmem_job::remote::{Action, Amo, Engine, Far};
use oneshmem_job::stats::Class;
use std::marker::PhantomData;

/// One atomic operation with its operands.
pub(super) trait Operation: Copy {
    /// The type it operates on.
    type Word: Word;
    /// The type of its result.
    type Output;
    /// Its class, and the specification's name for the argument it operates on.
    const ACCESS: &'static Access = &Access(Class::Atomic, "dest");
    /// Performs it.
    fn perform(self, cell: &<Self::Word as Word>::Atomic) -> Self::Output;
    /// Lets an engine perform it.
    fn send(self, engine: &dyn Engine, at: Far) -> Self::Output;
}

/// An operation on a word, and the use of its old value.
pub(super) trait Fetching: Copy {
    /// The type it operates on.
    type Word: Word;
    /// As that of an [`Operation`].
    const ACCESS: &'static Access = &Access(Class::Atomic, "dest");
    /// Performs it; returns the old value.
    fn perform(self, cell: &<Self::Word as Word>::Atomic) -> Self::Word;
    /// The operation for an engine.
    fn amo(self) -> Amo;
}

/// An operation that returns the word's old value.
#[derive(Clone, Copy)]
pub(super) struct Returned<O>(pub O);

impl<O: Fetching> Operation for Returned<O> {
    type Word = O::Word;
    type Output = O::Word;
    const ACCESS: &'static Access = O::ACCESS;
    #[inline(always)]
    fn perform(self, cell: &<O::Word as Word>::Atomic) -> O::Word {
        self.0.perform(cell)
    }
    fn send(self, engine: &dyn Engine, at: Far) -> O::Word {
        O::Word::from_word(engine.fetch(at, self.0.amo()))
    }
}

fn amo<T: Word>(action: Action, operand: u64) -> Amo {
    Amo { action, operand, bytes: size_of::<T>() }
}

/// Reads.
#[derive(Clone, Copy)]
pub(super) struct Fetch<T>(PhantomData<T>);

impl<T> Fetch<T> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Word> Fetching for Fetch<T> {
    type Word = T;
    const ACCESS: &'static Access = &Access(Class::Atomic, "source");
    #[inline(always)]
    fn perform(self, cell: &T::Atomic) -> T {
        T::load(cell)
    }
    fn amo(self) -> Amo {
        amo::<T>(Action::Add, 0)
    }
}

/// Writes.
#[derive(Clone, Copy)]
pub(super) struct Set<T>(pub T);

impl<T: Word> Operation for Set<T> {
    type Word = T;
    type Output = ();
    #[inline(always)]
    fn perform(self, cell: &T::Atomic) {
        self.0.store(cell);
    }
    fn send(self, engine: &dyn Engine, at: Far) {
        engine.update(at, amo::<T>(Action::Swap, self.0.to_word()));
    }
}

/// Writes `value` if the word equals `cond`; returns the old value.
#[derive(Clone, Copy)]
pub(super) struct CompareSwap<T> {
    pub cond: T,
    pub value: T,
}

impl<T: Word> Fetching for CompareSwap<T> {
    type Word = T;
    #[inline(always)]
    fn perform(self, cell: &T::Atomic) -> T {
        T::from_bits(cell.compare_swap(self.cond.to_bits(), self.value.to_bits()))
    }
    fn amo(self) -> Amo {
        amo::<T>(Action::CompareSwap(self.cond.to_word()), self.value.to_word())
    }
}

macro_rules! updates {
    ($($(#[$doc:meta])* $name:ident: $method:ident, $action:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name<T>(pub T);

        impl<T: Word> Fetching for $name<T> {
            type Word = T;
            #[inline(always)]
            fn perform(self, cell: &T::Atomic) -> T {
                T::from_bits(cell.$method(self.0.to_bits()))
            }
            fn amo(self) -> Amo {
                amo::<T>(Action::$action, self.0.to_word())
            }
        }
    )*};
}

/// An operation whose result is written to memory, at the latest when the next quiet returns.
#[derive(Clone, Copy)]
pub(super) struct Deferred<'m, O: Fetching> {
    pub op: O,
    /// One element.
    pub result: Dest<'m, O::Word>,
}

impl<O: Fetching> Operation for Deferred<'_, O> {
    type Word = O::Word;
    type Output = ();
    const ACCESS: &'static Access = O::ACCESS;
    #[inline(always)]
    fn perform(self, cell: &<O::Word as Word>::Atomic) {
        let old = self.op.perform(cell);
        // SAFETY: whoever made the `Dest` guarantees that its element may be written until the operation
        // is complete.
        unsafe { self.result.at().write(old) };
    }
    fn send(self, engine: &dyn Engine, at: Far) {
        // SAFETY: whoever made the `Dest` guarantees that its element, which has as many bytes as the operation's
        // word, may be written until the operation is complete.
        unsafe { engine.fetch_nbi(at, self.op.amo(), self.result.at().cast()) };
    }
}

/// An operation whose result is not used: the compiler picks the shorter instruction, and an engine
/// need not wait for it.
#[derive(Clone, Copy)]
pub(super) struct Silent<O>(pub O);

impl<O: Fetching> Operation for Silent<O> {
    type Word = O::Word;
    type Output = ();
    const ACCESS: &'static Access = O::ACCESS;
    #[inline(always)]
    fn perform(self, cell: &<O::Word as Word>::Atomic) {
        self.0.perform(cell);
    }
    fn send(self, engine: &dyn Engine, at: Far) {
        engine.update(at, self.0.amo());
    }
}

/// An operation on a signal: only the argument's name differs.
#[derive(Clone, Copy)]
pub(super) struct Signal<O>(pub O);

impl<O: Operation> Operation for Signal<O> {
    type Word = O::Word;
    type Output = O::Output;
    const ACCESS: &'static Access = &Access(Class::Signal, "sig_addr");
    #[inline(always)]
    fn perform(self, cell: &<O::Word as Word>::Atomic) -> O::Output {
        self.0.perform(cell)
    }
    fn send(self, engine: &dyn Engine, at: Far) -> O::Output {
        self.0.send(engine, at)
    }
}

updates! {
    /// Exchanges; returns the old value, as do all that follow.
    Swap: swap, Swap;
    /// Adds, wrapping.
    Add: add, Add;
    /// Bitwise and.
    And: and, And;
    /// Bitwise or.
    Or: or, Or;
    /// Bitwise exclusive or.
    Xor: xor, Xor;
}
