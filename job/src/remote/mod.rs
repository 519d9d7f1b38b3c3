//! Memory that this process can neither load from nor store to: that of PEs on other nodes. The hot
//! path never reaches it. A far PE has no mirror, so its operations take the slow path, which
//! returns a [`AccessTarget`].
#![allow(unsafe_code)]

mod far;
pub mod network;
pub mod secret;
mod word;

pub use far::{CONTROL, Far, HEAP, PARTITIONS, STATISTICS, Segment};
pub use word::Word;

use crate::atomics::AtomicU64;
use crate::error::{Called, Error, Routine};
use onenode_core::area::Shared;
use std::mem::MaybeUninit;
use std::ops::Range;

/// The target of an access that has left the hot path.
pub enum AccessTarget {
    /// Memory that is mapped here, at this address.
    Near(usize),
    /// Memory that an engine reaches.
    Far(&'static dyn Engine, Far),
}

/// When a transfer must be over on this side: the source of a put may be reused, the data of a get
/// has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// When the call returns.
    AtReturn,
    /// When the next quiet returns.
    AtQuiet,
}

impl Completion {
    /// As the routine promises it.
    #[must_use]
    pub fn of(routine: Routine) -> Self {
        match routine {
            Called::Blocking(_) => Self::AtReturn,
            Called::Nonblocking(_) => Self::AtQuiet,
        }
    }
}

/// Blocks of memory at equal distances, on both sides of a transfer. All fields but `count` are in
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedBlocks {
    /// The number of blocks.
    pub count: usize,
    /// The size of one block.
    pub bytes: usize,
    /// From the start of a block to the start of the next, on the side that is written.
    pub to_stride: usize,
    /// Bytes from the start of a block to that of the next, on the side that is read.
    pub from_stride: usize,
}

impl StridedBlocks {
    /// One block.
    pub fn one(bytes: usize) -> Self {
        Self { count: 1, bytes, to_stride: bytes, from_stride: bytes }
    }

    /// These blocks, as a single one if there are no gaps between them.
    #[must_use]
    pub fn joined(self) -> Self {
        if self.to_stride == self.bytes && self.from_stride == self.bytes {
            return Self { count: 1, bytes: self.bytes * self.count, ..self };
        }
        self
    }

    /// The start of each block: its offset on the side that is written, and on the side that is
    /// read.
    pub fn starts(self) -> impl Iterator<Item = (usize, usize)> {
        // The check of the call's spans ensures that the start of an existing block does not
        // overflow.
        (0..self.count)
            .map(move |i| (i.wrapping_mul(self.to_stride), i.wrapping_mul(self.from_stride)))
    }
}

/// The effect of an atomic operation on its word.
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
    /// Writes the operand.
    Swap,
    /// Writes the operand if the word holds this value.
    CompareSwap(u64),
}

/// An atomic operation on an aligned word. Narrow operands are zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amo {
    /// Its effect.
    pub action: Action,
    /// Its operand.
    pub operand: u64,
    /// The word's width: 4 or 8 bytes.
    pub bytes: usize,
}

impl Amo {
    /// One on a word of 64 bits.
    pub const fn on_u64(action: Action, operand: u64) -> Self {
        Self { action, operand, bytes: size_of::<u64>() }
    }
}

/// Access to memory that only the slow path reaches: of PEs on other nodes, or of devices.
///
/// Operations of one thread on one PE take effect there in the order of the calls, so a fence is a no-op. They
/// are complete after a [`quiet`](Self::quiet). Short ones of a burst may leave together, a little later. If one
/// fails, the job ends with a message.
///
/// # Safety
/// A transfer reads and writes no other memory of this process than the call names, and does so only until
/// it is over. When a get that is over at return has returned, all its bytes are filled in.
pub unsafe trait Engine: Send + Sync {
    /// Copies to another PE.
    ///
    /// # Safety
    /// `from` is readable for `bytes` bytes until the transfer is over.
    unsafe fn put(&self, to: Far, from: *const u8, bytes: usize, completion: Completion);

    /// Copies from another PE.
    ///
    /// # Safety
    /// `to` is writable for `bytes` bytes until the transfer is over.
    unsafe fn get(&self, to: *mut u8, from: Far, bytes: usize, completion: Completion);

    /// Copies a value from the processor's memory to another PE.
    ///
    /// # Safety
    /// `value` is readable for `bytes` bytes.
    unsafe fn store(&self, to: Far, value: *const u8, bytes: usize) {
        // SAFETY: the caller guarantees that `value` is readable for `bytes` bytes. The transfer is
        // over at return.
        unsafe { self.put(to, value, bytes, Completion::AtReturn) }
    }

    /// Copies blocks to another PE.
    ///
    /// # Safety
    /// The blocks are readable from `from` on.
    unsafe fn put_blocks(&self, to: Far, from: *const u8, blocks: StridedBlocks);

    /// Copies blocks from another PE.
    ///
    /// # Safety
    /// The blocks are writable from `to` on.
    unsafe fn get_blocks(&self, to: *mut u8, from: Far, blocks: StridedBlocks) {
        for (here, there) in blocks.starts() {
            // SAFETY: one of the blocks that the caller guarantees are writable from `to` on. The
            // transfer is over when `quiet` below returns.
            unsafe {
                self.get(
                    to.wrapping_add(here),
                    from.plus(there),
                    blocks.bytes,
                    Completion::AtQuiet,
                );
            }
        }
        self.quiet();
    }

    /// Carries out an atomic operation and returns the old value.
    fn fetch(&self, at: Far, amo: Amo) -> u64;

    /// Carries out an atomic operation, and writes the old value to `to`: at the latest when the next quiet
    /// returns.
    ///
    /// # Safety
    /// Until then, `to` is writable for as many bytes as the operation has.
    unsafe fn fetch_nbi(&self, at: Far, amo: Amo, to: *mut u8) {
        let old = self.fetch(at, amo).to_le_bytes();
        // SAFETY: the caller guarantees that as many bytes are writable; an operation has at most 8.
        unsafe { to.copy_from_nonoverlapping(old.as_ptr(), amo.bytes) };
    }

    /// Issues an atomic operation without a result.
    fn update(&self, at: Far, amo: Amo);

    /// Returns when all operations that this PE has issued are complete.
    fn quiet(&self);

    /// Forgets where PEs have their memory: it may be elsewhere in their next lifetime. No
    /// operation is outstanding, and none is issued any more in this lifetime.
    fn reset(&self);
}

impl dyn Engine + '_ {
    /// The current value of an 8-byte word of another PE.
    pub fn word(&self, at: Far) -> u64 {
        self.value::<AtomicU64>(at).into_inner()
    }

    /// The current value of a record of atomics of another PE, such as its control words.
    pub fn value<T: Shared>(&self, at: Far) -> T {
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: the local has that size, and all its bytes are filled in at return. They are
        // atomics, for which any bytes are valid.
        unsafe {
            self.get(value.as_mut_ptr().cast(), at, size_of::<T>(), Completion::AtReturn);
            value.assume_init()
        }
    }
}

/// The engine for PEs on other nodes: its operations, what PEs notify each other of, and the connections.
pub trait Network: Engine {
    /// The engine for their memory.
    fn engine(&self) -> &dyn Engine;

    /// Writes aligned words of 8 bytes of a control area, each as a whole. Quiets do not wait for them.
    /// A single word is a counter: its sleepers are woken, and it is not written if its current value
    /// is larger.
    fn notify(&self, at: Far, words: &[u64]);

    /// Sends operations that wait for others of a burst. To be called by whoever begins to wait.
    fn send_waiting(&self);

    /// Takes in what other PEs have notified this PE of, which is alone on its node; false if there was
    /// nothing. `sleeps`: it may sleep for a moment, until something arrives.
    fn receive(&self, sleeps: bool) -> bool;

    /// How many PEs this PE has connected to.
    fn reached(&self) -> usize;

    /// Whether a PE runs this PE's executable: only then static data are symmetric. Waits until that PE
    /// has begun.
    fn runs_the_same(&self, pe: usize) -> bool;

    /// Starts to make progress on issued operations even while the program makes no calls. To be
    /// called once, when this process may have threads.
    ///
    /// # Errors
    /// If no thread can be created.
    fn start_progress_thread(&self) -> Result<(), Error>;

    /// Ends the job if the connection to another node has failed. Called from time to time by
    /// threads that wait for something other than an operation.
    fn check_connections(&self);

    /// Notifications of PEs from now on, in this lifetime, reach PEs that end without taking them
    /// in. Returns when this PE may end: its connections are complete at both ends, or take too long.
    fn finish(&self);

    /// As [`finish`](Self::finish), for a PE that ends the job early. Gives up after a moment; returns whether
    /// the connections are complete.
    fn finish_early(&self) -> bool;

    /// If others may be connecting with this PE, which ends with the job, waits a moment until they know of the
    /// end, too: UCX aborts a process that makes progress after its partner has ended while they connect.
    fn leave(&self);

    /// Notifies other nodes that the job has ended with this abort word, so that their PEs can end by
    /// themselves. Gives up after a moment.
    fn notify_end(&self, word: u64);
}

/// The name of a PE's device memory for its peers: the driver's handle, and the number of bytes
/// from the start of the memory that it names to the start of the partition.
#[derive(Clone, Copy, Debug, Default)]
pub struct Handle {
    /// The driver's handle.
    pub words: [u64; 8],
    /// Bytes to the start of the partition.
    pub skipped: u64,
}

/// Memory of the processor, aligned for all elements.
#[derive(Debug)]
pub struct Scratch {
    /// Its start.
    pub start: *mut u8,
    /// Its size in bytes.
    pub bytes: usize,
}

// SAFETY: only an address; its owner alone uses the memory.
unsafe impl Send for Scratch {}

/// Partitions on devices, by number: this PE's own, and those of its peers as they are mapped here.
///
/// # Safety
/// All ranges and addresses that it returns are of memory that stays mapped, and `find` and `is_device`
/// hold for it alone. Scratch memory belongs to its user until it is discarded.
pub unsafe trait DeviceMemory: Engine {
    /// The engine for this memory.
    fn engine(&self) -> &dyn Engine;
    /// The number of partitions.
    fn parts(&self) -> usize;
    /// The addresses of a partition.
    fn range(&self, part: usize) -> Range<usize>;
    /// A partition's name for peers.
    fn handle(&self, part: usize) -> Handle;
    /// A description for the user.
    fn description(&self, part: usize) -> String;
    /// The partition that contains an address of this PE.
    fn find(&self, address: usize) -> Option<usize>;
    /// The counterpart on PE `pe` of this PE's `address` in a partition. Calls `handle` if the PE's
    /// partition is not mapped yet.
    fn far(&self, part: usize, pe: usize, address: usize, handle: &dyn Fn() -> Handle) -> Far;
    /// The address where it is mapped here.
    fn address(&self, far: Far) -> usize;
    /// Whether an address is on any device, in a partition or not.
    fn is_device(&self, address: usize) -> bool;

    /// Begins to copy blocks between memory of devices and of the processor, which the next
    /// [`quiet`](Engine::quiet) completes. Later copies, by any call, are ordered after it.
    ///
    /// # Safety
    /// Until then, the blocks are writable from `to` on and readable from `from` on, at least by the device.
    unsafe fn begin(&self, to: *mut u8, from: *const u8, blocks: StridedBlocks);

    /// Copies blocks between memory of devices and of the processor.
    ///
    /// # Safety
    /// The blocks are writable from `to` on and readable from `from` on, at least by the device.
    unsafe fn copy(&self, to: *mut u8, from: *const u8, blocks: StridedBlocks) {
        // SAFETY: the caller guarantees that the blocks are writable and readable. `quiet` is called here.
        unsafe { self.begin(to, from, blocks) }
        self.quiet();
    }

    /// Processor memory with which copies are fastest, for the use of one thread.
    fn scratch(&self) -> Scratch;
    /// Releases scratch memory.
    fn discard(&self, scratch: Scratch);

    /// Fills device memory.
    ///
    /// # Safety
    /// `to` is writable for `bytes` bytes.
    unsafe fn set(&self, to: *mut u8, byte: u8, bytes: usize);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_without_gaps_are_one() {
        let blocks = StridedBlocks { count: 5, bytes: 8, to_stride: 8, from_stride: 8 };
        assert_eq!((blocks.joined().count, blocks.joined().bytes), (1, 40));
        for apart in
            [StridedBlocks { to_stride: 16, ..blocks }, StridedBlocks { from_stride: 9, ..blocks }]
        {
            assert_eq!(apart.joined(), apart);
        }
        let apart = StridedBlocks { count: 3, to_stride: 16, from_stride: 24, ..blocks };
        assert_eq!(apart.starts().collect::<Vec<_>>(), [(0, 0), (16, 24), (32, 48)]);
        // The stride of a single block may be anything.
        let one = StridedBlocks { count: 1, to_stride: usize::MAX, ..blocks };
        assert_eq!(one.starts().collect::<Vec<_>>(), [(0, 0)]);
    }
}
