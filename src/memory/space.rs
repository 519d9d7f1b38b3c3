//! A stretch of symmetric memory with its allocator: the heap, or a partition.

use super::pool::Pool;
use onenode::extent::Extent;
use onenode::layout::HEAP_ALIGNMENT;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The stretch.
#[derive(Debug)]
pub struct Space {
    range: Range<usize>,
    /// New with each lifetime.
    pool: Mutex<Pool>,
    /// How far it is in use.
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

    /// The largest alignment a block can have: what this memory has on all PEs, because with a
    /// larger one a block would have another offset on each PE.
    pub fn largest_alignment(&self) -> usize {
        HEAP_ALIGNMENT.min(1 << self.range.start.trailing_zeros())
    }

    /// Allocates; blocks get as far as `extent` is told.
    #[inline]
    pub fn allocate(&self, size: usize, align: usize) -> Option<usize> {
        let mut pool = self.pool();
        let block = pool.allocate(size, align);
        self.extent.reach(pool.untouched());
        block
    }

    /// Makes a block at least `size` bytes long where it is, if there is room.
    #[inline]
    pub fn resize(&self, offset: usize, size: usize) -> bool {
        let mut pool = self.pool();
        let resized = pool.resize(offset, size) == Ok(true);
        self.extent.reach(pool.untouched());
        resized
    }
}
