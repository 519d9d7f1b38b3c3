//! The allocator of a range of symmetric memory: a [`Heap`]. In a partition, small blocks come from
//! chunks of the heap, which a [`Buddy`] manages in constant time.
//!
//! It is as deterministic as they are, and its records are outside the memory, too.

use super::buddy::{self, Buddy, CHUNK};
use super::heap::{Heap, NotABlock, Usage};
use crate::atomics::{AtomicU64, Ordering};

/// The allocator of the symmetric heap or of a partition.
#[derive(Debug)]
pub struct Pool {
    heap: Heap,
    small: Option<Chunks>,
    /// Whether the memory starts as zeros.
    zero: bool,
    /// Where others see how many bytes are in blocks.
    used_word: Option<&'static AtomicU64>,
}

/// The chunks with small blocks.
#[derive(Debug)]
struct Chunks {
    /// For each multiple of a chunk's size: the number of the chunk there plus 1, or 0 for none.
    at: Vec<u32>,
    /// The chunks, by number. Entries of unused numbers are stale.
    chunks: Vec<Chunk>,
    /// Unused numbers.
    spare: Vec<u32>,
    /// Numbers of the chunks of each level.
    levels: [Vec<u32>; buddy::LEVELS],
    /// The levels that have chunks, as a bit mask.
    filled: u32,
}

#[derive(Debug)]
struct Chunk {
    start: usize,
    blocks: Buddy,
    /// Its place in the list of its level.
    level: usize,
    position: usize,
}

impl Pool {
    /// The allocator of the symmetric heap.
    pub fn of_heap(bytes: usize) -> Self {
        Self { heap: Heap::new(bytes), small: None, zero: true, used_word: None }
    }

    /// The allocator of a partition, whose memory starts at a multiple of a chunk's size.
    pub fn of_partition(bytes: usize, zero: bool) -> Self {
        Self { heap: Heap::new(bytes), small: Some(Chunks::new(bytes)), zero, used_word: None }
    }

    /// This pool, which has no blocks yet; from now on `word` holds how many bytes are in blocks.
    pub fn counted_in(self, word: &'static AtomicU64) -> Self {
        Self { used_word: Some(word), ..self }
    }

    /// Lets others see how many bytes are in blocks.
    #[inline]
    fn publish_used(&self) {
        if let Some(word) = self.used_word {
            word.store(self.heap.used() as u64, Ordering::Relaxed);
        }
    }

    /// Size of the memory.
    pub fn bytes(&self) -> usize {
        self.heap.bytes()
    }

    /// As [`Heap::allocate`]. A small block's size is a power of two, and it starts at a multiple
    /// of its size.
    #[inline]
    pub fn allocate(&mut self, size: usize, align: usize) -> Option<usize> {
        if let (Some(small), Some(level)) = (&mut self.small, Buddy::level_for(size, align)) {
            if let Some(offset) = small.allocate(&mut self.heap, size, align, level) {
                return Some(offset);
            }
        }
        let block = self.heap.allocate(size, align);
        self.publish_used();
        block
    }

    /// Frees the block at `offset`; returns its size.
    #[inline]
    pub fn free(&mut self, offset: usize) -> Result<usize, NotABlock> {
        if let Some(small) = &mut self.small {
            if let Some(number) = small.number(offset) {
                return small.free(&mut self.heap, number, offset).ok_or(NotABlock);
            }
        }
        let freed = self.heap.free(offset);
        self.publish_used();
        freed
    }

    /// As [`Heap::resize`]. A small block keeps its size.
    #[inline]
    pub fn resize(&mut self, offset: usize, size: usize) -> Result<bool, NotABlock> {
        match self.chunk(offset) {
            Some(chunk) => {
                let has = chunk.blocks.size_of(offset - chunk.start).ok_or(NotABlock)?;
                Ok(size <= has)
            }
            None => {
                let resized = self.heap.resize(offset, size);
                self.publish_used();
                resized
            }
        }
    }

    /// The size of the block that starts at `offset`.
    #[inline]
    pub fn size_of(&self, offset: usize) -> Option<usize> {
        match self.chunk(offset) {
            Some(chunk) => chunk.blocks.size_of(offset - chunk.start),
            None => self.heap.size_of(offset),
        }
    }

    /// Start and size of a block near `offset`.
    pub fn nearest(&self, offset: usize) -> Option<(usize, usize)> {
        let near = self.heap.nearest(offset)?;
        let Some(chunk) = self.chunk(near.0) else { return Some(near) };
        let (start, size) = chunk.blocks.nearest(offset.saturating_sub(chunk.start))?;
        Some((chunk.start + start, size))
    }

    /// Where the part of the memory starts that no block has ever covered.
    #[inline]
    pub fn untouched(&self) -> usize {
        self.heap.untouched()
    }

    /// Where the part of the memory starts that is still zero.
    pub fn zero_from(&self) -> usize {
        if self.zero { self.untouched() } else { self.bytes() }
    }

    /// How full the allocator is. A chunk counts with its blocks, not its whole size.
    pub fn usage(&self) -> Usage {
        let mut usage = self.heap.usage();
        for chunk in self.small.iter().flat_map(Chunks::in_use) {
            let rest = CHUNK - chunk.blocks.used();
            (usage.used, usage.free) = (usage.used - rest, usage.free + rest);
            usage.blocks = usage.blocks - 1 + chunk.blocks.blocks();
        }
        usage
    }

    /// The chunk that an offset lies in.
    fn chunk(&self, offset: usize) -> Option<&Chunk> {
        let small = self.small.as_ref()?;
        Some(&small.chunks[small.number(offset)? as usize])
    }
}

impl Chunks {
    fn new(bytes: usize) -> Self {
        Self {
            at: vec![0; bytes / CHUNK],
            chunks: Vec::new(),
            spare: Vec::new(),
            levels: [const { Vec::new() }; buddy::LEVELS],
            filled: 0,
        }
    }

    fn in_use(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().filter(|chunk| chunk.blocks.blocks() > 0)
    }

    fn number(&self, offset: usize) -> Option<u32> {
        self.at.get(offset / CHUNK)?.checked_sub(1)
    }

    /// Allocates a block from the chunk that has the least room for it, or from a new chunk.
    fn allocate(
        &mut self,
        heap: &mut Heap,
        size: usize,
        align: usize,
        level: usize,
    ) -> Option<usize> {
        let number = match self.fitting(level).or_else(|| self.add(heap)) {
            Some(number) => number,
            None => {
                // A last resort: blocks that were kept apart may make room together.
                for number in 0..self.chunks.len() as u32 {
                    if self.chunks[number as usize].blocks.blocks() > 0 {
                        self.chunks[number as usize].blocks.merge();
                        self.settle(number);
                    }
                }
                self.fitting(level)?
            }
        };
        let chunk = &mut self.chunks[number as usize];
        let offset = chunk.start + chunk.blocks.allocate(size, align)?;
        self.settle(number);
        Some(offset)
    }

    fn free(&mut self, heap: &mut Heap, number: u32, offset: usize) -> Option<usize> {
        let chunk = &mut self.chunks[number as usize];
        let size = chunk.blocks.free(offset - chunk.start)?;
        if chunk.blocks.blocks() > 0 {
            self.settle(number);
        } else {
            // Keep its records for the next chunk: they are those of a chunk without blocks.
            let start = chunk.start;
            self.strike(number);
            self.at[start / CHUNK] = 0;
            self.spare.push(number);
            heap.free(start).ok()?;
        }
        Some(size)
    }

    /// A chunk of the lowest level from this one on that has any.
    fn fitting(&self, level: usize) -> Option<u32> {
        let filled = self.filled & (u32::MAX << level);
        self.levels.get(filled.trailing_zeros() as usize)?.last().copied()
    }

    fn add(&mut self, heap: &mut Heap) -> Option<u32> {
        let start = heap.allocate(CHUNK, CHUNK)?;
        let number = match self.spare.pop() {
            Some(number) => {
                self.chunks[number as usize].start = start;
                number
            }
            None => {
                let blocks = Buddy::new();
                self.chunks.push(Chunk { start, blocks, level: 0, position: 0 });
                self.chunks.len() as u32 - 1
            }
        };
        self.at[start / CHUNK] = number + 1;
        self.enlist(number);
        Some(number)
    }

    /// Moves a chunk to the list of its current level.
    fn settle(&mut self, number: u32) {
        let chunk = &self.chunks[number as usize];
        if chunk.level != chunk.blocks.level() {
            self.strike(number);
            self.enlist(number);
        }
    }

    fn enlist(&mut self, number: u32) {
        let chunk = &mut self.chunks[number as usize];
        chunk.level = chunk.blocks.level();
        chunk.position = self.levels[chunk.level].len();
        self.filled |= 1 << chunk.level;
        self.levels[chunk.level].push(number);
    }

    fn strike(&mut self, number: u32) {
        let Chunk { level, position, .. } = self.chunks[number as usize];
        self.levels[level].swap_remove(position);
        if self.levels[level].is_empty() {
            self.filled &= !(1 << level);
        }
        if let Some(moved) = self.levels[level].get(position) {
            self.chunks[*moved as usize].position = position;
        }
    }
}

#[cfg(test)]
mod tests;
