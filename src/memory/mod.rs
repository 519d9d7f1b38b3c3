//! Symmetric memory: the allocators of the heap and of partitions.

mod buddy;
pub mod guards;
pub mod heap;
pub(crate) mod pool;
pub(crate) mod space;
