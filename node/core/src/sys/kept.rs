//! A file that is needed for the life of the process, although the program may close any descriptor
//! (`closefrom`, daemons, shells) and reuse its number for a file of its own.
#![allow(unsafe_code)]

use crate::atomics::{AtomicI32, Ordering};
use crate::error::Error;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// An open file, identified by its device and inode, not by its number alone.
#[derive(Debug)]
pub struct IdentifiedFile {
    number: AtomicI32,
    identity: (u64, u64),
}

/// Device and inode of the open file `number`, if it is open.
fn identity(number: RawFd) -> Option<(u64, u64)> {
    // SAFETY: a file is only asked for its status here, and never closed.
    let file = unsafe { ManuallyDrop::new(<File as std::os::fd::FromRawFd>::from_raw_fd(number)) };
    file.metadata().ok().map(|status| (status.dev(), status.ino()))
}

impl IdentifiedFile {
    /// Keeps `file`.
    pub fn new(file: OwnedFd) -> Result<Self, Error> {
        let Some(identity) = identity(file.as_raw_fd()) else {
            return Err(Error::last("fstat of the job's memory file"));
        };
        Ok(Self { number: AtomicI32::new(file.into_raw_fd()), identity })
    }

    /// Its current number, for other processes of this user that look for it.
    pub fn number(&self) -> RawFd {
        self.number.load(Ordering::Relaxed)
    }

    fn is_ours(&self, number: RawFd) -> bool {
        number >= 0 && identity(number) == Some(self.identity)
    }

    /// The file. If the program has closed the descriptor, the file is opened again through one of
    /// `elsewhere`: the paths of other processes' descriptors for it.
    pub fn get(&self, elsewhere: impl Iterator<Item = PathBuf>) -> Result<BorrowedFd<'_>, Error> {
        let number = self.number();
        let number = if self.is_ours(number) { number } else { self.reopen(number, elsewhere)? };
        // SAFETY: it was open just now. If the program closes it at this moment, the caller's
        // system call fails like any other call on a bad descriptor.
        Ok(unsafe { BorrowedFd::borrow_raw(number) })
    }

    fn reopen(
        &self,
        lost: RawFd,
        mut elsewhere: impl Iterator<Item = PathBuf>,
    ) -> Result<RawFd, Error> {
        let found = elsewhere.find_map(|path| {
            let file = File::options().read(true).write(true).open(path).ok()?;
            self.is_ours(file.as_raw_fd()).then_some(file)
        });
        let Some(file) = found else {
            return Err(Error::NoWay(format!(
                "the program has closed descriptor {lost}, which is this library's (closefrom, \
                     for example), and no other process of the job has the file open; expected \
                     the program to close its own descriptors only"
            )));
        };
        // The lost number may belong to the program by now, so it is left alone.
        let new = file.as_raw_fd();
        match self.number.compare_exchange(lost, new, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Ok(file.into_raw_fd()),
            Err(by_another_thread) => Ok(by_another_thread),
        }
    }
}

impl Drop for IdentifiedFile {
    fn drop(&mut self) {
        let number = self.number();
        if self.is_ours(number) {
            // SAFETY: this value's own descriptor, and nobody borrows it any more.
            drop(unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(number) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::fd;
    use nix::unistd::close;
    use std::io::{Read, Write};
    use std::iter::{empty, once};

    #[test]
    fn a_closed_file_is_found_again_and_a_reused_number_is_left_alone() {
        let file = fd::memfd(c"kept").expect("a memory file");
        File::from(file.try_clone().expect("a copy")).write_all(b"kept").expect("written");
        let other = file.try_clone().expect("a copy");
        let elsewhere = PathBuf::from(format!("/proc/self/fd/{}", other.as_raw_fd()));
        let kept = IdentifiedFile::new(file).expect("kept");

        let lost = kept.number();
        close(lost).expect("closed behind its owner's back");
        let users = File::open("/dev/null").expect("the user's file");
        let missing = PathBuf::from("/nonexistent");
        let found = kept.get([missing, elsewhere].into_iter()).expect("found again");
        assert_ne!(found.as_raw_fd(), lost);
        let mut text = String::new();
        let copy = found.try_clone_to_owned().expect("a copy");
        let mut copy = File::from(copy);
        std::io::Seek::rewind(&mut copy).expect("rewound");
        copy.read_to_string(&mut text).expect("read");
        assert_eq!(text, "kept");
        drop(kept);
        assert!(users.metadata().is_ok(), "the user's file is still open");
    }

    #[test]
    fn a_file_that_nobody_has_is_an_error_that_names_the_descriptor() {
        let kept = IdentifiedFile::new(fd::memfd(c"kept").expect("a memory file")).expect("kept");
        let lost = kept.number();
        close(lost).expect("closed behind its owner's back");
        let error = kept.get(empty()).expect_err("nowhere to be found").to_string();
        assert!(error.contains(&format!("descriptor {lost}")), "{error}");
        let other = PathBuf::from("/dev/null");
        assert!(kept.get(once(other)).is_err(), "another file is not taken for it");
    }
}
