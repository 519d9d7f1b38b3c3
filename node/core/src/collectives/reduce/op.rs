//! Reduction operations and their element types.

#![allow(unsafe_code)]

use crate::collectives::range::{Readable, Writable};
use std::num::Wrapping;

/// A type whose arrays may be in shared memory: a number type, an array of elements, or a struct of
/// elements.
///
/// # Safety
/// * Any bits are a value of the type, because other processes may write at any time. So it is not
///   `bool`, `char`, an enum or a reference, and contains none of these.
/// * All of its bytes have a value: it has no padding, because it is copied as bytes.
/// * All bits zero is its zero: new memory and empty sums are zero bits.
/// * It has at least one byte, and an alignment of at most 16 bytes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be in symmetric memory",
    label = "any bits must be a value of this type",
    note = "elements are integers, floating-point numbers, arrays of them, and structs of them with \
            `#[derive(oneshmem::Element)]`"
)]
pub unsafe trait Element: Copy + Send + 'static {}

/// An associative operation on `T`. Implement it for your own type to reduce with your own
/// operation, or for [`Sum`], [`Prod`] and so on to reduce your own elements. Reduced elements have
/// at most 64 bytes, which the compiler checks.
///
/// ```
/// # use onenode_core::collectives::reduce::ReduceOp;
/// /// The longer of two vectors; the first one if they are equally long.
/// struct Longest;
///
/// impl ReduceOp<[f64; 3]> for Longest {
///     fn combine(a: [f64; 3], x: [f64; 3]) -> [f64; 3] {
///         let square = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>();
///         if square(x) > square(a) { x } else { a }
///     }
/// }
/// assert_eq!(Longest::combine([1.0, 0.0, 0.0], [0.0, 2.0, 0.0]), [0.0, 2.0, 0.0]);
/// ```
pub trait ReduceOp<T: Element> {
    /// `a op x`.
    fn combine(a: T, x: T) -> T;

    /// `acc[i] = a[i] op x[i]` for `n` elements. Reads each element of shared memory once, in
    /// place. If others write there meanwhile, against the rules, the results are wrong, but
    /// nothing else happens.
    ///
    /// # Safety
    /// `a` and `x` are readable and `acc` is writable for `n` elements, at any alignment. `acc` may
    /// be `a` or `x`; otherwise it overlaps neither.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn combine_all(acc: *mut T, a: *const T, x: *const T, n: usize) {
        let whole = n - n % TOGETHER;
        // SAFETY: the caller guarantees that `n` elements are readable and writable. Those combined together
        // are among the first `whole` ones, a multiple, and the others are among the `n`, too.
        unsafe {
            for i in (0..whole).step_by(TOGETHER) {
                let (a, x) = (a.add(i).cast(), x.add(i).cast());
                combine_together::<T, Self, TOGETHER>(acc.add(i).cast(), a, x);
            }
            for i in whole..n {
                let (a, x) = (a.add(i).cast(), x.add(i).cast());
                combine_together::<T, Self, 1>(acc.add(i).cast(), a, x);
            }
        }
    }
}

/// The number of elements read before the first result is written. Lets the compiler use vectors
/// although `acc` may be `a` or `x`.
const TOGETHER: usize = 16;

/// # Safety
/// As [`ReduceOp::combine_all`].
#[inline(always)]
unsafe fn combine_together<T: Element, O: ReduceOp<T> + ?Sized, const N: usize>(
    acc: *mut [T; N],
    a: *const [T; N],
    x: *const [T; N],
) {
    // SAFETY: the caller guarantees that `N` elements are readable and writable, and any bits are a
    // `T`.
    unsafe {
        let (a, x) = (a.read_unaligned(), x.read_unaligned());
        acc.write_unaligned(std::array::from_fn(|i| O::combine(a[i], x[i])));
    }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])* #[derive(Clone, Copy, Debug)] pub struct $name;)*
    };
}

operations! {
    /// Bitwise and.
    And;
    /// Bitwise or.
    Or;
    /// Bitwise exclusive or.
    Xor;
    /// The larger value. Of floating-point numbers IEEE 754-2019's `maximum`: NaN if one is a NaN, and +0 is
    /// larger than -0.
    Max;
    /// The smaller value. Of floating-point numbers IEEE 754-2019's `minimum`: NaN if one is a NaN, and -0 is
    /// smaller than +0.
    Min;
    /// The sum. Integers wrap around.
    Sum;
    /// The product. Integers wrap around.
    Prod;
}

macro_rules! combine {
    ($op:ident, $($t:ty)*, |$a:ident, $x:ident| $value:expr) => {$(
        impl ReduceOp<$t> for $op {
            #[inline]
            fn combine($a: $t, $x: $t) -> $t {
                $value
            }
        }
    )*};
}

/// IEEE 754-2019's `maximum` and `minimum`: [`NAN`](f64::NAN) if either is one, and -0 < +0. Without branches, so
/// that the compiler uses vectors.
macro_rules! extremum {
    ($op:ident, $($t:ty)*, $beats:tt, $of_bits:tt) => {$(
        combine!($op, $t, |a, x| {
            // Of equals, one is `a` and the other `x`. Their bits differ in a zero's sign at most.
            let (one, other) = (if x $beats a { x } else { a }, if a $beats x { a } else { x });
            let either = <$t>::from_bits(one.to_bits() $of_bits other.to_bits());
            if a.is_nan() || x.is_nan() { <$t>::NAN } else { either }
        });
    )*};
}

macro_rules! elements {
    ($($t:ty)*) => {$(
        // SAFETY: a primitive number: any bits are a value, zero bits are zero.
        unsafe impl Element for $t {}
    )*};
}

// SAFETY: elements only, one after the other without gaps.
unsafe impl<T: Element, const N: usize> Element for [T; N] {}
// SAFETY: an element only, as it is `repr(transparent)`.
unsafe impl<T: Element> Element for Wrapping<T> {}

elements!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);
combine!(And, i8 i16 i32 i64 isize u8 u16 u32 u64 usize, |a, x| a & x);
combine!(Or, i8 i16 i32 i64 isize u8 u16 u32 u64 usize, |a, x| a | x);
combine!(Xor, i8 i16 i32 i64 isize u8 u16 u32 u64 usize, |a, x| a ^ x);
combine!(Max, i8 i16 i32 i64 isize u8 u16 u32 u64 usize, |a, x| a.max(x));
combine!(Min, i8 i16 i32 i64 isize u8 u16 u32 u64 usize, |a, x| a.min(x));
extremum!(Max, f32 f64, >, &);
extremum!(Min, f32 f64, <, |);
combine!(Sum, i8 i16 i32 i64 isize u8 u16 u32 u64 usize, |a, x| a.wrapping_add(x));
combine!(Sum, f32 f64, |a, x| a + x);
combine!(Prod, i8 i16 i32 i64 isize u8 u16 u32 u64 usize, |a, x| a.wrapping_mul(x));
combine!(Prod, f32 f64, |a, x| a * x);

/// An operation on a type, as a value. It lets the algorithms be compiled once instead of for each
/// of the 150 pairs. It is called once per block.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    bytes: usize,
    combine: unsafe fn(*mut u8, *const u8, *const u8, usize),
}

impl Kernel {
    /// The operation `O` on elements `T`.
    pub const fn of<T: Element, O: ReduceOp<T>>() -> Self {
        const { assert!(size_of::<T>() <= 64 && align_of::<T>() <= 64) };
        Self { bytes: size_of::<T>(), combine: combine_bytes::<T, O> }
    }

    /// Bytes per element.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// Combines the `n` elements of `a` and `x` into `acc`, which may be one of them.
    #[inline(always)]
    pub fn combine(self, acc: Writable<'_>, a: Readable<'_>, x: Readable<'_>, n: usize) {
        let bytes = n * self.bytes;
        if acc.bytes() != bytes || a.bytes() != bytes || x.bytes() != bytes {
            other_lengths(bytes, [acc.bytes(), a.bytes(), x.bytes()]);
        }
        // SAFETY: the ranges are as long as the elements, checked above. Ranges guarantee that they
        // are readable and writable here.
        unsafe { (self.combine)(acc.at(), a.at(), x.at(), n) }
    }
}

#[cold]
#[inline(never)]
fn other_lengths(all: usize, bytes: [usize; 3]) -> ! {
    panic!("elements of {all} bytes are combined in arrays of {bytes:?}")
}

/// # Safety
/// As [`ReduceOp::combine_all`].
unsafe fn combine_bytes<T: Element, O: ReduceOp<T>>(
    acc: *mut u8,
    a: *const u8,
    x: *const u8,
    n: usize,
) {
    // SAFETY: the caller guarantees what `combine_all` asks for.
    unsafe { O::combine_all(acc.cast(), a.cast(), x.cast(), n) }
}
