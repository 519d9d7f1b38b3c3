//! Raw system calls, each wrapped once, with errors as [`crate::error::Error`]. Code outside this
//! folder does not call the system directly.

pub mod addresses;
mod chooser;
pub mod environment;
pub mod helper;
pub mod hex;
pub mod install;
pub mod library;
pub mod own_names;
pub mod rdma;
pub mod signal;
pub mod socket;
