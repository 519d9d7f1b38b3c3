//! Building blocks of memory shared by processes of one machine. The OpenSHMEM library `oneshmem` and
//! the crate `onenode`, for other runtimes, are both built from it.
//!
//! | for | see |
//! |---|---|
//! | publishing and attaching memory | [`backend`], over memory files, XPMEM or SMARTMAP |
//! | where memory and its mirrors lie | [`layout`], [`segment`], [`pages`], [`extent`] |
//! | attaching a peer once | [`attachments`] |
//! | shared memory as atomics | [`area`], [`atomics`], [`packed`] |
//! | copies | [`copy`], by processor, size and distance |
//! | waiting and sleeping | [`pause`], [`counter`] |
//! | the MCS lock | [`lock`] |
//! | barriers, reductions and the like | [`collectives`], generic over a group of processes |
//! | the processor | [`arch`]: all that depends on its architecture |
//! | the system | [`sys`]: descriptors, mappings, futexes, liveness, rendezvous |
//!
//! It does not depend on either: a *PE* or *rank* here is a process of its client, by number. The crate does not
//! print, end the process or read environment variables.

// What they forbid stands in node/clippy.toml, with the reasons.
#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr, clippy::exit)
)]

pub mod arch;
pub mod area;
pub mod atomics;
pub mod attachments;
pub mod backend;
pub mod collectives;
pub mod copy;
pub mod counter;
mod error;
pub mod extent;
pub mod layout;
pub mod lock;
pub mod packed;
pub mod pages;
pub mod pause;
pub mod segment;
pub mod sys;
pub mod text;

pub use error::Error;
