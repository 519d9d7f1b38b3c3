//! Point-to-point synchronisation (specification, section 9.11): waits for, or tests, values that
//! other PEs write to this PE's symmetric memory.
//!
//! Polling uses acquire loads of exactly the type's width, so that everything the writer ordered
//! before its update is visible when the call returns. A wait tests once before it prepares to
//! wait. A failed test counts towards yielding the CPU, so that a program's own
//! `while (!shmem_test(...))` loop does not starve the PE it waits for.

mod arrays;
pub(crate) mod backoff;
mod compare;
mod elements;
mod variable;

pub use crate::operand::word::Waitable;
pub use arrays::{test_all, test_any, test_some, wait_until_all, wait_until_any, wait_until_some};
pub use compare::{CMP_EQ, CMP_GE, CMP_GT, CMP_LE, CMP_LT, CMP_NE};
pub use elements::{Ivars, Values};
pub(crate) use variable::until;
pub use variable::{test, wait_until};

use compare::Comparison;

#[cfg(test)]
mod tests;
