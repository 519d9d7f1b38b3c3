//! The types that have atomic operations, and the processor atomics behind them.
#![allow(unsafe_code)]

use crate::atomics::{AtomicU32, AtomicU64, Ordering};

/// A type with atomic fetch, set and swap.
pub trait Word: Copy + sealed::Sealed {
    /// The unsigned integer of the same width, whose atomics are used.
    type Bits: Copy + Into<u64>;
    /// The atomic of that integer.
    type Atomic: Cell<Self::Bits> + 'static;
    /// The value's bit pattern.
    fn to_bits(self) -> Self::Bits;
    /// The value of a bit pattern.
    fn from_bits(bits: Self::Bits) -> Self;

    /// The bit pattern as the low bytes of a word, the others 0.
    fn to_word(self) -> u64 {
        self.to_bits().into()
    }
    /// The value of a word's low bytes.
    fn from_word(word: u64) -> Self;

    /// The atomic at an address.
    ///
    /// # Safety
    /// The address is aligned to the type's size and mapped for the life of the
    /// job, and concurrent accesses to it are atomic and of this width.
    #[inline(always)]
    unsafe fn at(address: usize) -> &'static Self::Atomic {
        // SAFETY: the caller's promise; an atomic may be shared with anyone.
        unsafe { &*(address as *const Self::Atomic) }
    }
}

/// What the operations need of an atomic of either width.
pub trait Cell<B> {
    fn load(&self) -> B;
    fn store(&self, value: B);
    fn swap(&self, value: B) -> B;
    fn compare_swap(&self, cond: B, value: B) -> B;
    fn add(&self, value: B) -> B;
    fn and(&self, value: B) -> B;
    fn or(&self, value: B) -> B;
    fn xor(&self, value: B) -> B;
}

macro_rules! cells {
    ($($atomic:ty: $bits:ty;)*) => {$(
        impl Cell<$bits> for $atomic {
            #[inline(always)]
            fn load(&self) -> $bits {
                <$atomic>::load(self, Ordering::Acquire)
            }
            #[inline(always)]
            fn store(&self, value: $bits) {
                <$atomic>::store(self, value, Ordering::Release);
            }
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

cells! {
    AtomicU32: u32;
    AtomicU64: u64;
}

/// A type with atomic arithmetic and bitwise operations. Arithmetic wraps, and is
/// the same instruction for signed and unsigned.
pub trait Integer: Word {
    /// One.
    const ONE: Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! words {
    ($($type:ty: $bits:ty, $atomic:ty, $to:expr, $from:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Word for $type {
            type Bits = $bits;
            type Atomic = $atomic;
            #[inline(always)]
            fn to_bits(self) -> $bits {
                $to(self)
            }
            #[inline(always)]
            fn from_bits(bits: $bits) -> Self {
                $from(bits)
            }
            fn from_word(word: u64) -> Self {
                $from(word as $bits)
            }
        }
    )*};
}

words! {
    i32: u32, AtomicU32, i32::cast_unsigned, u32::cast_signed;
    u32: u32, AtomicU32, u32::from, u32::from;
    f32: u32, AtomicU32, f32::to_bits, f32::from_bits;
    i64: u64, AtomicU64, i64::cast_unsigned, u64::cast_signed;
    u64: u64, AtomicU64, u64::from, u64::from;
    f64: u64, AtomicU64, f64::to_bits, f64::from_bits;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Integer for $type {
            const ONE: Self = 1;
        }
    )*};
}

integers!(i32 u32 i64 u64);
