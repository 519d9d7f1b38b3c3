//! Memory that this process cannot load from and store to: what belongs to PEs of other nodes. The
//! hot path never comes here. A far PE has no mirror, so its operations fall into the slow path,
//! whose answer is a [`Place`].
#![allow(unsafe_code)]

pub mod agent;
mod exports;
pub mod ucx;

use crate::error::{Error, Routine};
use std::ops::Range;

/// Where an access that has left the hot path goes.
pub enum Place {
    /// To memory that is mapped here, at this address.
    Near(usize),
    /// To memory that an engine reaches.
    Far(&'static dyn Engine, Far),
}

/// Where in a [`Far`] the heap begins. Before it is the data segment.
pub const HEAP: u64 = 1 << 41;
/// Where in a [`Far`] the control area of the PE's node begins.
pub const CONTROL: u64 = 1 << 42;
/// Where in a [`Far`] the statistics of the PE's node begin.
pub const STATISTICS: u64 = CONTROL + (1 << 41);

/// Memory of a PE on another node, or of that node's control area or statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Far {
    /// The PE, in the world's numbering.
    pub pe: usize,
    /// Bytes into its data segment, or from [`HEAP`], [`CONTROL`] or [`STATISTICS`] on.
    pub offset: u64,
}

impl Far {
    /// The memory so many bytes further on.
    #[must_use]
    pub fn plus(self, bytes: usize) -> Self {
        Self { offset: self.offset.wrapping_add(bytes as u64), ..self }
    }
}

/// When a transfer has to be over on this side: the source of a put can be used again, what a get
/// brings is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// When the call returns.
    AtReturn,
    /// When the next quiet returns.
    AtQuiet,
}

impl Over {
    /// As the routine has it: those that do not block end in `_nbi`.
    pub fn of(routine: Routine) -> Self {
        if routine.ends_with("_nbi") { Self::AtQuiet } else { Self::AtReturn }
    }
}

/// Blocks of memory at equal distances on both sides of a transfer; all but their number in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// How many there are.
    pub count: usize,
    /// The size of one.
    pub bytes: usize,
    /// From the start of a block to that of the next one, where they are written.
    pub to_stride: usize,
    /// The same where they are read.
    pub from_stride: usize,
}

impl Blocks {
    /// As one block, if there is nothing between them.
    #[must_use]
    pub fn joined(self) -> Self {
        if self.to_stride == self.bytes && self.from_stride == self.bytes {
            return Self { count: 1, bytes: self.bytes * self.count, ..self };
        }
        self
    }

    /// Where each one begins: offsets on the side that is written, and on the one that is read.
    pub fn starts(self) -> impl Iterator<Item = (usize, usize)> {
        // Checked with the call's spans: what a block that exists begins at can be counted.
        (0..self.count)
            .map(move |i| (i.wrapping_mul(self.to_stride), i.wrapping_mul(self.from_stride)))
    }
}

/// What an atomic operation does to its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Adds.
    Add,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Writes.
    Swap,
    /// Writes if this stands there.
    CompareSwap(u64),
}

/// An atomic operation on an aligned word. Narrow operands are zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amo {
    /// What it does.
    pub action: Action,
    /// With what.
    pub operand: u64,
    /// The word's width: 4 or 8 bytes.
    pub bytes: usize,
}

/// A way to memory that only the slow path reaches: of PEs on other nodes, or of devices.
///
/// Operations of one thread on one PE are carried out there in the order of the calls, so that a
/// fence has nothing to do. They are complete after a [`quiet`](Self::quiet). If one fails, the job
/// ends with a message.
pub trait Engine: Send + Sync {
    /// Copies to another PE.
    ///
    /// # Safety
    /// `from` is readable for so many bytes, until the transfer is over.
    unsafe fn put(&self, to: Far, from: *const u8, bytes: usize, over: Over);

    /// Copies from another PE.
    ///
    /// # Safety
    /// `to` is writable for so many bytes, until the transfer is over.
    unsafe fn get(&self, to: *mut u8, from: Far, bytes: usize, over: Over);

    /// Copies a value to another PE, from the processor's memory.
    ///
    /// # Safety
    /// `value` is readable for so many bytes.
    unsafe fn store(&self, to: Far, value: *const u8, bytes: usize) {
        // SAFETY: the caller's promise; the transfer is over at return.
        unsafe { self.put(to, value, bytes, Over::AtReturn) }
    }

    /// Copies blocks to another PE.
    ///
    /// # Safety
    /// From `from` on they are readable.
    unsafe fn put_blocks(&self, to: Far, from: *const u8, blocks: Blocks) {
        for (there, here) in blocks.starts() {
            // SAFETY: the caller's promise.
            unsafe {
                self.put(to.plus(there), from.wrapping_add(here), blocks.bytes, Over::AtReturn);
            }
        }
    }

    /// Copies blocks from another PE.
    ///
    /// # Safety
    /// From `to` on they are writable.
    unsafe fn get_blocks(&self, to: *mut u8, from: Far, blocks: Blocks) {
        for (here, there) in blocks.starts() {
            // SAFETY: the caller's promise; over before the call returns.
            unsafe {
                self.get(to.wrapping_add(here), from.plus(there), blocks.bytes, Over::AtQuiet);
            }
        }
        self.quiet();
    }

    /// Carries out an atomic operation and returns what stood there.
    fn fetch(&self, at: Far, amo: Amo) -> u64;

    /// Issues an atomic operation without a result.
    fn update(&self, at: Far, amo: Amo);

    /// Writes an aligned word of 8 bytes. No quiet waits for it.
    fn tell(&self, at: Far, value: u64) {
        self.update(at, Amo { action: Action::Swap, operand: value, bytes: size_of::<u64>() });
    }

    /// Returns when all operations that this PE has issued are complete.
    fn quiet(&self);

    /// From now on sees to it that what is issued is carried out though the program calls nothing.
    /// To be called once, when this process may have threads.
    ///
    /// # Errors
    /// If the system has none left.
    fn attend(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Ends the job if a way to another node has broken down. Done now and then by who waits for
    /// something else than an operation.
    fn look(&self) {}

    /// Forgets where PEs have their memory: they may have it elsewhere in their next lifetime. No
    /// operation is under way, nor will be in this lifetime.
    fn forget(&self);
}

/// What names a PE's memory on a device to its peers: the driver's words, and how many bytes behind
/// what they name the partition begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Handle {
    /// The driver's.
    pub words: [u64; 8],
    /// Bytes.
    pub skipped: u64,
}

/// Memory of the processor, aligned for all elements.
#[derive(Debug)]
pub struct Scratch {
    /// Where it begins.
    pub start: *mut u8,
    /// Its size.
    pub bytes: usize,
}

// SAFETY: nothing but an address, whose memory its owner alone uses.
unsafe impl Send for Scratch {}

/// Partitions on devices, by number: of this PE, and as they are mapped here of its peers.
pub trait DeviceMemory: Engine {
    /// How many there are.
    fn parts(&self) -> usize;
    /// A part's addresses.
    fn range(&self, part: usize) -> Range<usize>;
    /// What names it to peers.
    fn handle(&self, part: usize) -> Handle;
    /// What it is, in words.
    fn told(&self, part: usize) -> String;
    /// The part that an address of this PE lies in.
    fn find(&self, address: usize) -> Option<usize>;
    /// What the own address in a part is on PE `pe`, whose handle is asked for if it is not mapped.
    fn far(&self, part: usize, pe: usize, address: usize, handle: &dyn Fn() -> Handle) -> Far;
    /// The address that is mapped here for it.
    fn address(&self, far: Far) -> usize;
    /// Whether an address is any device's, also one that no partition has.
    fn is_device(&self, address: usize) -> bool;

    /// Begins a copy between memory of devices and of the processor, which the next
    /// [`quiet`](Engine::quiet) completes. Later copies, by whichever call, come after it.
    ///
    /// # Safety
    /// `to` is writable and `from` readable for so many bytes, by the device at least, until then.
    unsafe fn begin(&self, to: *mut u8, from: *const u8, bytes: usize);

    /// Copies between memory of devices and of the processor.
    ///
    /// # Safety
    /// `to` is writable and `from` readable for so many bytes, by the device at least.
    unsafe fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: the caller's promise; complete before the call returns.
        unsafe { self.begin(to, from, bytes) }
        self.quiet();
    }

    /// The same of blocks.
    ///
    /// # Safety
    /// From `to` and `from` on they are writable and readable.
    unsafe fn copy_blocks(&self, to: *mut u8, from: *const u8, blocks: Blocks);

    /// Memory of the processor that copies are quickest with, for a thread's use.
    fn scratch(&self) -> Scratch;
    /// Gives it back.
    fn discard(&self, scratch: Scratch);

    /// Fills memory of a device.
    ///
    /// # Safety
    /// `to` is writable for so many bytes.
    unsafe fn set(&self, to: *mut u8, byte: u8, bytes: usize);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_without_gaps_are_one() {
        let blocks = Blocks { count: 5, bytes: 8, to_stride: 8, from_stride: 8 };
        assert_eq!((blocks.joined().count, blocks.joined().bytes), (1, 40));
        for apart in [Blocks { to_stride: 16, ..blocks }, Blocks { from_stride: 9, ..blocks }] {
            assert_eq!(apart.joined(), apart);
        }
        let apart = Blocks { count: 3, to_stride: 16, from_stride: 24, ..blocks };
        assert_eq!(apart.starts().collect::<Vec<_>>(), [(0, 0), (16, 24), (32, 48)]);
        // The stride of a single block may be anything.
        let one = Blocks { count: 1, to_stride: usize::MAX, ..blocks };
        assert_eq!(one.starts().collect::<Vec<_>>(), [(0, 0)]);
    }
}
