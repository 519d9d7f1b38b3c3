//! The types that can be waited on.
#![allow(unsafe_code)]

use crate::atomics::{AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A type that can be waited on; its order is the comparison's, so signed types
/// compare signed.
pub trait Waitable: Copy + Ord + sealed::Sealed {
    /// Loads the value at `at`, acquiring what was released with it.
    ///
    /// # Safety
    /// `at` is aligned and mapped; concurrent accesses are atomic and of this width.
    unsafe fn load(at: *const Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! waitable {
    ($($type:ty: $atomic:ty;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Waitable for $type {
            #[inline(always)]
            unsafe fn load(at: *const Self) -> Self {
                // SAFETY: the caller's promise; an atomic may be shared with anyone.
                unsafe { &*at.cast::<$atomic>() }.load(Ordering::Acquire) as $type
            }
        }
    )*};
}

waitable! {
    i16: AtomicU16;
    u16: AtomicU16;
    i32: AtomicU32;
    u32: AtomicU32;
    i64: AtomicU64;
    u64: AtomicU64;
}
