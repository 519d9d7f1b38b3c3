//! Load and store access to the memory of other processes on this machine.
//!
#![doc = include_str!("example.md")]
//!
//! | for | see |
//! |---|---|
//! | a process among its peers | [`Node`], [`Config`], [`Card`], [`State`] |
//! | memory that peers reach | [`Node::alloc`], [`Alloc`], [`Region`] |
//! | addresses of a peer's copies | [`View`], [`Table`], [`Mapping`] |
//! | copies, as fast as the processor makes them | [`copy`] |
//! | barriers, collectives and locks | [`Group`], [`Collective`] |
//! | what went wrong | [`Error`] |
//!
//! The crate does not print, end the process, start threads or read environment variables. The same interface
//! in C is `onenode.h`.

// What they forbid stands in node/clippy.toml, with the reasons.
#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr, clippy::exit)
)]
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod card;
mod card_table;
mod config;
mod error;
mod header;
mod node;
mod places;
mod table;

pub use card::Card;
pub use config::{BackendChoice, Config, Crowd, Fork, JobFile, Progress, State};
pub use error::{Error, Scope};
pub use node::{
    Alloc, Collective, ElementType, Group, Mapping, Node, Operation, Reduction, Region, View,
};
pub use onenode_core::copy::bytes as copy;
pub use onenode_core::pages::Pages;
pub use table::{Bounds, Entries, Entry, HeapTable, RawTable, Table};

/// A rank: the number that the client gives a process.
pub type Rank = u32;

/// A region's name, chosen by the client: the same on all ranks for regions that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

impl Key {
    /// For a new region: the node chooses a key. It counts from 2^63 on, passes over keys that regions
    /// have, and comes to no number twice. So ranks that make the same regions in the same order get
    /// the same keys.
    pub const ANY: Self = Self(u64::MAX);
}
