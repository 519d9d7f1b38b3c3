//! The symmetric heap's allocator.
//!
//! It works on offsets and keeps its records in private memory. So nothing that a PE writes into a
//! heap, its own or a peer's, can damage them, and it can manage memory that the processor cannot
//! reach.
//!
//! It is deterministic: PEs that make the same calls get the same offsets and fail at the same
//! call. Nothing else is needed for the heap to be symmetric.
//!
//! Best fit over an ordered set of free blocks, with coalescing. Every call is O(log n), except an
//! over-aligned request in a heap so full that no gap is sure to have room for it.

use std::collections::{BTreeMap, BTreeSet};

/// Every block starts and ends at a multiple of this size, enough for any C type (`max_align_t`).
pub const GRANULE: usize = 16;

/// Blocks of at least this size start on a cache line of their own.
const LINE_FROM: usize = 256;
const LINE: usize = 64;
/// Blocks of at least this size start on a page of their own, so that touching one never costs a
/// page fault in another.
const PAGE_FROM: usize = 256 << 10;
const PAGE: usize = 4096;

/// How many gaps that may lack room for an over-aligned block are tried before one that is sure to
/// have it. Without any, the gap of a freed block would not be found again; without a bound, a
/// search could handshake every gap.
const TRIES: usize = 8;

/// An offset that is not the start of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the start of a block")]
pub struct NotABlock;

/// How full a heap is, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Bytes in blocks.
    pub used: usize,
    /// Bytes not in blocks.
    pub free: usize,
    /// Size of the largest block that can still be allocated.
    pub largest: usize,
    /// Number of blocks.
    pub blocks: usize,
}

/// The allocator of one heap.
#[derive(Debug)]
pub struct Heap {
    bytes: usize,
    /// Blocks: start to size.
    used: BTreeMap<usize, usize>,
    /// Gaps: start to size. No two are adjacent.
    free: BTreeMap<usize, usize>,
    /// The gaps, sorted by size, then start.
    by_size: BTreeSet<(usize, usize)>,
    free_bytes: usize,
    /// No block has ever reached beyond this offset.
    touched: usize,
}

impl Heap {
    /// A heap of `bytes` bytes, all free, from offset 0. Its memory is page-aligned and zero at
    /// this point (see [`untouched`](Self::untouched)).
    pub fn new(bytes: usize) -> Self {
        let bytes = bytes / GRANULE * GRANULE;
        let mut heap = Self {
            bytes,
            used: BTreeMap::new(),
            free: BTreeMap::new(),
            by_size: BTreeSet::new(),
            free_bytes: 0,
            touched: 0,
        };
        heap.add_gap(0, bytes);
        heap
    }

    /// Size of the heap.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Allocates a block of at least `size` bytes whose offset is a multiple of `align`, a power of
    /// two. `None` if there is no room. A large block gets a larger alignment where possible.
    pub fn allocate(&mut self, size: usize, align: usize) -> Option<usize> {
        debug_assert!(align.is_power_of_two());
        let size = round(size)?;
        let align = align.max(GRANULE);
        let better = match size {
            PAGE_FROM.. => PAGE,
            LINE_FROM.. => LINE,
            _ => GRANULE,
        };
        let start = self
            .find(size, align.max(better))
            .or_else(|| if better > align { self.find(size, align) } else { None })?;
        self.take(start, size);
        Some(start)
    }

    /// Frees the block at `offset` and returns its size.
    pub fn free(&mut self, offset: usize) -> Result<usize, NotABlock> {
        let size = self.used.remove(&offset).ok_or(NotABlock)?;
        self.give(offset, size);
        Ok(size)
    }

    /// Resizes the block at `offset` in place to at least `size` bytes. `false` if there is no room
    /// behind it; then nothing has changed.
    pub fn resize(&mut self, offset: usize, size: usize) -> Result<bool, NotABlock> {
        let old = self.size_of(offset).ok_or(NotABlock)?;
        let Some(size) = round(size) else { return Ok(false) };
        if size > old {
            let gap = self.free.get(&(offset + old)).copied().unwrap_or(0);
            if old + gap < size {
                return Ok(false);
            }
            self.remove_gap(offset + old, gap);
            self.add_gap(offset + size, old + gap - size);
            self.touched = self.touched.max(offset + size);
        } else if size < old {
            self.give(offset + size, old - size);
        }
        self.used.insert(offset, size);
        Ok(true)
    }

    /// The size of the block that starts at `offset`.
    pub fn size_of(&self, offset: usize) -> Option<usize> {
        self.used.get(&offset).copied()
    }

    /// Start and size of the block nearest to `offset`: the one it lies in, otherwise the one
    /// before it, otherwise the one after.
    pub fn nearest(&self, offset: usize) -> Option<(usize, usize)> {
        let before = self.used.range(..=offset).next_back();
        before.or_else(|| self.used.range(offset..).next()).map(|(start, size)| (*start, *size))
    }

    /// Where the part of the heap starts that no block has ever covered. It is still zero.
    pub fn untouched(&self) -> usize {
        self.touched
    }

    /// Bytes in blocks.
    pub fn used(&self) -> usize {
        self.bytes - self.free_bytes
    }

    /// How full the heap is.
    pub fn usage(&self) -> Usage {
        Usage {
            used: self.used(),
            free: self.free_bytes,
            largest: self.by_size.last().map_or(0, |(size, _)| *size),
            blocks: self.used.len(),
        }
    }

    /// The best place for a block of `size` bytes at a multiple of `align`.
    fn find(&self, size: usize, align: usize) -> Option<usize> {
        // A gap of at least this size has room wherever it starts; a smaller one may have.
        let sure = size.checked_add(align - GRANULE)?;
        let fit = |(room, gap): &(usize, usize)| {
            let start = gap.checked_next_multiple_of(align)?;
            (start + size <= gap + room).then_some(start)
        };
        let mut chance = self.by_size.range((size, 0)..(sure, 0));
        chance
            .by_ref()
            .take(TRIES)
            .find_map(fit)
            .or_else(|| self.by_size.range((sure, 0)..).next().and_then(fit))
            .or_else(|| chance.find_map(fit))
    }

    /// Turns part of a gap into a block.
    fn take(&mut self, start: usize, size: usize) {
        let (gap, room) = match self.free.range(..=start).next_back() {
            Some((gap, room)) => (*gap, *room),
            None => unreachable!("`find` returns places in gaps"),
        };
        self.remove_gap(gap, room);
        self.add_gap(gap, start - gap);
        self.add_gap(start + size, gap + room - (start + size));
        self.used.insert(start, size);
        self.touched = self.touched.max(start + size);
    }

    /// Turns the range into a gap, merged with the gaps next to it.
    fn give(&mut self, start: usize, size: usize) {
        let (mut low, mut high) = (start, start + size);
        let before = self.free.range(..start).next_back().map(|(gap, room)| (*gap, *room));
        if let Some((gap, room)) = before.filter(|(gap, room)| gap + room == start) {
            self.remove_gap(gap, room);
            low = gap;
        }
        if let Some(room) = self.free.get(&high).copied() {
            self.remove_gap(high, room);
            high += room;
        }
        self.add_gap(low, high - low);
    }

    fn add_gap(&mut self, start: usize, size: usize) {
        if size != 0 {
            self.free.insert(start, size);
            self.by_size.insert((size, start));
            self.free_bytes += size;
        }
    }

    fn remove_gap(&mut self, start: usize, size: usize) {
        if size != 0 {
            self.free.remove(&start);
            self.by_size.remove(&(size, start));
            self.free_bytes -= size;
        }
    }
}

/// Rounds up to whole granules, at least one.
fn round(size: usize) -> Option<usize> {
    size.max(1).checked_next_multiple_of(GRANULE)
}

#[cfg(test)]
mod tests;
