//! AArch64.
#![allow(unsafe_code)]

use std::arch::asm;

pub mod atomics;
pub mod copies;
pub mod kernel;
pub mod pairs;
pub mod stacks;
pub mod write_back;

/// An access that adds two registers adds no constant.
pub const ADDS_CONSTANTS: bool = false;
/// How many integer arguments a call passes in registers.
pub const ARGUMENT_REGISTERS: usize = 8;
/// A read-modify-write may be a loop of exclusive accesses, into which later ones can move.
pub const EXCHANGES_ARE_FULL_BARRIERS: bool = false;
/// Loads are not held up by stores to other addresses.
pub const DELAYS_LOADS_BEHIND_STORES: bool = false;
/// The kinds of relocations that fill in a function's address: GLOB_DAT and JUMP_SLOT.
pub const FUNCTION_RELOCATIONS: [u32; 2] = [1025, 1026];
/// A word near another is reached more cheaply than one far from it: distances in an access are short.
pub const REACHES_NEXT_WORDS: bool = true;

/// A counter of time, read in less time than a clock.
#[inline(always)]
pub fn ticks() -> u64 {
    let ticks;
    // SAFETY: reads a counter that Linux lets programs read.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

/// How often [`ticks`] counts in a microsecond.
#[inline(always)]
pub fn ticks_a_microsecond() -> u64 {
    let hertz: u64;
    // SAFETY: reads a number that Linux lets programs read.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) hertz, options(nomem, nostack, preserves_flags)) };
    hertz.div_ceil(1_000_000)
}
