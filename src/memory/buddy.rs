//! A buddy allocator for one chunk: small blocks of a power of two bytes, each at a multiple of its
//! size, in constant time.
//!
//! The last block freed of each order is kept apart, and the next one of that order taken from
//! there: so a program that frees and allocates alike does not merge and divide blocks each time.
//!
//! Its records are outside the chunk, as those of the [`heap`](super::heap), and it is as
//! deterministic. Where no block has ever been, the records are zero: they use memory only where
//! there are blocks.

/// Bytes of a chunk, which starts at a multiple of this size.
pub const CHUNK: usize = 2 << 20;
/// Bytes of the largest block.
pub const LARGEST: usize = 64 << 10;
/// Bytes of the smallest block: a cache line, so that blocks never share one.
const SMALLEST: usize = 64;

const UNITS: usize = CHUNK / SMALLEST;
const ORDERS: usize = UNITS.ilog2() as usize + 1;
/// How many values [`Buddy::level`] can have.
pub const LEVELS: usize = ORDERS + 1;

/// State of the unit that a block starts with: the block's order and one of these flags; 0 if no
/// block starts there.
const FREE: u8 = 0x80;
const USED: u8 = 0x40;
const ORDER: u8 = 0x3f;

/// The blocks of one chunk.
#[derive(Debug)]
pub struct Buddy {
    /// First free block of each order: its unit plus 1, or 0 for none.
    first: [u16; ORDERS],
    /// Neighbours in the free list of an order, by unit, encoded as in `first`: previous, next.
    links: Vec<[u16; 2]>,
    state: Vec<u8>,
    /// The orders that have free blocks in lists, as a bit mask.
    orders: u32,
    /// The free block of each order that is kept apart, encoded as in `first`.
    apart: [u16; ORDERS],
    /// The orders that have one, as a bit mask.
    orders_apart: u32,
    used: usize,
    blocks: usize,
}

// Units are numbered from 1 in lists.
const _: () = assert!(UNITS < u16::MAX as usize && ORDERS < ORDER as usize && ORDERS <= 32);

/// The order of a block of `size` bytes at a multiple of `align`, if it can be small.
fn order(size: usize, align: usize) -> Option<usize> {
    let bytes = size.max(align).max(SMALLEST);
    (bytes <= LARGEST).then(|| (bytes.next_power_of_two() / SMALLEST).ilog2() as usize)
}

impl Buddy {
    /// A chunk without blocks.
    pub fn new() -> Self {
        let mut buddy = Self {
            first: [0; ORDERS],
            links: vec![[0; 2]; UNITS],
            state: vec![0; UNITS],
            orders: 0,
            apart: [0; ORDERS],
            orders_apart: 0,
            used: 0,
            blocks: 0,
        };
        buddy.push(0, ORDERS - 1);
        buddy
    }

    /// Allocates a block of at least `size` bytes at a multiple of `align`, a power of two. `None`
    /// if there is no room.
    pub fn allocate(&mut self, size: usize, align: usize) -> Option<usize> {
        let wanted = order(size, align)?;
        let unit = match self.take_apart(wanted) {
            Some(unit) => unit,
            None => self.divide(wanted)?,
        };
        self.state[unit] = USED | wanted as u8;
        self.used += SMALLEST << wanted;
        self.blocks += 1;
        Some(unit * SMALLEST)
    }

    /// Takes a block of this order from the lists, part of a larger one if need be.
    fn divide(&mut self, wanted: usize) -> Option<usize> {
        let fitting = |buddy: &Self| buddy.orders & (u32::MAX << wanted);
        if fitting(self) == 0 {
            self.merge();
        }
        if fitting(self) == 0 {
            return None;
        }
        let mut order = fitting(self).trailing_zeros() as usize;
        let unit = self.first[order] as usize - 1;
        self.unlink(unit, order);
        while order > wanted {
            order -= 1;
            self.push(unit + (1 << order), order);
        }
        Some(unit)
    }

    /// Frees the block at `offset` and returns its size, or `None` if there is no such block.
    pub fn free(&mut self, offset: usize) -> Option<usize> {
        let size = self.size_of(offset)?;
        let unit = offset / SMALLEST;
        let order = usize::from(self.state[unit] & ORDER);
        self.state[unit] = 0;
        self.used -= size;
        self.blocks -= 1;
        if self.apart[order] == 0 {
            self.apart[order] = unit as u16 + 1;
            self.orders_apart |= 1 << order;
        } else {
            self.insert(unit, order);
        }
        if self.blocks == 0 {
            self.merge();
        }
        Some(size)
    }

    /// Puts a free block into the lists, merged with its free neighbours there.
    fn insert(&mut self, mut unit: usize, mut order: usize) {
        while order + 1 < ORDERS {
            let other = unit ^ (1 << order);
            if self.state[other] != FREE | order as u8 {
                break;
            }
            self.unlink(other, order);
            unit = unit.min(other);
            order += 1;
        }
        self.push(unit, order);
    }

    /// Puts the blocks that are kept apart into the lists, which may make larger ones.
    pub fn merge(&mut self) {
        while self.orders_apart != 0 {
            let order = self.orders_apart.trailing_zeros() as usize;
            if let Some(unit) = self.take_apart(order) {
                self.insert(unit, order);
            }
        }
    }

    /// Takes the block of this order that is kept apart, if there is one.
    fn take_apart(&mut self, order: usize) -> Option<usize> {
        let unit = usize::from(std::mem::take(&mut self.apart[order])).checked_sub(1)?;
        self.orders_apart &= !(1 << order);
        Some(unit)
    }

    /// The size of the block that starts at `offset`.
    pub fn size_of(&self, offset: usize) -> Option<usize> {
        let state = *self.state.get(offset / SMALLEST)?;
        (offset % SMALLEST == 0 && state & USED != 0).then(|| SMALLEST << (state & ORDER))
    }

    /// Start and size of the block nearest to `offset`: the last one that starts at or before it,
    /// otherwise the first.
    pub fn nearest(&self, offset: usize) -> Option<(usize, usize)> {
        let block = |unit: usize| Some((unit * SMALLEST, self.size_of(unit * SMALLEST)?));
        let unit = (offset / SMALLEST).min(UNITS - 1);
        (0..=unit).rev().find_map(block).or_else(|| (unit..UNITS).find_map(block))
    }

    /// Bytes in blocks.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// One more than the order of the largest free block, before any [`merge`](Self::merge); 0 if
    /// there is none.
    pub fn level(&self) -> usize {
        (u32::BITS - (self.orders | self.orders_apart).leading_zeros()) as usize
    }

    /// The lowest [`level`](Self::level) that guarantees room for such a request, if the request
    /// can be small.
    pub fn level_for(size: usize, align: usize) -> Option<usize> {
        order(size, align).map(|order| order + 1)
    }

    fn push(&mut self, unit: usize, order: usize) {
        let next = self.first[order];
        self.links[unit] = [0, next];
        if next != 0 {
            self.links[next as usize - 1][0] = unit as u16 + 1;
        }
        self.first[order] = unit as u16 + 1;
        self.state[unit] = FREE | order as u8;
        self.orders |= 1 << order;
    }

    fn unlink(&mut self, unit: usize, order: usize) {
        let [before, next] = self.links[unit];
        match before {
            0 => self.first[order] = next,
            _ => self.links[before as usize - 1][1] = next,
        }
        if next != 0 {
            self.links[next as usize - 1][0] = before;
        }
        if self.first[order] == 0 {
            self.orders &= !(1 << order);
        }
        self.state[unit] = 0;
    }
}

#[cfg(test)]
#[test]
fn free_neighbours_become_one_block_where_the_first_was() {
    let mut buddy = Buddy::new();
    for order in [0, 1, 4] {
        let size = SMALLEST << order;
        let small: Vec<_> = std::iter::from_fn(|| buddy.allocate(size, 1)).collect();
        assert_eq!(small.len(), CHUNK / size);
        // In an order in which neighbours are free at different times. 5 divides no power of two.
        for i in 0..small.len() {
            assert_eq!(buddy.free(small[i * 5 % small.len()]), Some(size));
        }
        let mut large: Vec<_> = std::iter::from_fn(|| buddy.allocate(LARGEST, 1)).collect();
        large.sort_unstable();
        assert!(large.iter().copied().eq((0..CHUNK).step_by(LARGEST)), "{large:?}");
        large.into_iter().for_each(|block| assert_eq!(buddy.free(block), Some(LARGEST)));
    }
}
