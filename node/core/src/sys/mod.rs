//! System calls, each wrapped once, with its error turned into [`crate::error::Error`]. Nothing
//! outside this folder calls the system directly.

// Some calls are used by some backends only.
#![cfg_attr(feature = "smartmap", allow(dead_code))]

pub mod caches;
pub mod cgroup;
pub mod fd;
pub mod file;
pub mod futex;
pub mod hash;
pub mod huge;
pub mod kept;
pub mod life;
pub mod limit;
pub mod lists;
pub mod map;
pub mod maps;
pub mod mutex;
pub mod numa;
pub mod origin;
pub mod pass;
pub mod peer;
pub mod persistent;
pub mod point;
pub mod process;
pub mod program;
pub mod raw;
pub mod relocate;
pub mod source;
pub mod suspend;
pub mod threads;
pub mod tiers;
