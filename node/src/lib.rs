//! Load and store access to the memory of other processes on this machine.
//!
#![doc = include_str!("example.md")]
//!
//! | for | see |
//! |---|---|
//! | a process among its peers | [`Node`], [`Config`], [`Card`], [`State`] |
//! | memory that peers reach | [`Node::alloc`], [`Alloc`], [`Region`] |
//! | addresses of a peer's copies | [`View`], [`Table`], [`Mapping`] |
//! | barriers, collectives and locks | [`Group`], [`Collective`] |
//! | what went wrong | [`Error`] |
//!
//! The crate prints nothing, never ends the process, and uses no signals, threads or environment
//! variables. The same interface in C is `onenode.h`.

// What they forbid stands in node/clippy.toml, with the reasons.
#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr, clippy::exit)
)]
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

// The building blocks of the crate and of the OpenSHMEM library. They are not part of the interface
// and may change at any time.
#[doc(hidden)]
pub mod area;
#[doc(hidden)]
pub mod atomics;
#[doc(hidden)]
pub mod attachments;
#[doc(hidden)]
pub mod backend;
#[doc(hidden)]
pub mod collectives;
#[doc(hidden)]
pub mod copy;
#[doc(hidden)]
pub mod counter;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod extent;
#[doc(hidden)]
pub mod layout;
#[doc(hidden)]
pub mod lock;
#[doc(hidden)]
pub mod pages;
#[doc(hidden)]
pub mod pause;
#[doc(hidden)]
pub mod segment;
#[doc(hidden)]
pub mod sys;

mod card;
mod card_table;
mod config;
mod home;
mod node;
mod places;
mod table;

pub use card::Card;
pub use config::{BackendChoice, Config, Crowd, Fork, JobFile, Progress, State};
pub use error::Error;
pub use node::{
    Alloc, Collective, ElementType, Group, Mapping, Node, Operation, Reduction, Region, View,
};
pub use pages::Pages;
pub use table::{Bounds, Entries, Entry, HeapTable, RawTable, Table};

/// A rank: the number that the client gives a process.
pub type Rank = u32;

/// A region's name, chosen by the client: the same on all ranks for regions that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);
