//! A range of symmetric memory with its allocator: the heap, or a partition.

use super::pool::Pool;
use onenode::extent::Extent;
use onenode::layout::HEAP_ALIGNMENT;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The memory and its allocator.
#[derive(Debug)]
pub struct Space {
    range: Range<usize>,
    /// Replaced in each lifetime.
    pool: Mutex<Pool>,
    /// How much of it is in use.
    pub extent: Extent,
}

impl Space {
    /// The memory at `range`, with its allocator.
    pub fn new(range: Range<usize>, pool: Pool) -> Self {
        Self { range, pool: Mutex::new(pool), extent: Extent::default() }
    }

    /// Its addresses.
    #[inline]
    pub fn range(&self) -> &Range<usize> {
        &self.range
    }

    /// The address of its byte `offset`.
    #[inline]
    pub fn address(&self, offset: usize) -> *mut u8 {
        (self.range.start + offset) as *mut u8
    }

    /// Its allocator.
    #[inline]
    pub fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The largest alignment of a block: the one that this memory has on all PEs. With a larger
    /// one, a block would have a different offset on each PE.
    pub fn largest_alignment(&self) -> usize {
        HEAP_ALIGNMENT.min(1 << self.range.start.trailing_zeros())
    }

    /// Allocates a block, and tells `extent` how far blocks now reach.
    #[inline]
    pub fn allocate(&self, size: usize, align: usize) -> Option<usize> {
        let mut pool = self.pool();
        let block = pool.allocate(size, align);
        self.extent.reach(pool.untouched());
        block
    }

    /// Resizes a block in place to at least `size` bytes, if there is room.
    #[inline]
    pub fn resize(&self, offset: usize, size: usize) -> bool {
        let mut pool = self.pool();
        let resized = pool.resize(offset, size) == Ok(true);
        self.extent.reach(pool.untouched());
        resized
    }
}
