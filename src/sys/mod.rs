//! Raw system calls, each wrapped once, with its error turned into
//! [`crate::error::Error`]. Nothing above this folder calls the system directly.

// Some calls are made by some backends only.
#![cfg_attr(feature = "smartmap", allow(dead_code))]

pub mod backtrace;
pub mod ending;
pub mod environment;
pub mod helper;
pub mod launcher;
pub mod library;
pub mod loaded;
pub mod signal;
pub mod socket;
pub mod stdio;
pub mod streams;
pub mod symbols;
