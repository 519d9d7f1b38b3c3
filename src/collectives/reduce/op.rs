//! Reduction operations and the element types they combine.

#![allow(unsafe_code)]

/// A type whose arrays can be reduced.
///
/// # Safety
/// Any bits are a value of the type (its memory may be shared), all bits zero is
/// its zero, it is at most 64 bytes, and 64-byte alignment suffices for it.
pub unsafe trait Element: Copy + Send + 'static {}

/// An associative operation on `T`. Implement it for [`Sum`], [`Prod`] and so on to
/// make another type reducible.
pub trait ReduceOp<T: Element> {
    /// `acc[i] = acc[i] op x[i]`. Both are private to the caller and equally long.
    fn combine(acc: &mut [T], x: &[T]);
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
            fn combine(acc: &mut [$t], x: &[$t]) {
                for (acc, x) in acc.iter_mut().zip(x) {
                    let ($a, $x) = (*acc, *x);
                    *acc = $value;
                }
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
    combine: unsafe fn(*mut u8, *const u8, usize),
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

    /// Combines `n` elements of `x` into `acc`.
    ///
    /// # Safety
    /// Both are private memory, valid and initialised for `n` elements, aligned for
    /// them, and do not overlap.
    pub unsafe fn combine(self, acc: *mut u8, x: *const u8, n: usize) {
        // SAFETY: the caller's promise is what the function asks.
        unsafe { (self.combine)(acc, x, n) }
    }
}

/// # Safety
/// As [`Kernel::combine`].
unsafe fn combine_bytes<T: Element, O: ReduceOp<T>>(acc: *mut u8, x: *const u8, n: usize) {
    // SAFETY: the caller's promise; any bits are a `T`.
    let (acc, x) = unsafe {
        (
            std::slice::from_raw_parts_mut(acc.cast::<T>(), n),
            std::slice::from_raw_parts(x.cast::<T>(), n),
        )
    };
    O::combine(acc, x);
}
