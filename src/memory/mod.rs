//! The slot: where this PE's data segment and symmetric heap lie, and what is in
//! the heap.

pub mod extent;
pub mod heap;
pub mod layout;
pub mod pages;
pub mod segment;
pub mod symmetric;
