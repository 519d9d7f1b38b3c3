//! Symmetric memory: the allocators of the heap and of partitions, and the pages that both are made
//! of.

mod buddy;
pub mod guards;
pub mod heap;
pub mod pages;
pub mod partition;
pub(crate) mod pool;
pub(crate) mod space;
