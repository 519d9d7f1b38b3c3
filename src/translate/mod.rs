//! The data path's one computation: translates a symmetric address of this PE and a PE number to
//! the address where that PE's copy is mapped here.
//!
//! There are two methods, one of which is compiled in: `table.rs` adds a base from a table with an
//! entry for each PE, so mirrors may lie anywhere; with the feature `smartmap` the address itself
//! encodes the PE, and there is no table.
//!
//! In both, `pe` arrives as the whole argument register ([`PeArg`]). One unsigned comparison
//! rejects negative numbers, numbers that are too large, and the rare caller that left garbage in
//! the upper half, which the slow path then clears.
//!
//! Programs compiled with `-DSHMEM_INLINE` need fewer instructions: see `inline_table.rs`.
//!
//! All other cases go to the caller's `cold` continuation, which ends in [`crate::slow::resolve`]:
//! address not symmetric, PE out of range, library not initialised, or peer not attached yet. The
//! two continuations are passed in instead of a `Result` being returned, because that keeps the
//! branches apart: one jump each, and the access.

#[cfg(feature = "smartmap")]
#[path = "shift.rs"]
mod mechanism;
#[cfg(not(feature = "smartmap"))]
#[path = "table.rs"]
mod mechanism;

mod inline_table;
pub(crate) mod numberings;
mod settled;

pub use inline_table::{INLINE_TABLE, InlineTable};
pub(crate) use mechanism::{ALL_OR_NONE, TABLE, pointer, translate, translate_copy};

/// The parts of a PE's slot that have a mirror here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirrored {
    /// All of it.
    All,
    /// Heap and partitions: the PE runs another executable, whose static data are others.
    HeapOnly,
}

/// A PE number as the argument register holds it: a C `int` in the low half, the
/// upper half unspecified by the ABI. Convert with [`pe_number`].
pub type PeArg = usize;

/// How many arguments can be such registers.
pub use onenode_core::arch::ARGUMENT_REGISTERS;

/// The PE number in an argument register.
#[inline(always)]
pub const fn pe_number(pe: PeArg) -> i32 {
    pe as u32 as i32
}

/// The offset of an address that the hot path could not translate; the table's `address` recovers the
/// address.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Miss(usize);

impl Miss {
    /// As a number, to be passed where an address would be.
    #[inline(always)]
    pub(crate) const fn to_bits(self) -> usize {
        self.0
    }

    /// The inverse of [`to_bits`](Self::to_bits).
    #[inline(always)]
    pub(crate) const fn from_bits(bits: usize) -> Self {
        Self(bits)
    }
}

/// Marks the code that leads to it as unlikely: `std::hint::cold_path`, which only newer compilers
/// have. Optimisation removes the call itself.
#[cold]
#[inline(never)]
pub(crate) const fn cold_path() {}

/// How a context numbers PEs. The default context is the numbering of the world, at no cost; a
/// context of a team maps `pe` to `start + pe * stride`. No other crate numbers PEs: the table is read at
/// these numbers without a further look.
pub trait Numbering: Copy + sealed::Sealed {
    /// Continues with the world PE number, or with `out` if the team has no such PE. The world
    /// itself accepts every number that [`translate`] can look up, because [`translate`] rejects
    /// wrong ones.
    fn world<R>(self, pe: PeArg, ok: impl FnOnce(usize) -> R, out: impl FnOnce() -> R) -> R;
    /// The context's handle, for messages and the slow path.
    fn handle(self) -> usize;
}

/// `SHMEM_CTX_DEFAULT`.
pub const CTX_DEFAULT: usize = numberings::handle(1);

/// The default context: world numbering, known at compile time.
#[derive(Clone, Copy, Debug)]
pub struct Default;

/// Keeps public traits of this crate for its own types.
pub(crate) mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Default {}
}

impl Numbering for Default {
    #[inline(always)]
    fn world<R>(self, pe: PeArg, ok: impl FnOnce(usize) -> R, out: impl FnOnce() -> R) -> R {
        if TABLE.knows(pe) { ok(pe) } else { out() }
    }
    #[inline(always)]
    fn handle(self) -> usize {
        CTX_DEFAULT
    }
}

/// The action on a miss: a closure, or a type of its own where the compiler must be told to inline
/// it. A continuation that is called, not jumped to, costs the hot path a stack frame.
pub trait Cold<R> {
    /// Carries out the operation by another method, or ends the job.
    fn miss(&self, miss: Miss) -> R;
}

impl<R, F: Fn(Miss) -> R> Cold<R> for F {
    #[inline(always)]
    fn miss(&self, miss: Miss) -> R {
        self(miss)
    }
}
