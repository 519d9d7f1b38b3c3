//! Raw system calls, each wrapped once, with errors as [`oneshmem_job::error::Error`]. Code outside this
//! folder does not call the system directly.

// Some calls are made by some backends only.
#![cfg_attr(feature = "smartmap", allow(dead_code))]

pub mod backtrace;
pub mod clock;
pub mod ending;
pub mod launcher;
pub mod mpi;
pub mod pmix;
pub mod python;
pub mod signal;
pub mod stack;
pub mod stdio;
pub mod streams;
pub mod symbols;
