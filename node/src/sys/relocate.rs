//! Memory of this process changes places with a file, at the same addresses and with the same
//! content. Raw system calls only: this also runs where the C library must not be touched.
#![allow(unsafe_code)]

use super::raw;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::RawFd;

/// Pages to be copied.
#[derive(Clone, Copy, Debug, Default)]
pub struct Piece {
    /// First address.
    pub start: usize,
    /// Up to here all pages are copied; beyond, those that exist.
    pub all_until: usize,
    /// End.
    pub end: usize,
}

/// Whole pages and the stretch of a file that is to take their place.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// First address.
    pub start: usize,
    /// End.
    pub end: usize,
    /// First address and end of pages in between that stay what they are; equal if there are none.
    pub spared: [usize; 2],
    /// What is copied; empty ones do not count.
    pub pieces: [Piece; MOST_PIECES],
    /// Bytes in a page.
    pub page: usize,
    /// The file, which is zeros there.
    pub file: RawFd,
    /// Where in the file.
    pub offset: u64,
    /// `/proc/self/pagemap`, which tells what pages exist; -1: all are copied.
    pub pagemap: RawFd,
}

/// A relocation has at most so many pieces.
pub const MOST_PIECES: usize = 16;

/// Bits 63 and 62 of a pagemap's entry: present, swapped.
const EXISTS: u64 = 0b11 << 62;

impl Relocation {
    /// Copies and maps. Returns 0 or an error number, and then the memory's content is as it was.
    ///
    /// # Safety
    /// The pages are this process's own, and nobody writes to them meanwhile: no other thread,
    /// no handler, and no frame of this stack lies there.
    pub unsafe fn carry_out(&self) -> i32 {
        // SAFETY: the pages are readable, and the file's stretch holds what they hold when it
        // takes their place.
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
            // SAFETY: the caller's own pages, whose content is in the file.
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
    /// They are readable.
    unsafe fn copy(&self, pages: Range<usize>) -> isize {
        let mut at = pages.start;
        while at < pages.end {
            let offset = self.offset as usize + (at - self.start);
            // SAFETY: readable by the caller's promise.
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

    /// Writes those of these pages that exist.
    ///
    /// # Safety
    /// All are readable.
    unsafe fn copy_existing(&self, pages: Range<usize>) -> isize {
        const ENTRIES: usize = 2048;
        let mut entries = [MaybeUninit::<u64>::uninit(); ENTRIES];
        let mut at = pages.start;
        while at < pages.end {
            let wanted = ((pages.end - at) / self.page).min(ENTRIES);
            let from = (at / self.page * 8) as u64;
            let bytes = wanted * 8;
            // SAFETY: the array has room for the entries that are wanted.
            let got =
                unsafe { raw::read(self.pagemap, entries.as_mut_ptr().cast(), bytes, Some(from)) };
            if got != bytes as isize {
                // SAFETY: the caller's promise.
                return unsafe { self.copy(at..pages.end) };
            }
            let mut run = at..at;
            for entry in entries.iter().take(wanted) {
                // SAFETY: the call has filled as many.
                if unsafe { entry.assume_init() } & EXISTS != 0 {
                    at += self.page;
                    run.end = at;
                    continue;
                }
                // SAFETY: the caller's promise.
                let error = unsafe { self.copy(run) };
                if error < 0 {
                    return error;
                }
                at += self.page;
                run = at..at;
            }
            // SAFETY: the caller's promise.
            let error = unsafe { self.copy(run) };
            if error < 0 {
                return error;
            }
        }
        0
    }
}
