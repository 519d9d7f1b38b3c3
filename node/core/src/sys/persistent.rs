//! Files that lie in persistent memory (DAX). A mapping of such a file is the memory itself, without
//! a page cache between, so the processor's own instructions make what is stored there durable.
#![allow(unsafe_code)]

use super::map::{self, Content, OwnMapping, Reserved};
use crate::arch::WriteBack;
use crate::error::Error;
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;

/// The flags of such a mapping. Before the kernel lets a page be written, it has made durable
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
        // SAFETY: the kernel has just found all pages mapped, and no safe code unmaps them meanwhile.
        unsafe { self.0.write_back(bytes) };
        Ok(())
    }
}

/// Maps a file from its start over `at`: as persistent memory if it lies in such memory.
pub fn file_over(at: &Reserved, file: BorrowedFd) -> Result<(), Error> {
    let flags = Persistent::of(file).map_or(libc::MAP_SHARED, |_| FLAGS);
    at.map(Content { flags, file: Some((file, 0)) }).map_err(Error::of("mapping a slot"))
}

/// Maps a peer's file, as [`file_over`]; forked children do not inherit it.
pub fn peers_file_over(at: &Reserved, file: BorrowedFd) -> Result<(), Error> {
    file_over(at, file).inspect_err(|_| at.keep())?;
    at.mark_foreign();
    Ok(())
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
    fn flushing_changes_nothing() {
        let page = map::page_size();
        let mut bytes = vec![0; 5000];
        let start = bytes.as_ptr().addr();
        for (way, number) in WriteBack::all().zip(7..) {
            bytes.fill(number);
            Persistent(way).flush(&(start + 99..start + 5000)).expect("it is mapped");
            Persistent(way).flush(&(start..start)).expect("nothing to do");
            assert!(bytes.iter().all(|byte| *byte == number));
        }
        let [low, high] = OwnMapping::private(2 * page).expect("memory").split(page);
        let both = low.range().start..high.range().end;
        assert!(WriteBack::all().all(|way| Persistent(way).flush(&both).is_ok()));
        drop(high);
        assert!(WriteBack::all().all(|way| Persistent(way).flush(&both).is_err()));
    }
}
