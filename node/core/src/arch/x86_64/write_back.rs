//! Writing caches back to memory.
#![allow(unsafe_code)]

use super::cpuid;
use std::arch::asm;
use std::arch::x86_64::{_mm_clflush, _mm_sfence};
use std::ops::Range;

/// Bytes that one instruction writes back.
const LINE: usize = 64;

/// The instruction that writes a cache line back, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WriteBack {
    /// Removes the line from the caches, one line after the other.
    Clflush,
    /// Removes the line from the caches.
    Clflushopt,
    /// Keeps the line in the caches.
    Clwb,
}

impl WriteBack {
    /// The best that this processor has. All of them have the first.
    #[allow(clippy::unnecessary_wraps)] // Other architectures have none.
    pub fn best() -> Option<Self> {
        let (last, features) = (cpuid(0).eax, cpuid(7).ebx);
        let has = |bit: u32| last >= 7 && features >> bit & 1 == 1;
        Some(match (has(24), has(23)) {
            (true, _) => Self::Clwb,
            (false, true) => Self::Clflushopt,
            (false, false) => Self::Clflush,
        })
    }

    /// All that this processor has.
    pub fn all() -> impl Iterator<Item = Self> {
        let ways = [Self::Clflush, Self::Clflushopt, Self::Clwb];
        ways.into_iter().filter(|way| Self::best().is_some_and(|best| *way <= best))
    }

    /// Writes the lines of these bytes back to memory, and waits for that.
    ///
    /// # Safety
    /// The bytes are mapped: the instructions fault elsewhere.
    pub unsafe fn write_back(self, bytes: &Range<usize>) {
        // SAFETY: the instructions change no memory, and the caller guarantees that it is mapped. `best` has seen
        // that the processor has the first ones, and all have the last.
        unsafe {
            for line in (bytes.start / LINE * LINE..bytes.end).step_by(LINE) {
                let at = line as *const u8;
                match self {
                    Self::Clflush => _mm_clflush(at),
                    Self::Clflushopt => {
                        asm!("clflushopt [{}]", in(reg) at, options(nostack, preserves_flags));
                    }
                    Self::Clwb => asm!("clwb [{}]", in(reg) at, options(nostack, preserves_flags)),
                }
            }
            _mm_sfence();
        }
    }
}
