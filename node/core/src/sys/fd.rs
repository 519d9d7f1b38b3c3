//! Memory files: creation, sealing, reading and writing.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::sys::limit::with_file_size;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Creates an anonymous memory file that can be sealed and is closed on exec.
pub fn memfd(name: &CStr) -> Result<OwnedFd, Error> {
    // Since Linux 6.3 a system can require the flag. Older kernels do not know it.
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

/// Locks the whole file for this open file description (flock). Returns false if another one has it
/// locked.
pub fn try_lock(fd: BorrowedFd<'_>) -> io::Result<bool> {
    flock(fd, libc::LOCK_EX)
}

/// Ends the lock of [`try_lock`] or [`share_lock`] for all copies of this descriptor.
pub fn unlock(fd: BorrowedFd<'_>) {
    // SAFETY: the call touches nothing but the open file.
    unsafe { libc::flock(fd.as_raw_fd(), libc::LOCK_UN) };
}

fn flock(fd: BorrowedFd<'_>, kind: libc::c_int) -> io::Result<bool> {
    // SAFETY: the call touches nothing but the open file.
    if unsafe { libc::flock(fd.as_raw_fd(), kind | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        error => Err(error),
    }
}

/// Locks the whole file together with others that call this (flock). Returns false if another open
/// file description has locked it alone.
pub fn share_lock(fd: BorrowedFd<'_>) -> io::Result<bool> {
    flock(fd, libc::LOCK_SH)
}

/// Creates a file as [`memfd`] does, with explicit huge pages of `page` bytes or of the system's
/// default size.
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

/// Makes an ordinary file at least `bytes` bytes long, with all blocks allocated where the file
/// system can do that. The file stays as it is if the file system has too little space.
pub fn extend(file: BorrowedFd, bytes: u64) -> Result<(), Error> {
    let before = status(file)?;
    // `st_blocks` has units of 512 bytes whatever the file system's own are.
    let missing = bytes.saturating_sub(before.st_blocks as u64 * 512);
    let free = free_space(file)?;
    // Asked before, because the attempt takes all space there is before it fails.
    if missing > free {
        let [missing, free] = [missing, free].map(|bytes| bytes >> 20);
        let why = format!("{missing} MiB are missing, and its file system has {free} MiB left");
        return Err(Error::System { call: "fallocate", source: io::Error::other(why) });
    }
    let fd = file.as_raw_fd();
    // SAFETY: no memory is passed.
    with_file_size(bytes, || unsafe {
        if libc::fallocate(fd, 0, 0, bytes as libc::off_t) == 0 {
            return Ok(());
        }
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EOPNOTSUPP) => match libc::ftruncate(fd, bytes as libc::off_t) {
                0 => Ok(()),
                _ => Err(Error::last("ftruncate")),
            },
            _ => {
                // Others took the space meanwhile. What was allocated lies behind the former end.
                libc::ftruncate(fd, before.st_size);
                Err(Error::System { call: "fallocate", source: error })
            }
        }
    })
}

/// The bytes that this user may still allocate in a file's file system; all there are if it does
/// not say.
fn free_space(file: BorrowedFd) -> Result<u64, Error> {
    // SAFETY: `statvfs` consists of integers, for which all-zero is valid.
    let mut system: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: `system` lives through the call, which fills it in.
    match unsafe { libc::fstatvfs(file.as_raw_fd(), &mut system) } {
        0 if system.f_blocks == 0 => Ok(u64::MAX),
        0 => Ok((system.f_bavail as u64).saturating_mul(system.f_frsize as u64)),
        _ => Err(Error::last("fstatvfs")),
    }
}

/// Sets the file's size and forbids any later change, so that no peer can make accesses to a
/// mapping raise SIGBUS.
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

/// The file's inode number.
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

/// A copy of the descriptor `number` if it is an open socket.
///
/// # Safety
/// The number was passed to this process, for its parts to use. Its owner does not close it meanwhile.
pub unsafe fn socket(number: RawFd) -> Option<File> {
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

/// Takes over a descriptor number from the environment if it is a sealed memory file, and makes it
/// close on exec. A number that now belongs to another file is left alone.
///
/// # Safety
/// If it is a sealed memory file, it was passed to this process for the caller, who takes it over once.
pub unsafe fn inherit(fd: RawFd) -> Result<OwnedFd, Error> {
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
    // SAFETY: open (just checked), and the caller's, who takes it over once.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The next range of the file at or after `offset`, before `end`, that holds pages.
pub fn next_data(fd: BorrowedFd, offset: u64, end: u64) -> Option<Range<u64>> {
    let seek = |from: u64, whence| {
        // SAFETY: no memory is passed.
        let at = unsafe { libc::lseek(fd.as_raw_fd(), from as libc::off_t, whence) };
        (at >= 0).then_some(at as u64)
    };
    let start = seek(offset, libc::SEEK_DATA).filter(|start| *start < end)?;
    Some(start..seek(start, libc::SEEK_HOLE).unwrap_or(end).min(end))
}

/// Frees the memory behind a range of the file.
pub fn punch(fd: BorrowedFd, offset: u64, bytes: u64) {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: no memory is passed. A failure costs memory only.
    unsafe { libc::fallocate(fd.as_raw_fd(), mode, offset as i64, bytes as i64) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_room_stays_as_it_is() {
        let path = std::env::temp_dir().join(format!("onenode-extend-{}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        extend(file.as_fd(), 10_000).unwrap();
        let before = status(file.as_fd()).unwrap();
        assert!(before.st_size == 10_000);
        let too_much = free_space(file.as_fd()).unwrap().saturating_add(1 << 30);
        let refused = extend(file.as_fd(), too_much.min(i64::MAX as u64));
        let after = status(file.as_fd()).unwrap();
        assert!(refused.is_err());
        assert_eq!((after.st_size, after.st_blocks), (before.st_size, before.st_blocks));
    }
}
