//! A range of symmetric memory with its allocator: the heap, or a partition.
#![allow(unsafe_code)]

use super::pool::Pool;
use onenode_core::extent::Extent;
use onenode_core::layout::{HEAP_ALIGNMENT, Layout};
use onenode_core::sys::mutex;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// The memory and its allocator.
#[derive(Debug)]
pub struct Space {
    range: Range<usize>,
    /// Replaced in each lifetime.
    pool: Mutex<Pool>,
    /// How much of it is in use.
    extent: Extent,
}

impl Space {
    /// The memory at `range`, with its allocator.
    pub(crate) fn new(range: Range<usize>, pool: Pool) -> Self {
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

    /// Begins a lifetime in memory of the layout, made of pages of `unit` bytes. The first `made` bytes
    /// exist already.
    pub(crate) fn begin(&self, layout: &Layout, unit: usize, made: usize) {
        self.assert_in(layout);
        // SAFETY: the layout reserves the range for this heap or partition. What is there is accessed
        // in blocks, and every block that is allocated is reported to `extent`.
        unsafe { self.extent.begin(&self.range, unit, made) };
    }

    /// Notes that the mirror of PE `pe` is mapped.
    pub(crate) fn add_mirror(&self, layout: &Layout, pe: usize) {
        self.assert_in(layout);
        // SAFETY: the layout reserves the mirror, which is as long. PEs allocate the same blocks, and
        // this one learns of a block first by its own allocation.
        unsafe { self.extent.add_mirror(layout.mirrored(pe, self.range.start)) };
    }

    /// In a forked child that has memory of its own here: hides what is beyond the blocks, as in the
    /// PE.
    pub(crate) fn inherit(&self, layout: &Layout) {
        self.assert_in(layout);
        // SAFETY: what is there is accessed in blocks that exist: a child allocates none.
        unsafe { self.extent.inherit(&self.range) };
    }

    /// Panics unless the layout has this range.
    fn assert_in(&self, layout: &Layout) {
        let is_part = *layout.heap() == self.range || layout.partitions().contains(&self.range);
        assert!(is_part, "{:#x?} is not a part of the layout", self.range);
    }

    /// Its allocator.
    #[inline]
    pub(crate) fn pool(&self) -> MutexGuard<'_, Pool> {
        mutex::lock(&self.pool)
    }

    /// The size of a block, if blocks can have this alignment and the size does not overflow (`None`).
    pub fn possible(&self, size: Option<usize>, align: usize) -> Option<usize> {
        size.filter(|_| align.is_power_of_two() && align <= self.largest_alignment())
    }

    /// The largest alignment of a block: the one that this memory has on all PEs. With a larger
    /// one, a block would have a different offset on each PE.
    pub fn largest_alignment(&self) -> usize {
        HEAP_ALIGNMENT.min(1 << self.range.start.trailing_zeros())
    }

    /// Allocates a block, and tells `extent` how far blocks now reach.
    #[inline]
    pub(crate) fn allocate(&self, size: usize, align: usize) -> Option<usize> {
        let mut pool = self.pool();
        let block = pool.allocate(size, align);
        self.extent.reach(pool.untouched());
        block
    }

    /// Resizes a block in place to at least `size` bytes, if there is room.
    #[inline]
    pub(crate) fn resize(&self, offset: usize, size: usize) -> bool {
        let mut pool = self.pool();
        let resized = pool.resize(offset, size) == Ok(true);
        self.extent.reach(pool.untouched());
        resized
    }
}
