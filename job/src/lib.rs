//! Shared by the processes of an OpenSHMEM job: PEs, the launcher, the agents of nodes, and commands that
//! look on.
//!
//! | module | what |
//! |---|---|
//! | [`jobfile`] | the job's file, byte by byte |
//! | [`stats`], [`timeline`] | in the job's file, what PEs count and record; and what is made of it |
//! | [`engine`] | messages between nodes over UCX, and the agent that carries them out |
//! | [`remote`] | how memory that is not mapped here is named and accessed, and which networks lead to it |
//! | [`codec`] | how values travel between processes |
//! | [`mod@env`], [`partition`], [`pages`] | variables, and what they ask for |
//! | [`error`], [`message`], [`sys`] | errors, the library's words to users, system calls |
//!
//! Its interface follows the needs of the library `oneshmem` and its commands, and may change at any time.

// What they forbid stands in clippy.toml, with the reasons.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod codec;
pub mod engine;
pub mod env;
pub mod error;
pub mod jobfile;
pub mod message;
pub mod pages;
pub mod partition;
pub mod remote;
pub mod stats;
pub mod sys;
pub mod timeline;

#[cfg(test)]
mod tests;

// As the library has them, so that paths are the same.
use onenode_core::{atomics, counter};
