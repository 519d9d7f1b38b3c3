//! Memory files: creation, sealing, reading and writing.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::sys::limit::with_file_size;
use std::ffi::CStr;
use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Creates an anonymous memory file that can be sealed and is closed on exec.
pub fn memfd(name: &CStr) -> Result<OwnedFd, Error> {
    // Since Linux 6.3 a system can insist on the flag; before, it is unknown.
    const MFD_NOEXEC_SEAL: libc::c_uint = 8;
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    for flags in [flags | MFD_NOEXEC_SEAL, flags] {
        // SAFETY: `name` is a C string; the call touches nothing else.
        let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
        if fd >= 0 {
            // SAFETY: the kernel just gave this descriptor to us alone.
            return Ok(unsafe { OwnedFd::from_raw_fd(fd) });
        }
    }
    Err(Error::last("memfd_create"))
}

/// Creates a file as [`memfd`] does, of explicit huge pages of `page` bytes or the
/// system's default.
pub fn huge_memfd(name: &CStr, page: Option<usize>) -> Result<OwnedFd, Error> {
    let size = page.map_or(0, |page| page.trailing_zeros() << libc::MFD_HUGE_SHIFT);
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING | libc::MFD_HUGETLB | size;
    // SAFETY: `name` is a C string; the call touches nothing else.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    if fd < 0 {
        return Err(Error::last("memfd_create of huge pages"));
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Makes an ordinary file at least `bytes` bytes long, with blocks for all of them where the file
/// system can set them aside.
pub fn extend(file: BorrowedFd, bytes: u64) -> Result<(), Error> {
    let fd = file.as_raw_fd();
    // SAFETY: no memory is passed.
    with_file_size(bytes, || unsafe {
        if libc::fallocate(fd, 0, 0, bytes as libc::off_t) == 0 {
            return Ok(());
        }
        let error = std::io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EOPNOTSUPP) {
            return Err(Error::System { call: "fallocate", source: error });
        }
        match libc::ftruncate(fd, bytes as libc::off_t) {
            0 => Ok(()),
            _ => Err(Error::last("ftruncate")),
        }
    })
}

/// Gives the file its size and forbids ever changing it, so that no peer can
/// turn a mapping into SIGBUS.
pub fn resize_and_seal(fd: BorrowedFd, bytes: u64) -> Result<(), Error> {
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    with_file_size(bytes, || {
        // SAFETY: a call on a descriptor we borrow; no memory is passed.
        match unsafe { libc::ftruncate(fd.as_raw_fd(), bytes as libc::off_t) } {
            0 => Ok(()),
            _ => Err(Error::last("ftruncate of the job's memory file")),
        }
    })?;
    // SAFETY: as above.
    unsafe {
        if libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, seals) != 0 {
            return Err(Error::last("sealing the job's memory file"));
        }
    }
    Ok(())
}

/// Whether the file can no longer shrink.
pub fn is_sealed(fd: BorrowedFd) -> Result<bool, Error> {
    // SAFETY: no memory is passed.
    let seals = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) };
    if seals < 0 {
        return Err(Error::last("F_GET_SEALS on the job's memory file"));
    }
    Ok(seals & libc::F_SEAL_SHRINK != 0)
}

/// The file's size.
pub fn size(fd: BorrowedFd) -> Result<u64, Error> {
    Ok(status(fd)?.st_size as u64)
}

/// The size of the pages that a memory file is made of.
pub fn page_size(fd: BorrowedFd) -> Result<usize, Error> {
    Ok(status(fd)?.st_blksize as usize)
}

/// The file's number among its kind.
pub fn inode(fd: BorrowedFd) -> Result<u64, Error> {
    Ok(status(fd)?.st_ino)
}

/// Another descriptor of the same file, closed on exec.
pub fn duplicate(fd: BorrowedFd) -> Result<OwnedFd, Error> {
    fd.try_clone_to_owned()
        .map_err(|source| Error::System { call: "duplicating a descriptor", source })
}

fn status(fd: BorrowedFd) -> Result<libc::stat, Error> {
    // SAFETY: all-zero bytes are a valid `stat`.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is a local the call fills.
    if unsafe { libc::fstat(fd.as_raw_fd(), &mut stat) } != 0 {
        return Err(Error::last("fstat of the job's memory file"));
    }
    Ok(stat)
}

/// A copy of the descriptor `number`, if it is an open socket.
pub fn socket(number: RawFd) -> Option<File> {
    // SAFETY: no memory is passed; a bad number is an error, not undefined.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return None;
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    let copy = unsafe { OwnedFd::from_raw_fd(copy) };
    let kind = status(copy.as_fd()).ok()?.st_mode & libc::S_IFMT;
    (kind == libc::S_IFSOCK).then(|| copy.into())
}

/// Takes over a descriptor number that the environment named, if it is a sealed memory file, and
/// closes it on exec. A number that has gone to another file is left alone.
pub fn inherit(fd: RawFd) -> Result<OwnedFd, Error> {
    // SAFETY: no memory is passed; a bad number is an error, not undefined.
    let seals = unsafe { libc::fcntl(fd, libc::F_GET_SEALS) };
    let is_open =
        seals >= 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL);
    if is_open && (seals < 0 || seals & libc::F_SEAL_SHRINK == 0) {
        return Err(Error::NoWay("the descriptor is not a sealed memfd".into()));
    }
    // SAFETY: no memory is passed; a bad number is an error, not undefined.
    if fd < 0 || unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } != 0 {
        return Err(Error::last("taking over the descriptor that the launcher passed"));
    }
    // SAFETY: open (just checked), and the launcher left it to this library.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The next stretch of the file at or after `offset`, before `end`, that holds pages.
pub fn next_data(fd: BorrowedFd, offset: u64, end: u64) -> Option<Range<u64>> {
    let seek = |from: u64, whence| {
        // SAFETY: no memory is passed.
        let at = unsafe { libc::lseek(fd.as_raw_fd(), from as libc::off_t, whence) };
        (at >= 0).then_some(at as u64)
    };
    let start = seek(offset, libc::SEEK_DATA).filter(|start| *start < end)?;
    Some(start..seek(start, libc::SEEK_HOLE).unwrap_or(end).min(end))
}

/// Gives the memory behind a stretch of the file back.
pub fn punch(fd: BorrowedFd, offset: u64, bytes: u64) {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: no memory is passed. A failure costs memory only.
    unsafe { libc::fallocate(fd.as_raw_fd(), mode, offset as i64, bytes as i64) };
}
