//! The table that programs compiled with `-DSHMEM_INLINE` read, for both methods of translation: up
//! to which address this PE's memory has a copy on each PE, and how far away that copy is.
//!
//! ```text
//!  cmp  limit(,pe,8), address     not below it: call the library
//!  jae  library
//!  mov  distance(,pe,8), d
//!  mov  value, -1(address, d)
//! ```
//!
//! On AArch64 the limit is loaded by itself, in order before the distance.
//!
//! One comparison detects all common mistakes and all uncommon cases: the limit is 0 for a peer
//! that is not attached and for a number that no PE has, and stacks, libraries and memory from
//! malloc lie above the slot (see [`onenode_core::layout`]). An access below the slot, such as through a
//! null pointer, or in the slot's hole faults; the fault handler reports why.
//!
//! There is an entry for every value of the low half of a PE argument, so that -1 and the number of
//! PEs need no comparison of their own.

use crate::atomics::{AtomicUsize, Ordering};
use onenode_core::arch;
use oneshmem_job::jobfile::MAX_PES;
use std::ops::Range;

/// Number of entries.
const NUMBERS: usize = 1 << 16;
const _: () = assert!(MAX_PES <= NUMBERS);

/// 1 where it costs nothing in an access, otherwise 0. `ONESHMEM_ONE` of `shmem_inline.h`.
const ONE: usize = arch::ADDS_CONSTANTS as usize;

/// The tables. They start as zeros and use memory only for existing PEs. `struct oneshmem_reach` of
/// `shmem_inline.h`.
#[repr(C)]
pub struct InlineTable {
    /// First address past the slot.
    limit: [AtomicUsize; NUMBERS],
    /// As `limit`, for `shmem_ptr`: all that lies below is symmetric, or no object.
    pointer_limit: [AtomicUsize; NUMBERS],
    /// From this PE's memory to the copy, plus [`ONE`]. `shmem_ptr` first subtracts 1 from the
    /// address, so that a null pointer exceeds every limit; for other operations the 1 is part of
    /// the access.
    distance: [AtomicUsize; NUMBERS],
}

/// The table of this process.
pub static INLINE_TABLE: InlineTable = InlineTable {
    limit: [const { AtomicUsize::new(0) }; NUMBERS],
    pointer_limit: [const { AtomicUsize::new(0) }; NUMBERS],
    distance: [const { AtomicUsize::new(0) }; NUMBERS],
};

impl InlineTable {
    /// Sets the start of PE `pe`'s copy of `slot` to `there`; no object that is not symmetric lies below
    /// `pointer_limit`.
    pub(super) fn set(&self, pe: usize, slot: Range<usize>, pointer_limit: usize, there: usize) {
        self.distance[pe]
            .store(there.wrapping_sub(slot.start).wrapping_add(ONE), Ordering::Relaxed);
        // Release: a reader that sees the limit uses the distance, and the mapping.
        self.pointer_limit[pe].store(pointer_limit, Ordering::Release);
        self.limit[pe].store(slot.end, Ordering::Release);
    }

    /// Clears the entries of the first `npes` PEs.
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
        // Programs have these offsets compiled in. Another layout needs another name than
        // `oneshmem_reach_2`, and the old table beside it: see docs/src/abi.md.
        assert_eq!(ours.map(|(_, at)| at), [0, 512 << 10, 1024 << 10, 1536 << 10]);
    }
}
