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
    /// address, to which a null pointer is then beyond every limit; to others it is part of the
    /// access.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    /// The fields of `struct oneshmem_reach` in the header, with their offsets.
    fn fields_of_header() -> Vec<(&'static str, usize)> {
        const HEADER: &str = include_str!("../../interface/templates/shmem_inline.h");
        let (_, body) = HEADER.split_once("struct oneshmem_reach {").expect("the table");
        let (body, _) = body.split_once("};").expect("its end");
        let mut offset = 0;
        let field = |line: &'static str| {
            let (name, rest) = line.trim().strip_prefix("size_t ")?.split_once('[')?;
            let numbers: usize = rest.split_once(']')?.0.parse().ok()?;
            let at = offset;
            offset += numbers * size_of::<usize>();
            Some((name, at))
        };
        let mut fields: Vec<_> = body.lines().filter_map(field).collect();
        fields.push(("", offset));
        fields
    }

    #[test]
    fn the_header_has_the_same_layout() {
        let ours = [
            ("limit", offset_of!(InlineTable, limit)),
            ("pointer_limit", offset_of!(InlineTable, pointer_limit)),
            ("distance", offset_of!(InlineTable, distance)),
            ("", size_of::<InlineTable>()),
        ];
        assert_eq!(fields_of_header(), ours);
        // Programs have these numbers compiled in. Another layout needs another name than
        // `oneshmem_reach_2`, and the old table beside it: see docs/src/abi.md.
        assert_eq!(ours.map(|(_, at)| at), [0, 512 << 10, 1024 << 10, 1536 << 10]);
    }
}
