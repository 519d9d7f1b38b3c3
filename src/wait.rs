//! Point-to-point synchronisation (specification, section 9.9): wait for, or
//! test, what other PEs write into this PE's symmetric memory.
//!
//! Polling is an acquire load of exactly the type's width, so that what the writer
//! ordered before its update is visible when the call returns. A wait looks once
//! before it prepares to wait; a failed test counts towards giving the CPU away, so
//! that a program's own `while (!shmem_test(...))` does not keep from running the
//! PE it waits for.

mod all;
mod any;
mod arrays;
mod compare;
mod elements;
pub(crate) mod polite;
mod some;
mod variable;
mod word;

pub use arrays::{test_all, test_any, test_some, wait_until_all, wait_until_any, wait_until_some};
pub use compare::{CMP_EQ, CMP_GE, CMP_GT, CMP_LE, CMP_LT, CMP_NE};
pub use elements::{Each, Same, Values};
pub(crate) use variable::until;
pub use variable::{test, wait_until};
pub use word::Waitable;

use compare::Comparison;

#[cfg(test)]
mod tests;
