//! The types that have atomic operations, and their processor atomics.

use crate::atomics::{AtomicU32, AtomicU64, Ordering};
use crate::translate::sealed;
use onenode_core::arch::ReadModifyWrite;

/// A type with atomic fetch, set and swap.
pub trait Word: Copy + sealed::Sealed {
    /// The unsigned integer of the same width, whose atomics are used.
    type Bits: Copy + Into<u64>;
    /// The atomic type of that integer.
    type Atomic: ReadModifyWrite<Self::Bits> + 'static;
    /// The value's bit pattern.
    fn to_bits(self) -> Self::Bits;
    /// The value of a bit pattern.
    fn from_bits(bits: Self::Bits) -> Self;

    /// Reads the value.
    fn load(cell: &Self::Atomic) -> Self;
    /// Writes the value.
    fn store(self, cell: &Self::Atomic);

    /// The bit pattern in the low bytes of a word; the other bytes are 0.
    fn to_word(self) -> u64 {
        self.to_bits().into()
    }
    /// The value in a word's low bytes.
    fn from_word(word: u64) -> Self;
}

/// A type with atomic arithmetic and bitwise operations. Arithmetic wraps, and is the same
/// instruction for signed and unsigned types.
pub trait Integer: Word {
    /// One.
    const ONE: Self;
}

macro_rules! words {
    ($($type:ty: $bits:ty, $atomic:ty, |$value:ident| $to:expr, |$word:ident| $from:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Word for $type {
            type Bits = $bits;
            type Atomic = $atomic;
            #[inline(always)]
            fn to_bits(self) -> $bits {
                let $value = self;
                $to
            }
            #[inline(always)]
            fn from_bits($word: $bits) -> Self {
                $from
            }
            #[inline(always)]
            fn load(cell: &$atomic) -> Self {
                Self::from_bits(cell.load(Ordering::Acquire))
            }
            #[inline(always)]
            fn store(self, cell: &$atomic) {
                cell.store(self.to_bits(), Ordering::Release);
            }
            fn from_word(word: u64) -> Self {
                Self::from_bits(word as $bits)
            }
        }
    )*};
}

words! {
    i32: u32, AtomicU32, |value| value as u32, |bits| bits as i32;
    u32: u32, AtomicU32, |value| value, |bits| bits;
    f32: u32, AtomicU32, |value| value.to_bits(), |bits| f32::from_bits(bits);
    i64: u64, AtomicU64, |value| value as u64, |bits| bits as i64;
    u64: u64, AtomicU64, |value| value, |bits| bits;
    f64: u64, AtomicU64, |value| value.to_bits(), |bits| f64::from_bits(bits);
    isize: u64, AtomicU64, |value| value as u64, |bits| bits as isize;
    usize: u64, AtomicU64, |value| value as u64, |bits| bits as usize;
}

const _: () = assert!(size_of::<usize>() == size_of::<u64>(), "expected a 64-bit platform");

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Integer for $type {
            const ONE: Self = 1;
        }
    )*};
}

integers!(i32 u32 i64 u64 isize usize);
