//! Other processes' memory on this machine, by load and store.

pub mod atomics;
pub mod attachments;
pub mod backend;
pub mod board;
pub mod card;
pub mod collectives;
pub mod config;
pub mod copy;
pub mod counter;
pub mod error;
pub mod extent;
pub mod home;
pub mod layout;
pub mod lock;
pub mod node;
pub mod pages;
pub mod pause;
pub mod places;
pub mod segment;
pub mod sys;
pub mod table;

pub use card::Card;
pub use config::{Choice, Config, Crowd, Fork, JobFile, Progress, State};
pub use error::Error;
pub use node::{
    Alloc, Collective, ElementType, Group, Mapping, Node, Operation, Reduction, Region, View,
};
pub use pages::Pages;
pub use table::{Bounds, Entries, Entry, HeapTable, RawTable, Table};

/// A rank: the client's own number of a process.
pub type Rank = u32;

/// A region's name, which the client chooses: equal on all ranks for what belongs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);
