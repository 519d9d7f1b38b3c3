//! Guard bytes behind the blocks of the heap and of partitions, for `SHMEM_DEBUG`: a write past the
//! end of a block changes them, whichever PE makes it.
#![allow(unsafe_code)]

use onenode_core::sys::mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

/// Bytes behind a block.
const BYTES: usize = 32;
/// Their value: an unlikely one, and no pointer or number of use.
const FILL: u8 = 0xa5;

/// The blocks that have guards, by address: their sizes without them.
static GUARDED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn guarded() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    mutex::lock(&GUARDED)
}

/// The size of a block of `size` bytes together with its guard; `None` if it overflows.
pub fn with_guard(size: usize) -> Option<usize> {
    size.checked_add(BYTES)
}

/// Whether a block has a guard.
pub fn has(block: usize) -> bool {
    guarded().contains_key(&block)
}

/// Writes the guard of a block of `size` bytes.
///
/// # Safety
/// The block is this PE's and has room for the guard. Until [`forget`] or [`forget_all`] it stays
/// mapped, and only wrong programs write to the guard.
pub unsafe fn lay(block: *mut u8, size: usize) {
    guarded().insert(block.addr(), size);
    // SAFETY: the caller guarantees that there is room for the guard, and that nobody uses it.
    unsafe { block.add(size).write_bytes(FILL, BYTES) };
}

/// The block has no guard any more.
pub fn forget(block: usize) {
    guarded().remove(&block);
}

/// No block has a guard: there are none yet.
pub fn forget_all() {
    guarded().clear();
}

/// A block whose guard was overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    block: usize,
    size: usize,
    /// Bytes from the block's end to the first one overwritten.
    distance: usize,
}

/// The first block with a damaged guard.
pub fn damage() -> Option<Damage> {
    guarded().iter().find_map(|(block, size)| {
        let guard = (block + size) as *const u8;
        // SAFETY: inside the block and its guard, which whoever called `lay` keeps mapped. Volatile,
        // since other processes can write there.
        let is_written = |at: &usize| unsafe { guard.add(*at).read_volatile() } != FILL;
        let distance = (0..BYTES).find(is_written)?;
        Some(Damage { block: *block, size: *size, distance })
    })
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block, size, distance } = self;
        write!(
            f,
            "byte {distance} behind the block of {size} bytes at {block:#x} was overwritten since it \
             was allocated, by this PE or by a put of another one"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomics::{AtomicU8, Ordering};

    #[test]
    fn a_write_past_the_end_is_found() {
        let memory = [const { AtomicU8::new(0) }; 100 + BYTES];
        let block = memory.as_ptr().cast_mut().cast::<u8>();
        // SAFETY: the array has room for both, and outlives the guard.
        unsafe { lay(block, 100) };
        assert!(has(block.addr()));
        memory[99].store(1, Ordering::Relaxed);
        assert_eq!(damage(), None);
        memory[103].store(1, Ordering::Relaxed);
        assert_eq!(damage(), Some(Damage { block: block.addr(), size: 100, distance: 3 }));
        forget(block.addr());
        assert_eq!(damage(), None);
        assert_eq!(with_guard(usize::MAX), None);
    }
}
