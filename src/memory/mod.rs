//! Symmetric memory: the heap's allocator and the partitions', and what both are made of.

mod buddy;
pub mod heap;
pub mod pages;
pub mod partition;
pub mod pool;
pub mod space;
pub mod symmetric;
