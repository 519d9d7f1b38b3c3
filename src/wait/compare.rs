//! The six comparisons.
//!
//! A constant is the set of orderings that satisfy it: bit 0 for less, bit 1 for equal, bit 2 for
//! greater. So a comparison tests one bit. The empty and the full set are not comparisons, and have
//! no constant.

use crate::failure;
use oneshmem_job::error::Routine;
use std::cmp::Ordering;
use std::ffi::c_int;

const LESS: c_int = 1;
const EQUAL: c_int = 2;
const GREATER: c_int = 4;

/// `SHMEM_CMP_LT`.
pub const CMP_LT: c_int = LESS;
/// `SHMEM_CMP_EQ`.
pub const CMP_EQ: c_int = EQUAL;
/// `SHMEM_CMP_LE`.
pub const CMP_LE: c_int = LESS | EQUAL;
/// `SHMEM_CMP_GT`.
pub const CMP_GT: c_int = GREATER;
/// `SHMEM_CMP_NE`.
pub const CMP_NE: c_int = LESS | GREATER;
/// `SHMEM_CMP_GE`.
pub const CMP_GE: c_int = GREATER | EQUAL;

/// A comparison constant, checked.
#[derive(Clone, Copy)]
pub(super) struct Comparison(c_int);

impl Comparison {
    /// Checks the argument `cmp`.
    #[inline]
    pub(super) fn new(routine: Routine, cmp: c_int) -> Self {
        if !(CMP_LT..=CMP_GE).contains(&cmp) {
            invalid(routine, cmp);
        }
        Self(cmp)
    }

    /// Whether the comparison holds between `seen` and `value`.
    #[inline(always)]
    pub(super) fn holds<T: Ord>(self, seen: T, value: T) -> bool {
        let ordering = match seen.cmp(&value) {
            Ordering::Less => LESS,
            Ordering::Equal => EQUAL,
            Ordering::Greater => GREATER,
        };
        self.0 & ordering != 0
    }
}

#[cold]
#[inline(never)]
fn invalid(routine: Routine, cmp: c_int) -> ! {
    failure::misuse(
        routine,
        format_args!("cmp = {cmp}"),
        format_args!(
            "expected SHMEM_CMP_EQ ({CMP_EQ}), SHMEM_CMP_NE ({CMP_NE}), SHMEM_CMP_GT ({CMP_GT}), \
             SHMEM_CMP_GE ({CMP_GE}), SHMEM_CMP_LT ({CMP_LT}) or SHMEM_CMP_LE ({CMP_LE})"
        ),
    )
}
