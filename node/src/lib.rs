//! Other processes' memory on this machine, by load and store.

pub mod atomics;
pub mod attachments;
pub mod backend;
pub mod copy;
pub mod counter;
pub mod error;
pub mod extent;
pub mod layout;
pub mod pages;
pub mod pause;
pub mod segment;
pub mod sys;

pub use error::Error;
