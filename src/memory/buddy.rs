//! Small blocks of a chunk, each a power of two bytes at a multiple of its size, in constant time.
//!
//! All it knows is outside the chunk, as for the [`heap`](super::heap), and it is as
//! deterministic. Its records are zero where no block has ever been, so they cost memory only
//! where there are blocks.

/// Bytes of a chunk, which starts at a multiple of that.
pub const CHUNK: usize = 2 << 20;
/// Bytes of the largest block.
pub const LARGEST: usize = 64 << 10;
/// Bytes of the smallest: a cache line, so that blocks never share one.
const SMALLEST: usize = 64;

const UNITS: usize = CHUNK / SMALLEST;
const ORDERS: usize = UNITS.ilog2() as usize + 1;
/// How many values [`Buddy::level`] can have.
pub const LEVELS: usize = ORDERS + 1;

/// What is known of the unit that a block starts with: its order, and one of these; 0 if no
/// block starts there.
const FREE: u8 = 0x80;
const USED: u8 = 0x40;
const ORDER: u8 = 0x3f;

/// The blocks of one chunk.
#[derive(Debug)]
pub struct Buddy {
    /// First free block of each order, plus 1; 0 for none.
    first: [u16; ORDERS],
    /// Neighbours in the list of the free blocks of an order, likewise, by unit: before, behind.
    links: Vec<[u16; 2]>,
    state: Vec<u8>,
    /// The orders that have free blocks, one bit each.
    orders: u32,
    used: usize,
    blocks: usize,
}

// Units are numbered from 1 in lists.
const _: () = assert!(UNITS < u16::MAX as usize && ORDERS < ORDER as usize && ORDERS <= 32);

/// The order of blocks for so many bytes at a multiple of `align`, if they can be small.
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
            used: 0,
            blocks: 0,
        };
        buddy.push(0, ORDERS - 1);
        buddy
    }

    /// Allocates a block of at least `size` bytes at a multiple of `align`, a power of two;
    /// `None` if there is no room.
    pub fn allocate(&mut self, size: usize, align: usize) -> Option<usize> {
        let wanted = order(size, align)?;
        let fitting = self.orders & (u32::MAX << wanted);
        if fitting == 0 {
            return None;
        }
        let mut order = fitting.trailing_zeros() as usize;
        let unit = self.first[order] as usize - 1;
        self.unlink(unit, order);
        while order > wanted {
            order -= 1;
            self.push(unit + (1 << order), order);
        }
        self.state[unit] = USED | wanted as u8;
        self.used += SMALLEST << wanted;
        self.blocks += 1;
        Some(unit * SMALLEST)
    }

    /// Frees the block at `offset`; returns its size, `None` if there is no such block.
    pub fn free(&mut self, offset: usize) -> Option<usize> {
        let size = self.size_of(offset)?;
        let mut unit = offset / SMALLEST;
        let mut order = usize::from(self.state[unit] & ORDER);
        self.state[unit] = 0;
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
        self.used -= size;
        self.blocks -= 1;
        Some(size)
    }

    /// The size of the block that starts at `offset`.
    pub fn size_of(&self, offset: usize) -> Option<usize> {
        let state = *self.state.get(offset / SMALLEST)?;
        (offset.is_multiple_of(SMALLEST) && state & USED != 0).then(|| SMALLEST << (state & ORDER))
    }

    /// The block nearest to `offset`, start and size: the last one that starts at most there, else
    /// the first.
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

    /// One more than the order of the largest free block; 0 if there is none.
    pub fn level(&self) -> usize {
        (u32::BITS - self.orders.leading_zeros()) as usize
    }

    /// The least [`level`](Self::level) that surely serves such a request, which can be small.
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
