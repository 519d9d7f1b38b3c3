//! Element types that C has and Rust has not. Rust only moves them; their
//! arithmetic is C's, in `ckernels.c`.
#![allow(unsafe_code)]

use oneshmem::collectives::reduce::{Element, Max, Min, Prod, ReduceOp, Sum};
use oneshmem::span::Span;

/// A `long double`: an x87 number in 16 bytes on x86-64, a quadruple on AArch64.
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

/// The memory of `nelems` elements.
#[inline(always)]
pub fn part<T>(nelems: usize) -> Span {
    Span::elements("nelems", nelems, size_of::<T>())
}

/// Makes a C function the operation on a type.
macro_rules! combined_in_c {
    ($($op:ident of $t:ty: $kernel:ident;)*) => {
        unsafe extern "C" {
            $(fn $kernel(acc: *mut $t, a: *const $t, x: *const $t, n: usize);)*
        }
        $(impl ReduceOp<$t> for $op {
            fn combine(a: $t, x: $t) -> $t {
                let mut acc = a;
                // SAFETY: one element each.
                unsafe { $kernel(&mut acc, &a, &x, 1) };
                acc
            }
            unsafe fn combine_all(acc: *mut $t, a: *const $t, x: *const $t, n: usize) {
                // SAFETY: the caller's promise. The alignment is that of the type, as in any C.
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

// SAFETY: for the three: plain numbers of 16 bytes or less in which any bits are a
// value (to C, which alone looks at it) and zero bits are zero.
unsafe impl Element for LongDouble {}
// SAFETY: see above.
unsafe impl Element for ComplexF {}
// SAFETY: see above.
unsafe impl Element for ComplexD {}
