//! The one place the library takes its atomics from.
//!
//! Algorithms that other processes take part in (barrier, lock, allocator,
//! rendezvous, wait) name these types only, so that building with
//! `--cfg loom` checks the very same text under the `loom` model checker.
//! `clippy.toml` refuses `std::sync::atomic` types everywhere else.
#![allow(clippy::disallowed_types)]

#[cfg(not(loom))]
pub use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence,
    fence,
};

#[cfg(loom)]
pub use loom::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(loom)]
pub use std::sync::atomic::compiler_fence;
