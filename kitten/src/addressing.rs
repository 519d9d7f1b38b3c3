//! The arithmetic of SMARTMAP addresses.

use static_assertions::{const_assert, const_assert_eq};

/// The number of address bits within a slot. Each slot is one entry of the processor's topmost page
/// table, which maps 512 GiB (Kitten, `include/arch-x86_64/aspace.h`).
pub const SHIFT: u32 = 39;
/// The size of a slot in bytes. All memory of a process lies below this address.
pub const SLOT_BYTES: usize = 1 << SHIFT;
/// The slot of rank 0. Slot 0 is the process itself. (One of Kitten's runtimes starts one slot
/// later.)
pub const FIRST_SLOT: usize = 1;
/// The last slot that a rank can have. There is one more slot, but Linux has the stack and
/// libraries there, and programs have to work on both kernels.
pub const LAST_SLOT: usize = 254;
/// The maximum number of ranks in a job.
pub const MAX_RANKS: usize = LAST_SLOT - FIRST_SLOT + 1;

/// The address at which every process of the job sees rank `rank`'s memory at `local`.
pub const fn alias(local: usize, rank: usize) -> usize {
    local | (rank + FIRST_SLOT) << SHIFT
}

/// The rank and the address in that rank's own memory for an alias. `None` if the address is not an
/// alias.
pub const fn unalias(address: usize) -> Option<(usize, usize)> {
    match address >> SHIFT {
        slot @ FIRST_SLOT..=LAST_SLOT => Some((slot - FIRST_SLOT, address & (SLOT_BYTES - 1))),
        _ => None,
    }
}

// User addresses have 47 bits: 256 slots.
const_assert!(LAST_SLOT < 1 << (47 - SHIFT));
const_assert_eq!(SLOT_BYTES, 512 << 30);
const_assert_eq!(MAX_RANKS, 254);
const_assert_eq!(alias(0x40_0000, 0), 0x80_0040_0000);
const_assert_eq!(alias(0x40_0000, 1), 0x100_0040_0000);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_leads_back() {
        for rank in [0, 1, 127, MAX_RANKS - 1] {
            for local in [0, 0x40_0000, SLOT_BYTES - 1] {
                assert_eq!(unalias(alias(local, rank)), Some((rank, local)));
                assert_eq!(alias(local, rank), local + ((rank + 1) << SHIFT));
            }
        }
        for local in [0, 0x40_0000, SLOT_BYTES - 1, alias(0, MAX_RANKS)] {
            assert_eq!(unalias(local), None);
        }
    }
}
