//! Raw system calls, each wrapped once, with errors as [`crate::error::Error`]. Code outside this
//! folder does not call the system directly.

// Some calls are made by some backends only.
#![cfg_attr(feature = "smartmap", allow(dead_code))]

pub mod addresses;
pub mod backtrace;
mod chooser;
pub mod clock;
pub mod ending;
pub mod environment;
pub mod helper;
pub mod hex;
pub mod install;
pub mod launcher;
pub mod library;
pub mod mpi;
pub mod own_names;
pub mod pmix;
pub mod python;
pub mod rdma;
pub mod signal;
pub mod socket;
pub mod stack;
pub mod stdio;
pub mod streams;
pub mod symbols;
