//! Guard bytes behind the blocks of the heap and of partitions, for `SHMEM_DEBUG`: a write past the
//! end of a block changes them, whichever PE makes it. A block's guard is checked before the block is
//! freed or resized, all guards at the end, and some in turn at each collective.
#![allow(unsafe_code)]

use onenode_core::sys::mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

/// Bytes behind a block.
const BYTES: usize = 32;
/// Their value: an unlikely one, and no pointer or number of use.
const FILL: u8 = 0xa5;

/// The most guards that a collective checks: few enough that it takes no longer however many blocks there are.
const IN_TURN: usize = 128;

struct Guarded {
    /// The blocks that have guards, by address: their sizes without them.
    blocks: BTreeMap<usize, usize>,
    /// The address from which on blocks have their turn to be checked.
    turn: usize,
}

static GUARDED: Mutex<Guarded> = Mutex::new(Guarded { blocks: BTreeMap::new(), turn: 0 });

fn guarded() -> MutexGuard<'static, Guarded> {
    mutex::lock(&GUARDED)
}

/// The size of a block of `size` bytes together with its guard; `None` if it overflows.
pub fn with_guard(size: usize) -> Option<usize> {
    size.checked_add(BYTES)
}

/// Whether a block has a guard.
pub fn has(block: usize) -> bool {
    guarded().blocks.contains_key(&block)
}

/// Writes the guard of a block of `size` bytes.
///
/// # Safety
/// The block is this PE's and has room for the guard. Until [`forget`] or [`forget_all`] it stays
/// mapped, and only wrong programs write to the guard.
pub unsafe fn lay(block: *mut u8, size: usize) {
    guarded().blocks.insert(block.addr(), size);
    // SAFETY: the caller guarantees that there is room for the guard, and that nobody uses it.
    unsafe { block.add(size).write_bytes(FILL, BYTES) };
}

/// The block has no guard any more.
pub fn forget(block: usize) {
    guarded().blocks.remove(&block);
}

/// No block has a guard: there are none yet.
pub fn forget_all() {
    guarded().blocks.clear();
}

/// A block whose guard was overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    block: usize,
    size: usize,
    /// Bytes from the block's end to the first one overwritten.
    distance: usize,
}

/// Damage of the guard of `block`, which may have none.
pub fn damage_of(block: usize) -> Option<Damage> {
    guarded().blocks.get_key_value(&block).and_then(damage)
}

/// Damage of any guard.
pub fn damage_of_any() -> Option<Damage> {
    guarded().blocks.iter().find_map(damage)
}

/// Damage of one of the guards that have their turn.
pub fn damage_in_turn() -> Option<Damage> {
    let Guarded { blocks, turn } = &mut *guarded();
    let mut next = blocks.range(*turn..).chain(blocks.range(..*turn)).take(IN_TURN);
    next.find_map(|block| {
        *turn = block.0 + 1;
        damage(block)
    })
}

fn damage((block, size): (&usize, &usize)) -> Option<Damage> {
    let guard = (block + size) as *const u8;
    // SAFETY: inside the block and its guard, which whoever called `lay` keeps mapped. Volatile,
    // since other processes can write there.
    let is_written = |at: &usize| unsafe { guard.add(*at).read_volatile() } != FILL;
    let distance = (0..BYTES).find(is_written)?;
    Some(Damage { block: *block, size: *size, distance })
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
    fn a_write_past_the_end_is_found_when_the_block_has_its_turn() {
        const EACH: usize = 4 + BYTES;
        const BLOCKS: usize = 3 * IN_TURN;
        let memory = [const { AtomicU8::new(0) }; BLOCKS * EACH];
        let block = |i: usize| memory[i * EACH..].as_ptr().cast_mut().cast::<u8>();
        for i in 0..BLOCKS {
            // SAFETY: the array has room for both, and outlives the guard.
            unsafe { lay(block(i), 4) };
        }
        assert!(has(block(0).addr()) && !has(block(0).addr() + 1));
        memory[EACH + 3].store(1, Ordering::Relaxed);
        assert_eq!([(); 4].map(|()| damage_in_turn()), [None; 4]);
        for i in [0, IN_TURN - 1, BLOCKS - 1] {
            memory[i * EACH + 7].store(1, Ordering::Relaxed);
            let damage = Damage { block: block(i).addr(), size: 4, distance: 3 };
            let found: Vec<_> = (0..4).filter_map(|_| damage_in_turn()).collect();
            assert!(found.contains(&damage) && found.len() <= 2, "{i}: {found:?}");
            forget(damage.block);
            assert_eq!([(); 4].map(|()| damage_in_turn()), [None; 4]);
        }
        forget_all();
        assert_eq!(damage_in_turn(), None);
        assert_eq!(with_guard(usize::MAX), None);
    }
}
