//! Moves memory of this process into a file, at the same addresses and with the same content. Uses
//! only raw system calls, because it also runs where the C library must not be used.
#![allow(unsafe_code)]

use super::raw;
use std::ops::Range;
use std::os::fd::RawFd;

/// A range of pages to copy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Piece {
    /// First address.
    pub start: usize,
    /// All pages up to here are copied; beyond, only those that exist.
    pub all_until: usize,
    /// End.
    pub end: usize,
}

/// Pages that may not be read or written, or executed, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Protected {
    /// First address.
    pub start: usize,
    /// End.
    pub end: usize,
    /// The accesses allowed, as for mprotect(2).
    pub protection: i32,
}

/// Whole pages and the range of a file that will replace them.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// First address.
    pub start: usize,
    /// End.
    pub end: usize,
    /// First address and end of pages in between that stay as they are; equal if there are none.
    pub spared: [usize; 2],
    /// The parts to copy. Empty pieces are ignored.
    pub pieces: [Piece; MOST_PIECES],
    /// Parts protected in another way than the rest, which stay so. Empty ones are ignored.
    pub protected: [Protected; MOST_PROTECTED],
    /// Bytes in a page.
    pub page: usize,
    /// The file, which is zero in the range.
    pub file: RawFd,
    /// Start of the range in the file.
    pub offset: u64,
    /// `/proc/self/pagemap`, which shows the existing pages; -1: all pages are copied.
    pub pagemap: RawFd,
}

/// Most pieces of a relocation.
pub const MOST_PIECES: usize = 16;

/// Most stretches of a relocation that are protected in ways of their own.
pub const MOST_PROTECTED: usize = 32;

/// Bits 63 and 62 of a pagemap entry: present, swapped.
const EXISTS: u64 = 0b11 << 62;

impl Relocation {
    /// Copies and maps. Returns 0, or an error number; then the memory's content is unchanged.
    ///
    /// # Safety
    /// The pages are this process's own, and nobody writes to them meanwhile: no other thread and
    /// no handler does, and no frame of this stack is in them.
    pub unsafe fn carry_out(&self) -> i32 {
        // SAFETY: the caller's promise. While nobody else runs, pages may have more rights.
        unsafe {
            let readable = self.protect(|protection| protection | libc::PROT_READ);
            let moved = if readable == 0 { self.copy_and_map() } else { readable };
            let protected = self.protect(|protection| protection);
            if moved == 0 { protected } else { moved }
        }
    }

    /// # Safety
    /// As for [`carry_out`](Self::carry_out), and the pages are readable.
    unsafe fn copy_and_map(&self) -> i32 {
        // SAFETY: the pages are readable. The file range has their content when it replaces them.
        unsafe {
            for piece in &self.pieces {
                let copied = match self.copy(piece.start..piece.all_until) {
                    0 => self.copy_existing(piece.all_until..piece.end),
                    error => error,
                };
                if copied < 0 {
                    return -copied as i32;
                }
            }
            self.map()
        }
    }

    /// Protects what is protected in a way of its own. Returns 0 or an error number.
    ///
    /// # Safety
    /// As for [`carry_out`](Self::carry_out).
    unsafe fn protect(&self, how: impl Fn(i32) -> i32) -> i32 {
        for Protected { start, end, protection } in self.protected {
            if start == end {
                continue;
            }
            // SAFETY: the memory keeps its content, and nobody but the caller, who owns it, can access it now.
            let done = unsafe {
                raw::syscall(libc::SYS_mprotect, [start, end - start, how(protection) as usize])
            };
            if done < 0 {
                return -done as i32;
            }
        }
        0
    }

    /// # Safety
    /// As for [`carry_out`](Self::carry_out).
    unsafe fn map(&self) -> i32 {
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        let flags = (libc::MAP_SHARED | libc::MAP_FIXED) as usize;
        let file = self.file as usize;
        for (start, end) in [(self.start, self.spared[0]), (self.spared[1], self.end)] {
            if start == end {
                continue;
            }
            let offset = self.offset as usize + (start - self.start);
            // SAFETY: the caller owns the pages, and their content is in the file.
            let at = unsafe {
                raw::syscall(libc::SYS_mmap, [start, end - start, protection, flags, file, offset])
            };
            if at < 0 {
                return -at as i32;
            }
        }
        0
    }

    /// Writes these pages into the file.
    ///
    /// # Safety
    /// The pages are readable.
    unsafe fn copy(&self, pages: Range<usize>) -> isize {
        let mut at = pages.start;
        while at < pages.end {
            let offset = self.offset as usize + (at - self.start);
            // SAFETY: the kernel only reads the pages, which the caller guarantees to be readable.
            let done = unsafe {
                raw::syscall(libc::SYS_pwrite64, [self.file as usize, at, pages.end - at, offset])
            };
            match done {
                1.. => at += done as usize,
                0 => return -(libc::EIO as isize),
                error if error == -(libc::EINTR as isize) => {}
                error => return error,
            }
        }
        0
    }

    /// Writes those of these pages that exist into the file.
    ///
    /// # Safety
    /// All are readable.
    unsafe fn copy_existing(&self, pages: Range<usize>) -> isize {
        const ENTRIES: usize = 2048;
        let mut entries = [0u64; ENTRIES];
        let mut at = pages.start;
        while at < pages.end {
            let wanted = ((pages.end - at) / self.page).min(ENTRIES);
            let from = (at / self.page * 8) as u64;
            let bytes = wanted * 8;
            // SAFETY: the array has room for the requested entries. The other pages are some of those that the
            // caller guarantees to be readable.
            unsafe {
                let to = entries.as_mut_ptr().cast();
                if raw::read(self.pagemap, to, bytes, Some(from)) != bytes as isize {
                    return self.copy(at..pages.end);
                }
            }
            let mut run = at..at;
            // What follows ends a run, too.
            for entry in entries[..wanted].iter().chain([&0]) {
                if entry & EXISTS != 0 {
                    run.end += self.page;
                    continue;
                }
                let next = run.end + self.page;
                // SAFETY: pages that exist, of those that the caller guarantees to be readable.
                let error = unsafe { self.copy(run) };
                if error < 0 {
                    return error;
                }
                run = next..next;
            }
            at += wanted * self.page;
        }
        0
    }
}
