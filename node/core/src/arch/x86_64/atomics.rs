//! Read-modify-writes: one locked instruction each, which the compiler has.

use crate::arch::ReadModifyWrite;
use crate::atomics::{AtomicU32, AtomicU64, Ordering};

/// Looks for nothing: every processor has the instructions.
pub fn prepare() {}

/// Implements the operations for these atomics.
macro_rules! read_modify_write {
    ($($atomic:ty: $bits:ty;)*) => {$(
        impl ReadModifyWrite<$bits> for $atomic {
            #[inline(always)]
            fn swap(&self, value: $bits) -> $bits {
                <$atomic>::swap(self, value, Ordering::AcqRel)
            }
            #[inline(always)]
            fn compare_swap(&self, cond: $bits, value: $bits) -> $bits {
                let (Ok(old) | Err(old)) =
                    self.compare_exchange(cond, value, Ordering::AcqRel, Ordering::Acquire);
                old
            }
            #[inline(always)]
            fn add(&self, value: $bits) -> $bits {
                self.fetch_add(value, Ordering::AcqRel)
            }
            #[inline(always)]
            fn and(&self, value: $bits) -> $bits {
                self.fetch_and(value, Ordering::AcqRel)
            }
            #[inline(always)]
            fn or(&self, value: $bits) -> $bits {
                self.fetch_or(value, Ordering::AcqRel)
            }
            #[inline(always)]
            fn xor(&self, value: $bits) -> $bits {
                self.fetch_xor(value, Ordering::AcqRel)
            }
        }
    )*};
}

read_modify_write! {
    AtomicU32: u32;
    AtomicU64: u64;
}
