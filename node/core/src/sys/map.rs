//! Mappings: reservations, and shared memory mapped over them.
#![allow(unsafe_code)]

use crate::error::Error;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

const READ_WRITE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;
const RESERVE: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// Bytes in a page.
pub fn page_size() -> usize {
    // SAFETY: the call takes no pointer.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

fn mapped(at: *mut libc::c_void, call: &'static str) -> Result<usize, Error> {
    if at == libc::MAP_FAILED { Err(Error::last(call)) } else { Ok(at as usize) }
}

/// Maps a range of `fd` at any free address.
pub fn shared_anywhere(fd: BorrowedFd, offset: u64, bytes: usize) -> Result<NonNull<u8>, Error> {
    // SAFETY: a new mapping at an address that the kernel chooses replaces nothing.
    let at = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            READ_WRITE,
            libc::MAP_SHARED,
            fd.as_raw_fd(),
            offset as libc::off_t,
        )
    };
    mapped(at, "mapping the control area")?;
    NonNull::new(at.cast()).ok_or_else(|| Error::last("mapping the control area"))
}

/// Reserves inaccessible address space at any free address.
pub fn reserve(bytes: usize) -> Result<usize, Error> {
    // SAFETY: as for `shared_anywhere`.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, RESERVE, -1, 0) };
    mapped(at, "reserving address space for the peers' mirrors")
        .inspect(|at| dump(&(*at..at + bytes), false))
}

/// Reserves `bytes` of address space at `address`, or nothing if any of it is in use.
pub fn reserve_at(address: usize, bytes: usize) -> Option<usize> {
    let flags = RESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: MAP_FIXED_NOREPLACE never replaces a mapping.
    let at = unsafe { libc::mmap(address as *mut _, bytes, libc::PROT_NONE, flags, -1, 0) };
    if at == libc::MAP_FAILED {
        return None;
    }
    if at as usize != address {
        // Kernels before 4.17 take the address as a hint.
        // SAFETY: the mapping was made above, and nobody else knows of it.
        unsafe { unmap(at.cast(), bytes) };
        return None;
    }
    // Some debuggers would include even reserved address space in a core dump.
    dump(&(address..address + bytes), false);
    Some(address)
}

/// Whether the page at `address` is mapped.
pub fn is_mapped(address: usize) -> bool {
    // SAFETY: changes nothing, and fails if the page is not mapped.
    unsafe { libc::msync(address as *mut _, 1, libc::MS_ASYNC) == 0 }
}

/// Reserves all of these ranges, or none; returns the first range that is in use as the error.
pub fn reserve_all(places: &[Range<usize>]) -> Result<(), Range<usize>> {
    for (index, place) in places.iter().enumerate() {
        if reserve_at(place.start, place.len()).is_none() {
            for reserved in &places[..index] {
                // SAFETY: just reserved, and nobody else knows of it.
                unsafe { unmap(reserved.start as *mut u8, reserved.len()) };
            }
            return Err(place.clone());
        }
    }
    Ok(())
}

/// Maps a range of `fd` at `address`, replacing any mapping there.
///
/// # Safety
/// `address..address + bytes` belongs to the caller, who no longer needs its content or has copied
/// it to that range of the file.
pub unsafe fn shared_over(
    address: usize,
    bytes: usize,
    fd: BorrowedFd,
    offset: u64,
) -> Result<(), Error> {
    // SAFETY: the range is the caller's, and what it held is no longer needed, as is asked for.
    unsafe { over(address, bytes, libc::MAP_SHARED, fd, offset) }
}

/// As [`shared_over`], with flags that say how it is shared.
///
/// # Safety
/// As for [`shared_over`].
pub(super) unsafe fn over(
    address: usize,
    bytes: usize,
    flags: libc::c_int,
    fd: BorrowedFd,
    offset: u64,
) -> Result<(), Error> {
    // SAFETY: the caller owns the range that MAP_FIXED replaces.
    let at = unsafe {
        libc::mmap(
            address as *mut _,
            bytes,
            READ_WRITE,
            flags | libc::MAP_FIXED,
            fd.as_raw_fd(),
            offset as libc::off_t,
        )
    };
    mapped(at, "mapping a slot").map(drop)
}

/// Maps private zero pages at `address`, replacing any mapping there.
///
/// # Safety
/// `address..address + bytes` belongs to the caller, who no longer needs its content.
pub unsafe fn private_zeros_over(address: usize, bytes: usize) -> Result<(), Error> {
    let flags = RESERVE | libc::MAP_FIXED;
    // SAFETY: the caller guarantees that it owns the range and no longer needs its content.
    let at = unsafe { libc::mmap(address as *mut _, bytes, READ_WRITE, flags, -1, 0) };
    mapped(at, "mapping the symmetric heap").map(drop)
}

/// Maps explicit huge pages of `page` bytes at `address`, replacing any mapping there: a range of
/// `file`, or private pages. The kernel reserves all of them for this mapping, so that no later
/// access can run out of pages.
///
/// # Safety
/// `address..address + bytes` belongs to the caller, who no longer needs its content, and is
/// reserved. If there are too few pages, it stays reserved.
pub unsafe fn huge_over(
    address: usize,
    bytes: usize,
    page: usize,
    file: Option<(BorrowedFd, u64)>,
) -> Result<(), Error> {
    let (fd, offset, flags) = match file {
        Some((file, offset)) => (file.as_raw_fd(), offset, libc::MAP_SHARED),
        None => {
            let size = (page.trailing_zeros() as libc::c_int) << libc::MAP_HUGE_SHIFT;
            (-1, 0, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB | size)
        }
    };
    let map = |at: usize, fixed: libc::c_int| {
        // SAFETY: without MAP_FIXED the call replaces nothing; with it, the caller's own range.
        let at = unsafe {
            libc::mmap(at as *mut _, bytes, READ_WRITE, flags | fixed, fd, offset as libc::off_t)
        };
        mapped(at, "mapping huge pages")
    };
    // A fixed mapping that fails can leave a hole, so first check that there are enough pages.
    let trial = map(0, 0)?;
    // SAFETY: just mapped, and nobody else knows of it.
    unsafe { unmap(trial as *mut u8, bytes) };
    map(address, libc::MAP_FIXED).map(drop).inspect_err(|_| {
        // Another process has taken the pages in between.
        reserve_at(address, bytes);
    })
}

/// Advises the kernel to use transparent huge pages.
pub fn advise_huge(address: usize, bytes: usize) -> Result<(), Error> {
    // SAFETY: the advice does not change the content of the memory.
    match unsafe { libc::madvise(address as *mut _, bytes, libc::MADV_HUGEPAGE) } {
        0 => Ok(()),
        _ => Err(Error::last("madvise(MADV_HUGEPAGE)")),
    }
}

/// Creates the pages of a mapping now instead of at the first access. No byte changes, whatever is
/// mapped there: the kernel does what it does at a write, without the write, and refuses what is not
/// mapped or not writable.
pub fn populate(address: usize, bytes: usize) -> std::io::Result<()> {
    // SAFETY: no byte changes, and nothing is unmapped.
    match unsafe { libc::madvise(address as *mut _, bytes, libc::MADV_POPULATE_WRITE) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Writes these pages of a file mapping back to the file, and waits until that is done.
pub fn write_back(pages: &Range<usize>) -> std::io::Result<()> {
    // SAFETY: no byte changes, and the kernel refuses what is not mapped.
    match unsafe { libc::msync(pages.start as *mut _, pages.len(), libc::MS_SYNC) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Frees the pages of private memory, which then reads as zeros.
///
/// # Safety
/// The range belongs to the caller, who gives up its content.
pub unsafe fn discard(address: usize, bytes: usize) {
    // SAFETY: the range stays mapped, and the caller gives up its content.
    unsafe { libc::madvise(address as *mut _, bytes, libc::MADV_DONTNEED) };
}

/// Maps private zero pages at any free address.
pub fn private_anywhere(bytes: usize) -> Result<usize, Error> {
    // SAFETY: as for `shared_anywhere`.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, READ_WRITE, RESERVE, -1, 0) };
    mapped(at, "reserving private memory")
}

/// Maps again, from the page at `from` on, `bytes` bytes of the file that is mapped there: over
/// `target`, or at any free address.
///
/// # Safety
/// `from` is in a shared mapping of a file that is that long. The target, if any, is a range of the
/// caller's, and what it held is no longer needed.
pub(super) unsafe fn again(
    from: usize,
    bytes: usize,
    target: Option<usize>,
) -> Result<usize, Error> {
    let flags = libc::MREMAP_MAYMOVE | target.map_or(0, |_| libc::MREMAP_FIXED);
    let to = target.unwrap_or(0) as *mut libc::c_void;
    // SAFETY: an old size of 0 leaves the old mapping; the caller owns the range that is replaced.
    let at = unsafe { libc::mremap(from as *mut _, 0, bytes, flags, to) };
    mapped(at, "mapping the job's memory file again")
}

/// Frees the memory of a file behind a mapping of it.
///
/// # Safety
/// The range is a shared, writable mapping of the caller's, and nobody needs its content.
pub(super) unsafe fn remove(range: &Range<usize>) {
    // SAFETY: the range stays mapped, and its content is given up. A failure costs memory only.
    unsafe { libc::madvise(range.start as *mut _, range.len(), libc::MADV_REMOVE) };
}

/// Moves a mapping over `to` in one step.
///
/// # Safety
/// The caller owns both ranges, and nothing else refers to `from`.
pub unsafe fn move_over(from: usize, bytes: usize, to: usize) -> Result<(), Error> {
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: the caller guarantees that it owns both ranges and that nothing else refers to
    // `from`.
    let at = unsafe { libc::mremap(from as *mut _, bytes, bytes, flags, to as *mut libc::c_void) };
    mapped(at, "moving a private copy over the data segment").map(drop)
}

/// Removes a mapping.
///
/// # Safety
/// Nothing refers to the range any more.
pub unsafe fn unmap(at: *mut u8, bytes: usize) {
    // SAFETY: the caller guarantees that nothing refers to the range any more.
    unsafe { libc::munmap(at.cast(), bytes) };
}

/// Sets whether forked children inherit a mapping.
///
/// # Safety
/// The range belongs to the caller. If it is not inherited, no forked child accesses it before
/// something else is mapped there, or expects it to be.
pub unsafe fn inherit(range: &Range<usize>, inherited: bool) -> bool {
    let advice = if inherited { libc::MADV_DOFORK } else { libc::MADV_DONTFORK };
    // SAFETY: nothing changes for this process, and its children do not need the range.
    unsafe { libc::madvise(range.start as *mut _, range.len(), advice) == 0 }
}

/// Sets whether core dumps include a range. Only advice, like [`mark_foreign`].
pub fn dump(range: &Range<usize>, dumped: bool) {
    let advice = if dumped { libc::MADV_DODUMP } else { libc::MADV_DONTDUMP };
    // SAFETY: nothing changes for this process.
    unsafe { libc::madvise(range.start as *mut _, range.len(), advice) };
}

/// Sets whether a mapped range can be read and written.
///
/// # Safety
/// The range belongs to the caller. Nobody accesses it while it is not accessible, and all of it may
/// be written otherwise.
pub unsafe fn protect(range: &Range<usize>, accessible: bool) {
    let protection = if accessible { READ_WRITE } else { libc::PROT_NONE };
    // SAFETY: the memory keeps its content, and the caller answers for who accesses it.
    unsafe { libc::mprotect(range.start as *mut _, range.len(), protection) };
}

/// Keeps a peer's memory out of core dumps and forked children. Only advice: a kernel that does not
/// know it ignores it without harm.
///
/// # Safety
/// As for [`inherit`].
pub unsafe fn mark_foreign(address: usize, bytes: usize) {
    let range = address..address + bytes;
    dump(&range, false);
    // SAFETY: as is asked for.
    unsafe { inherit(&range, false) };
}
