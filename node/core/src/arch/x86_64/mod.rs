//! x86-64.
#![allow(unsafe_code)]

use std::arch::x86_64::{__cpuid_count, _rdtsc, CpuidResult};

pub mod atomics;
pub mod copies;
pub mod kernel;
pub mod pairs;
pub mod stacks;
pub mod write_back;

/// An access that adds two registers adds a constant, too.
pub const ADDS_CONSTANTS: bool = true;
/// How many integer arguments a call passes in registers.
pub const ARGUMENT_REGISTERS: usize = 6;
/// An atomic read-modify-write has a locked instruction, which drains the stores.
pub const EXCHANGES_ARE_FULL_BARRIERS: bool = true;
/// A load waits for earlier stores to addresses that end in the same 12 bits.
pub const DELAYS_LOADS_BEHIND_STORES: bool = true;
/// The kinds of relocations that fill in a function's address: GLOB_DAT and JUMP_SLOT.
pub const FUNCTION_RELOCATIONS: [u32; 2] = [6, 7];
/// A word far from another is reached as cheaply as the next: any distance is part of an access, and so
/// is an index times 8.
pub const REACHES_NEXT_WORDS: bool = false;

/// A counter of time, read in less time than a clock.
#[inline(always)]
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and it accesses no memory.
    unsafe { _rdtsc() }
}

/// About how often [`ticks`] counts in a microsecond: processors have 1 to 4 GHz.
#[inline(always)]
pub const fn ticks_a_microsecond() -> u64 {
    2000
}

/// The processor's description of itself.
fn cpuid(leaf: u32) -> CpuidResult {
    // SAFETY: every x86-64 processor has the instruction. Newer compilers know that.
    #[allow(unused_unsafe)]
    unsafe {
        __cpuid_count(leaf, 0)
    }
}
