//! Whether this is still the process that made a value, or a forked child of it. Needs no system
//! call each time: a special page is zeroed in every child.
#![allow(unsafe_code)]

use crate::atomics::{AtomicU32, Ordering};
use crate::sys::{map, process};

/// The process that made this value.
#[derive(Debug)]
pub struct Origin {
    pid: u32,
    /// The address of a page that starts with a 1 here and with zeros in forked children. 0: the
    /// system has no such pages (Linux has them since 4.14).
    page: usize,
}

impl Origin {
    /// This process.
    pub fn here() -> Self {
        let bytes = map::page_size();
        let page = map::private_anywhere(bytes).unwrap_or(0);
        let origin = Self { pid: process::pid(), page };
        if page == 0 {
            return origin;
        }
        // SAFETY: advice about a page that was just mapped.
        if unsafe { libc::madvise(page as *mut _, bytes, libc::MADV_WIPEONFORK) } != 0 {
            // SAFETY: the same page, to which nothing refers.
            unsafe { map::unmap(page as *mut u8, bytes) };
            return Self { page: 0, ..origin };
        }
        origin.word(page).store(1, Ordering::Relaxed);
        origin
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether this process made the value.
    #[inline(always)]
    pub fn is_here(&self) -> bool {
        match self.page {
            0 => process::pid() == self.pid,
            page => self.word(page).load(Ordering::Relaxed) == 1,
        }
    }

    fn word(&self, page: usize) -> &AtomicU32 {
        // SAFETY: the start of this value's own page, which lives as long; valid for any bytes.
        unsafe { &*(page as *const AtomicU32) }
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        if self.page != 0 {
            // SAFETY: this value's own page, to which nothing refers.
            unsafe { map::unmap(self.page as *mut u8, map::page_size()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forked_child_is_another_process() {
        let origin = Origin::here();
        assert!(origin.is_here() && origin.pid() == process::pid());
        // SAFETY: the child only reads memory and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(origin.is_here())) };
        }
        let mut status = -1;
        // SAFETY: waits for the child just made; the call fills the local.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        assert!(origin.is_here());
    }
}
