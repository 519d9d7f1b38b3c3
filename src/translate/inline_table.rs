//! What programs compiled with `-DSHMEM_INLINE` look at, whichever the way of translation:
//! up to which address this PE's memory has a copy of each PE's, and how far away it is.
//!
//! ```text
//!  cmp  limit(,pe,8), address     not below it: call the library
//!  jae  library
//!  mov  distance(,pe,8), d
//!  mov  value, -1(address, d)
//! ```
//!
//! One comparison tells all mistakes that are common, and what is not the common case: the limit
//! is 0 for a peer that is not attached and for a number that no PE has, and stacks, libraries
//! and what malloc hands out lie above the slot (see [`onenode::layout`]). What lies
//! below it, such as a null pointer, or in its hole, faults and is explained.
//!
//! There is an entry for every number that the low half of a PE argument can hold, so that -1
//! and the number of PEs need no comparison of their own.

use super::MAX_PES;
use crate::atomics::{AtomicUsize, Ordering};
use std::ops::Range;

/// Entries.
const NUMBERS: usize = 1 << 16;
const _: () = assert!(MAX_PES <= NUMBERS);

/// The tables, zero from the start, and memory only where PEs are. `struct oneshmem_reach` of
/// `shmem_inline.h`.
#[repr(C)]
pub struct InlineTable {
    /// First address past the slot.
    limit: [AtomicUsize; NUMBERS],
    /// The same for `shmem_ptr`: as far as no foreign memory lies below it.
    pointer_limit: [AtomicUsize; NUMBERS],
    /// From this PE's memory to the copy, and one: `shmem_ptr` begins with taking one off the
    /// address, to which a null pointer is then beyond every limit; to others it is part of the access.
    distance: [AtomicUsize; NUMBERS],
}

/// The one of this process.
pub static INLINE_TABLE: InlineTable = InlineTable {
    limit: [const { AtomicUsize::new(0) }; NUMBERS],
    pointer_limit: [const { AtomicUsize::new(0) }; NUMBERS],
    distance: [const { AtomicUsize::new(0) }; NUMBERS],
};

impl InlineTable {
    /// Says that PE `pe`'s copy of `slot` starts at `there`; below `pointer_limit` is nothing else.
    pub(super) fn set(&self, pe: usize, slot: Range<usize>, pointer_limit: usize, there: usize) {
        self.distance[pe].store(there.wrapping_sub(slot.start).wrapping_add(1), Ordering::Relaxed);
        // Release: who finds the limit uses the distance, and the mapping.
        self.pointer_limit[pe].store(pointer_limit, Ordering::Release);
        self.limit[pe].store(slot.end, Ordering::Release);
    }

    /// Forgets the first `npes` PEs.
    pub(super) fn clear(&self, npes: usize) {
        for limits in [&self.limit, &self.pointer_limit] {
            limits[..npes].iter().for_each(|limit| limit.store(0, Ordering::Relaxed));
        }
    }
}
