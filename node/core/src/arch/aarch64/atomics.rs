//! Read-modify-writes: one instruction of the extension LSE where the processor has it, else a loop of
//! exclusive accesses. The compiler's own choice at run time is not relied on: in some versions it never
//! finds the extension, in others an initialiser of the library would have to look for it.
#![allow(unsafe_code)]

use crate::arch::ReadModifyWrite;
use crate::atomics::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::arch::{asm, is_aarch64_feature_detected};

/// Whether the processor has LSE. Both ways are atomic to each other, so threads need not agree.
static LSE: AtomicBool = AtomicBool::new(false);

/// Looks for instructions that only some processors have.
pub fn prepare() {
    LSE.store(is_aarch64_feature_detected!("lse"), Ordering::Relaxed);
}

/// One operation: the instruction of LSE, then what a loop does between loading and storing.
macro_rules! one {
    ($atomic:expr, $value:expr, $bits:ty, $w:tt, $instruction:literal, $($step:tt),*) => {{
        let value: $bits = $value;
        let old: $bits;
        // SAFETY: an atomic that this borrows, and instructions that the processor has.
        unsafe {
            if LSE.load(Ordering::Relaxed) {
                asm!(
                    ".arch_extension lse",
                    concat!($instruction, " {value:", $w, "}, {old:", $w, "}, [{at}]"),
                    value = in(reg) value, old = lateout(reg) old, at = in(reg) $atomic.as_ptr(),
                    options(nostack, preserves_flags),
                );
            } else {
                asm!(
                    "2:",
                    concat!("ldaxr {old:", $w, "}, [{at}]"),
                    concat!($($step),*),
                    concat!("stlxr {lost:w}, {new:", $w, "}, [{at}]"),
                    "cbnz {lost:w}, 2b",
                    old = out(reg) old, new = out(reg) _, lost = out(reg) _,
                    value = in(reg) value, at = in(reg) $atomic.as_ptr(),
                    options(nostack, preserves_flags),
                );
            }
        }
        old
    }};
}
/// Implements the operations for these atomics. `$w` is the modifier of their registers.
macro_rules! read_modify_write {
    ($($atomic:ty: $bits:ty, $w:tt;)*) => {$(
        impl ReadModifyWrite<$bits> for $atomic {
            #[inline(always)]
            fn swap(&self, value: $bits) -> $bits {
                one!(self, value, $bits, $w, "swpal", "mov {new:", $w, "}, {value:", $w, "}")
            }
            #[inline(always)]
            fn compare_swap(&self, cond: $bits, value: $bits) -> $bits {
                let old: $bits;
                // SAFETY: an atomic that this borrows, and instructions that the processor has.
                unsafe {
                    if LSE.load(Ordering::Relaxed) {
                        asm!(
                            ".arch_extension lse",
                            concat!("casal {old:", $w, "}, {value:", $w, "}, [{at}]"),
                            old = inout(reg) cond => old, value = in(reg) value,
                            at = in(reg) self.as_ptr(),
                            options(nostack, preserves_flags),
                        );
                    } else {
                        asm!(
                            "2:",
                            concat!("ldaxr {old:", $w, "}, [{at}]"),
                            concat!("cmp {old:", $w, "}, {cond:", $w, "}"),
                            "b.ne 3f",
                            concat!("stlxr {lost:w}, {value:", $w, "}, [{at}]"),
                            "cbnz {lost:w}, 2b",
                            "3:",
                            old = out(reg) old, lost = out(reg) _, cond = in(reg) cond,
                            value = in(reg) value, at = in(reg) self.as_ptr(),
                            options(nostack),
                        );
                    }
                }
                old
            }
            #[inline(always)]
            fn add(&self, value: $bits) -> $bits {
                one!(self, value, $bits, $w, "ldaddal", "add {new:", $w, "}, {old:", $w, "}, {value:", $w, "}")
            }
            #[inline(always)]
            fn and(&self, value: $bits) -> $bits {
                // The instruction clears the bits that it is given.
                one!(self, !value, $bits, $w, "ldclral", "bic {new:", $w, "}, {old:", $w, "}, {value:", $w, "}")
            }
            #[inline(always)]
            fn or(&self, value: $bits) -> $bits {
                one!(self, value, $bits, $w, "ldsetal", "orr {new:", $w, "}, {old:", $w, "}, {value:", $w, "}")
            }
            #[inline(always)]
            fn xor(&self, value: $bits) -> $bits {
                one!(self, value, $bits, $w, "ldeoral", "eor {new:", $w, "}, {old:", $w, "}, {value:", $w, "}")
            }
        }
    )*};
}

read_modify_write! {
    AtomicU32: u32, "w";
    AtomicU64: u64, "x";
}
