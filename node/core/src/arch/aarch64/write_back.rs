//! Writing caches back to memory.
#![allow(unsafe_code)]

use std::arch::asm;
use std::ops::Range;

/// How a cache line is written back: to the point from which memory keeps it without power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteBack {
    /// Bytes that one instruction writes back.
    line: usize,
}

impl WriteBack {
    /// The instruction `dc cvap`, if this processor has it and the kernel allows it.
    pub fn best() -> Option<Self> {
        /// The kernel's word for the instruction: `HWCAP_DCPOP` of `asm/hwcap.h`.
        const HWCAP_DCPOP: libc::c_ulong = 1 << 16;
        let kinds: usize;
        // SAFETY: reads a register that the kernel lets programs read, or reads for them.
        unsafe {
            asm!("mrs {}, ctr_el0", out(reg) kinds, options(nomem, nostack, preserves_flags))
        };
        // Bits 16 to 19: the logarithm of the words in the smallest line of all data caches.
        let line = 4 << (kinds >> 16 & 0xf);
        // SAFETY: no memory is passed.
        let has = unsafe { libc::getauxval(libc::AT_HWCAP) } & HWCAP_DCPOP != 0;
        has.then_some(Self { line })
    }

    /// All that this processor has.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::best().into_iter()
    }

    /// Writes the lines of these bytes back to memory, and waits for that.
    ///
    /// # Safety
    /// The bytes are mapped: the instruction faults elsewhere.
    pub unsafe fn write_back(self, bytes: &Range<usize>) {
        // SAFETY: the instructions change no memory, and the caller guarantees that it is mapped. `best` has seen
        // that the processor has the first one, and all have the last.
        unsafe {
            for line in (bytes.start / self.line * self.line..bytes.end).step_by(self.line) {
                // `dc cvap`, which assemblers know from Armv8.2 on only.
                asm!("sys #3, c7, c12, #1, {}", in(reg) line, options(nostack, preserves_flags));
            }
            asm!("dsb sy", options(nostack, preserves_flags));
        }
    }
}
