#![doc = include_str!("../README.md")]
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod array;
mod error;
mod grid;
mod layout;
mod storage;

pub use array::{DistArray, Local};
pub use error::{Error, Result};
pub use grid::{DistGrid, Tile};
pub use layout::Distribution;
