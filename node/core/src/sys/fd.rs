//! Memory files: creation, sealing, reading and writing.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::sys::limit::with_file_size;
use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, FcntlArg, SealFlag, fallocate, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::{FileStat, fstat};
use nix::sys::statvfs::fstatvfs;
use nix::unistd::{Whence, ftruncate, lseek};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The flags of all memory files.
const MEMFD: MFdFlags = MFdFlags::MFD_CLOEXEC.union(MFdFlags::MFD_ALLOW_SEALING);

/// Creates an anonymous memory file that can be sealed and is closed on exec.
pub fn memfd(name: &CStr) -> Result<OwnedFd, Error> {
    // Since Linux 6.3 a system can require the flag. Older kernels do not know it.
    const MFD_NOEXEC_SEAL: MFdFlags = MFdFlags::from_bits_retain(8);
    memfd_create(name, MEMFD | MFD_NOEXEC_SEAL).or_else(|_| memfd_create(name, MEMFD)).map_err(
        |errno| {
            Error::of(match errno {
                Errno::ENOSYS | Errno::EPERM => {
                    "memfd_create, without which there is no sealed memory to share (a filter of \
                     system calls, as containers have, must allow it),"
                }
                _ => "memfd_create",
            })(errno)
        },
    )
}

/// Locks the whole file for this open file description (flock). Returns false if another one has it
/// locked.
pub fn try_lock(fd: BorrowedFd<'_>) -> io::Result<bool> {
    flock(fd, libc::LOCK_EX)
}

/// Ends the lock of [`try_lock`] or [`share_lock`] for all copies of this descriptor.
pub fn unlock(fd: BorrowedFd<'_>) {
    // What can be locked can be unlocked.
    let _ = flock(fd, libc::LOCK_UN);
}

/// Not through `nix`, whose locks end with the value that owns the descriptor.
fn flock(fd: BorrowedFd<'_>, kind: libc::c_int) -> io::Result<bool> {
    // A function of the C library, with a type that leaves nothing to promise.
    unsafe extern "C" {
        safe fn flock(fd: BorrowedFd<'_>, kind: libc::c_int) -> libc::c_int;
    }
    if flock(fd, kind | libc::LOCK_NB) == 0 {
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
    let flags = MEMFD | MFdFlags::MFD_HUGETLB | MFdFlags::from_bits_retain(size);
    memfd_create(name, flags).map_err(Error::of("memfd_create of huge pages"))
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
        return Err(Error::of("fallocate")(io::Error::other(why)));
    }
    let length = bytes as libc::off_t;
    with_file_size(bytes, || match fallocate(file, FallocateFlags::empty(), 0, length) {
        Ok(()) => Ok(()),
        Err(Errno::EOPNOTSUPP) => ftruncate(file, length).map_err(Error::of("ftruncate")),
        Err(error) => {
            // Others took the space meanwhile. What was allocated lies behind the former end.
            let _ = ftruncate(file, before.st_size);
            Err(Error::of("fallocate")(error))
        }
    })
}

/// The bytes that this user may still allocate in a file's file system; all there are if it does
/// not say.
fn free_space(file: BorrowedFd) -> Result<u64, Error> {
    let system = fstatvfs(file).map_err(Error::of("fstatvfs"))?;
    Ok(match system.blocks() {
        0 => u64::MAX,
        _ => (system.blocks_available() as u64).saturating_mul(system.fragment_size() as u64),
    })
}

/// Sets the file's size and forbids any later change, so that no peer can make accesses to a
/// mapping raise SIGBUS.
pub fn resize_and_seal(fd: BorrowedFd, bytes: u64) -> Result<(), Error> {
    let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
    with_file_size(bytes, || {
        ftruncate(fd, bytes as libc::off_t).map_err(Error::of("ftruncate of the job's memory file"))
    })?;
    let sealed = fcntl(fd, FcntlArg::F_ADD_SEALS(seals));
    sealed.map(drop).map_err(Error::of("sealing the job's memory file"))
}

/// Whether the file can no longer shrink.
pub fn is_sealed(fd: BorrowedFd) -> Result<bool, Error> {
    let seals = fcntl(fd, FcntlArg::F_GET_SEALS)
        .map_err(Error::of("F_GET_SEALS on the job's memory file"))?;
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
    fd.try_clone_to_owned().map_err(Error::of("duplicating a descriptor"))
}

fn status(fd: BorrowedFd) -> Result<FileStat, Error> {
    fstat(fd).map_err(Error::of("fstat of the job's memory file"))
}

/// fcntl(2), of a command without memory, on a number that this process was told. No `BorrowedFd`
/// stands for it: the descriptor may be closed, or any other file's.
fn fcntl_of_number(number: RawFd, command: libc::c_int, operand: libc::c_int) -> io::Result<i32> {
    // SAFETY: no memory is passed; a number that is not open is an error.
    match unsafe { libc::fcntl(number, command, operand) } {
        -1 => Err(io::Error::last_os_error()),
        answer => Ok(answer),
    }
}

/// Whether a descriptor of this number is open.
pub fn is_open(number: RawFd) -> bool {
    fcntl_of_number(number, libc::F_GETFD, 0).is_ok()
}

/// Lets the program that this process executes next inherit a descriptor.
pub fn pass_on(number: RawFd) -> Result<(), Errno> {
    fcntl_of_number(number, libc::F_SETFD, 0).map(drop).map_err(|_| Errno::last())
}

/// Another descriptor, closed on exec, of the file that has this number now. Opening `/proc/self/fd` says the same.
pub fn copy_of_number(number: RawFd) -> io::Result<OwnedFd> {
    let copy = fcntl_of_number(number, libc::F_DUPFD_CLOEXEC, 0)?;
    // SAFETY: the kernel just gave this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// A copy of the descriptor `number` if it is an open socket.
pub fn socket(number: RawFd) -> Option<File> {
    let copy = copy_of_number(number).ok()?;
    let kind = status(copy.as_fd()).ok()?.st_mode & libc::S_IFMT;
    (kind == libc::S_IFSOCK).then(|| copy.into())
}

/// Takes over a descriptor number from the environment if it is a sealed memory file, and makes it
/// close on exec. A number that now belongs to another file is left alone.
///
/// # Safety
/// If it is a sealed memory file, it was passed to this process for the caller, who takes it over once.
pub unsafe fn inherit(fd: RawFd) -> Result<OwnedFd, Error> {
    let refused = match fcntl_of_number(fd, libc::F_GET_SEALS, 0) {
        Ok(seals) => seals & libc::F_SEAL_SHRINK == 0,
        // Open, but a file that has no seals.
        Err(error) => error.raw_os_error() == Some(libc::EINVAL),
    };
    if refused {
        return Err(Error::NoWay("the descriptor is not a sealed memfd".into()));
    }
    fcntl_of_number(fd, libc::F_SETFD, libc::FD_CLOEXEC)
        .map_err(Error::of("taking over the descriptor that the launcher passed"))?;
    // SAFETY: open (just checked), and the caller's, who takes it over once.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The next range of the file at or after `offset`, before `end`, that holds pages.
pub fn next_data(fd: BorrowedFd, offset: u64, end: u64) -> Option<Range<u64>> {
    let seek = |from: u64, whence| -> Option<u64> {
        lseek(fd, from as libc::off_t, whence).ok()?.try_into().ok()
    };
    let start = seek(offset, Whence::SeekData).filter(|start| *start < end)?;
    Some(start..seek(start, Whence::SeekHole).unwrap_or(end).min(end))
}

/// Frees the memory behind a range of the file.
pub fn punch(fd: BorrowedFd, offset: u64, bytes: u64) {
    let mode = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    // A failure costs memory only.
    let _ = fallocate(fd, mode, offset as libc::off_t, bytes as libc::off_t);
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
