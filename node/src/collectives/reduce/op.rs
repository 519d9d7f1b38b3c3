//! Reduction operations and the element types they combine.

#![allow(unsafe_code)]

use crate::collectives::range::{Readable, Writable};

/// A type whose arrays can be reduced.
///
/// # Safety
/// Any bits are a value of the type (its memory may be shared), all bits zero is
/// its zero, it is at most 64 bytes, and 64-byte alignment suffices for it.
pub unsafe trait Element: Copy + Send + 'static {}

/// An associative operation on `T`. Implement it for [`Sum`], [`Prod`] and so on to
/// make another type reducible.
pub trait ReduceOp<T: Element> {
    /// `a op x`.
    fn combine(a: T, x: T) -> T;

    /// `acc[i] = a[i] op x[i]` for `n` elements. Shared memory is read where it lies, each element
    /// once: what others write there meanwhile, against the rules, makes wrong results and no
    /// more.
    ///
    /// # Safety
    /// `a` and `x` are readable and `acc` is writable for `n` elements, at any alignment. `acc`
    /// may be one of them; else it is apart from both.
    #[inline(always)]
    unsafe fn combine_all(acc: *mut T, a: *const T, x: *const T, n: usize) {
        let whole = n - n % TOGETHER;
        for i in (0..whole).step_by(TOGETHER) {
            // SAFETY: the caller's promise; so many elements are there.
            unsafe {
                let (a, x) = (a.add(i).cast(), x.add(i).cast());
                combine_together::<T, Self, TOGETHER>(acc.add(i).cast(), a, x);
            }
        }
        for i in whole..n {
            // SAFETY: the caller's promise.
            unsafe {
                let (a, x) = (a.add(i).cast(), x.add(i).cast());
                combine_together::<T, Self, 1>(acc.add(i).cast(), a, x);
            }
        }
    }
}

/// Elements that are all read before the first result is written, so that the compiler may take
/// them in vectors even though `acc` may be `a` or `x`.
const TOGETHER: usize = 16;

/// # Safety
/// As [`ReduceOp::combine_all`].
#[inline(always)]
unsafe fn combine_together<T: Element, O: ReduceOp<T> + ?Sized, const N: usize>(
    acc: *mut [T; N],
    a: *const [T; N],
    x: *const [T; N],
) {
    // SAFETY: the caller's promise; any bits are a `T`.
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
    /// The larger.
    Max;
    /// The smaller.
    Min;
    /// The sum; integers wrap around.
    Sum;
    /// The product; integers wrap around.
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

macro_rules! elements {
    ($($t:ty)*) => {$(
        // SAFETY: a primitive number: any bits are a value, zero bits are zero.
        unsafe impl Element for $t {}
    )*};
}

elements!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
combine!(And, i8 i16 i32 i64 u8 u16 u32 u64, |a, x| a & x);
combine!(Or, i8 i16 i32 i64 u8 u16 u32 u64, |a, x| a | x);
combine!(Xor, i8 i16 i32 i64 u8 u16 u32 u64, |a, x| a ^ x);
combine!(Max, i8 i16 i32 i64 u8 u16 u32 u64 f32 f64, |a, x| if x > a { x } else { a });
combine!(Min, i8 i16 i32 i64 u8 u16 u32 u64 f32 f64, |a, x| if x < a { x } else { a });
combine!(Sum, i8 i16 i32 i64 u8 u16 u32 u64, |a, x| a.wrapping_add(x));
combine!(Sum, f32 f64, |a, x| a + x);
combine!(Prod, i8 i16 i32 i64 u8 u16 u32 u64, |a, x| a.wrapping_mul(x));
combine!(Prod, f32 f64, |a, x| a * x);

/// An operation on a type, made a value, so that the algorithms are compiled once
/// and not for each of the 150 pairs; it is called once a block.
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

    /// Bytes of an element.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// Combines the elements of `a` and `x` into `acc`, which may be one of them; there are `n` in
    /// each.
    #[inline(always)]
    pub fn combine(self, acc: Writable<'_>, a: Readable<'_>, x: Readable<'_>, n: usize) {
        let bytes = n * self.bytes;
        if acc.bytes() != bytes || a.bytes() != bytes || x.bytes() != bytes {
            other_lengths(bytes, [acc.bytes(), a.bytes(), x.bytes()]);
        }
        // SAFETY: the ranges are as long as the elements, readable and writable here as ranges are.
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
    // SAFETY: the caller's promise.
    unsafe { O::combine_all(acc.cast(), a.cast(), x.cast(), n) }
}
