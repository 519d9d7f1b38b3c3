//! Element types that C has and Rust lacks. Rust only moves them; `ckernels.c` does their
//! arithmetic.
#![allow(unsafe_code)]

use oneshmem::internals::collectives::reduce::{Element, Max, Min, Prod, ReduceOp, Sum};
use oneshmem::internals::span::Span;

/// A `long double`: an x87 number in 16 bytes on x86-64, a quadruple-precision number on AArch64.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct LongDouble([u64; 2]);

/// A `float _Complex`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ComplexF([f32; 2]);

/// A `double _Complex`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ComplexD([f64; 2]);

/// The size of `nelems` elements in memory.
#[inline(always)]
pub fn part<T>(nelems: usize) -> Span {
    Span::elements("nelems", nelems, size_of::<T>())
}

/// Implements reduction operations on a type by C functions.
macro_rules! combined_in_c {
    ($($op:ident of $t:ty: $kernel:ident;)*) => {
        unsafe extern "C" {
            $(fn $kernel(acc: *mut $t, a: *const $t, x: *const $t, n: usize);)*
        }
        $(impl ReduceOp<$t> for $op {
            fn combine(a: $t, x: $t) -> $t {
                let mut acc = a;
                // SAFETY: each pointer leads to one element.
                unsafe { $kernel(&mut acc, &a, &x, 1) };
                acc
            }
            unsafe fn combine_all(acc: *mut $t, a: *const $t, x: *const $t, n: usize) {
                // SAFETY: the kernel reads `n` elements of `a` and `x` and writes `n` elements of
                // `acc`. The caller guarantees that these exist. They have the alignment of the
                // type, as in any C code.
                unsafe { $kernel(acc, a, x, n) }
            }
        })*
    };
}

combined_in_c! {
    Max of LongDouble: oneshmem_longdouble_max;
    Min of LongDouble: oneshmem_longdouble_min;
    Sum of LongDouble: oneshmem_longdouble_sum;
    Prod of LongDouble: oneshmem_longdouble_prod;
    Sum of ComplexF: oneshmem_complexf_sum;
    Prod of ComplexF: oneshmem_complexf_prod;
    Sum of ComplexD: oneshmem_complexd_sum;
    Prod of ComplexD: oneshmem_complexd_prod;
}

// SAFETY: 16 bytes, of which any are a value to C, which alone interprets them; zero bits are zero.
unsafe impl Element for LongDouble {}
// SAFETY: two floats; any bits are a number, and zero bits are zero.
unsafe impl Element for ComplexF {}
// SAFETY: two doubles; any bits are a number, and zero bits are zero.
unsafe impl Element for ComplexD {}
