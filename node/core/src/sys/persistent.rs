//! Files that lie in persistent memory (DAX). A mapping of such a file is the memory itself, without
//! a page cache between, so the processor's own instructions make what is stored there durable.
#![allow(unsafe_code)]

use super::map::{self, Content, OwnMapping};
use crate::error::Error;
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;

/// What such a mapping is made with. Before the kernel lets a page be written, it has made durable
/// where the page is in the file, so that flushing the page's own bytes is enough.
const FLAGS: libc::c_int = libc::MAP_SHARED_VALIDATE | libc::MAP_SYNC;

/// Memory that keeps its content without power, and how this processor writes its caches back to it.
#[derive(Clone, Copy, Debug)]
pub struct Persistent(WriteBack);

impl Persistent {
    /// The memory that `file` lies in; `None` if the file lies elsewhere, or the kernel or the
    /// processor cannot do it.
    pub fn of(file: BorrowedFd) -> Option<Self> {
        let content = Content { flags: FLAGS, file: Some((file, 0)) };
        // Tried at another place: a fixed mapping that fails can leave a hole.
        drop(OwnMapping::new(content, 0, map::page_size(), libc::PROT_READ).ok()?);
        WriteBack::best().map(Self)
    }

    /// Makes these bytes durable, by whichever process they were written.
    ///
    /// # Errors
    /// If some of them are not mapped.
    pub fn flush(self, bytes: &Range<usize>) -> io::Result<()> {
        let page = map::page_size();
        let start = bytes.start / page * page;
        map::sync(&(start..bytes.end), libc::MS_ASYNC)?;
        self.0.write_back(bytes);
        Ok(())
    }
}

/// Maps a file from its start at `address`, over what is there: as persistent memory if it lies in
/// such memory.
///
/// # Safety
/// As for [`map::shared_over`].
pub unsafe fn file_over(address: usize, bytes: usize, file: BorrowedFd) -> Result<(), Error> {
    let flags = Persistent::of(file).map_or(libc::MAP_SHARED, |_| FLAGS);
    let content = Content { flags, file: Some((file, 0)) };
    // SAFETY: the range is the caller's, who no longer needs its content.
    unsafe { content.over(address, bytes) }.map_err(Error::of("mapping a slot"))
}

#[cfg(target_arch = "x86_64")]
use x86_64::WriteBack;

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::asm;
    use std::arch::x86_64::{__cpuid, __cpuid_count, _mm_clflush, _mm_sfence};
    use std::ops::Range;

    /// Bytes that one instruction writes back.
    const LINE: usize = 64;

    /// The instruction that writes a cache line back, the best last.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum WriteBack {
        /// Also forgets the line, one after the other.
        Clflush,
        /// Also forgets the line.
        Clflushopt,
        /// Keeps the line.
        Clwb,
    }

    impl WriteBack {
        /// The best that this processor has. All of them have the first.
        #[allow(clippy::unnecessary_wraps)] // Other architectures have none.
        pub fn best() -> Option<Self> {
            // SAFETY: every x86-64 processor has the instruction. Newer compilers know that.
            #[allow(unused_unsafe)]
            let (last, features) = unsafe { (__cpuid(0).eax, __cpuid_count(7, 0).ebx) };
            let has = |bit: u32| last >= 7 && features >> bit & 1 == 1;
            Some(match (has(24), has(23)) {
                (true, _) => Self::Clwb,
                (false, true) => Self::Clflushopt,
                (false, false) => Self::Clflush,
            })
        }

        /// Writes the lines of these bytes, which are mapped, back to memory, and waits for that.
        pub fn write_back(self, bytes: &Range<usize>) {
            for line in (bytes.start / LINE * LINE..bytes.end).step_by(LINE) {
                let at = line as *const u8;
                // SAFETY: the instructions change no memory; `best` has seen that the processor
                // has them.
                unsafe {
                    match self {
                        Self::Clflush => _mm_clflush(at),
                        Self::Clflushopt => {
                            asm!("clflushopt [{}]", in(reg) at, options(nostack, preserves_flags));
                        }
                        Self::Clwb => {
                            asm!("clwb [{}]", in(reg) at, options(nostack, preserves_flags));
                        }
                    }
                }
            }
            // SAFETY: every processor of this architecture has it.
            unsafe { _mm_sfence() };
        }
    }
}

/// No instruction of this architecture is known here: such files go through the system.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy, Debug)]
enum WriteBack {}

#[cfg(not(target_arch = "x86_64"))]
impl WriteBack {
    fn best() -> Option<Self> {
        None
    }

    fn write_back(self, _: &Range<usize>) {
        match self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn ordinary_files_are_not_persistent_memory() {
        let file = std::fs::File::open("/proc/self/exe").expect("this program");
        assert!(Persistent::of(file.as_fd()).is_none());
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn flushing_changes_nothing() {
        let page = map::page_size();
        let [low, high] = OwnMapping::private(2 * page).expect("memory").split(page);
        let start = low.range().start;
        let both = start..start + 2 * page;
        let best = WriteBack::best().expect("every processor has one");
        let all = [WriteBack::Clflush, WriteBack::Clflushopt, WriteBack::Clwb];
        let number = (start + 100) as *mut u64;
        for way in all.into_iter().filter(|way| *way <= best) {
            // SAFETY: memory of this test's own.
            unsafe { number.write_unaligned(7) };
            Persistent(way).flush(&(start + 99..start + 5000)).expect("it is mapped");
            Persistent(way).flush(&(start..start)).expect("nothing to do");
            // SAFETY: memory of this test's own, which holds a number.
            assert_eq!(unsafe { number.read_unaligned() }, 7);
        }
        assert!(Persistent(best).flush(&both).is_ok());
        drop(high);
        assert!(Persistent(best).flush(&both).is_err());
    }
}
