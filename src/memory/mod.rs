//! The slot: where this PE's data segment and symmetric heap lie, and what is in
//! the heap.

pub mod heap;
pub mod pages;
pub mod symmetric;
