//! Mappings: reservations, and shared memory laid over them.
#![allow(unsafe_code)]

use crate::error::Error;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

const READ_WRITE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;
const RESERVE: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// Bytes in a page.
pub fn page_size() -> usize {
    // SAFETY: no memory is passed.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

fn mapped(at: *mut libc::c_void, call: &'static str) -> Result<usize, Error> {
    if at == libc::MAP_FAILED { Err(Error::last(call)) } else { Ok(at as usize) }
}

/// Maps a stretch of `fd` wherever there is room.
pub fn shared_anywhere(fd: BorrowedFd, offset: u64, bytes: usize) -> Result<NonNull<u8>, Error> {
    // SAFETY: a fresh mapping at an address of the kernel's choice disturbs nothing.
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

/// Reserves address space that cannot be touched, wherever there is room.
pub fn reserve(bytes: usize) -> Result<usize, Error> {
    // SAFETY: as for `shared_anywhere`.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, RESERVE, -1, 0) };
    mapped(at, "reserving address space for the peers' mirrors")
        .inspect(|at| dump(&(*at..at + bytes), false))
}

/// Reserves `bytes` of address space at `address`, or nothing if any of it is taken.
pub fn reserve_at(address: usize, bytes: usize) -> Option<usize> {
    let flags = RESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: MAP_FIXED_NOREPLACE never replaces a mapping.
    let at = unsafe { libc::mmap(address as *mut _, bytes, libc::PROT_NONE, flags, -1, 0) };
    if at == libc::MAP_FAILED {
        return None;
    }
    if at as usize != address {
        // A kernel before 4.17 takes the address as a hint.
        // SAFETY: the mapping was made above and nobody knows of it.
        unsafe { unmap(at.cast(), bytes) };
        return None;
    }
    // Debuggers would put even this into a core dump.
    dump(&(address..address + bytes), false);
    Some(address)
}

/// Whether there is memory at the page `address`.
pub fn is_mapped(address: usize) -> bool {
    // SAFETY: nothing is changed; without memory there, the call fails.
    unsafe { libc::msync(address as *mut _, 1, libc::MS_ASYNC) == 0 }
}

/// Reserves all of these places, or none of them and tells which is taken.
pub fn reserve_all(places: &[Range<usize>]) -> Result<(), Range<usize>> {
    for (index, place) in places.iter().enumerate() {
        if reserve_at(place.start, place.len()).is_none() {
            for reserved in &places[..index] {
                // SAFETY: reserved just now, and nobody knows of it.
                unsafe { unmap(reserved.start as *mut u8, reserved.len()) };
            }
            return Err(place.clone());
        }
    }
    Ok(())
}

/// Maps a stretch of `fd` at `address`, over what is there.
///
/// # Safety
/// `address..address + bytes` belongs to the caller, who no longer needs what it
/// held, or has copied it to that stretch of the file.
pub unsafe fn shared_over(
    address: usize,
    bytes: usize,
    fd: BorrowedFd,
    offset: u64,
) -> Result<(), Error> {
    // SAFETY: the caller owns the range that MAP_FIXED replaces.
    let at = unsafe {
        libc::mmap(
            address as *mut _,
            bytes,
            READ_WRITE,
            libc::MAP_SHARED | libc::MAP_FIXED,
            fd.as_raw_fd(),
            offset as libc::off_t,
        )
    };
    mapped(at, "mapping a slot").map(drop)
}

/// Private zero pages at `address`, over what is there.
///
/// # Safety
/// `address..address + bytes` belongs to the caller, who no longer needs what it held.
pub unsafe fn private_zeros_over(address: usize, bytes: usize) -> Result<(), Error> {
    let flags = RESERVE | libc::MAP_FIXED;
    // SAFETY: the caller's promise.
    let at = unsafe { libc::mmap(address as *mut _, bytes, READ_WRITE, flags, -1, 0) };
    mapped(at, "mapping the symmetric heap").map(drop)
}

/// Maps explicit huge pages of `page` bytes at `address`, over what is there: a stretch of
/// `file`, or private ones. All of them are set aside for this mapping, so that no later
/// access can find none left.
///
/// # Safety
/// `address..address + bytes` belongs to the caller, who no longer needs what it held, and
/// is reserved: if there are too few pages, it still is.
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
        // SAFETY: without MAP_FIXED nothing is disturbed; with it, the caller's own range.
        let at = unsafe {
            libc::mmap(at as *mut _, bytes, READ_WRITE, flags | fixed, fd, offset as libc::off_t)
        };
        mapped(at, "mapping huge pages")
    };
    // A fixed mapping that fails can leave a hole: first see that there are enough pages.
    let trial = map(0, 0)?;
    // SAFETY: mapped just now, and nobody knows of it.
    unsafe { unmap(trial as *mut u8, bytes) };
    map(address, libc::MAP_FIXED).map(drop).inspect_err(|_| {
        // Taken in between by another process.
        reserve_at(address, bytes);
    })
}

/// Advises the kernel to use huge pages of its own accord.
pub fn advise_huge(address: usize, bytes: usize) -> Result<(), Error> {
    // SAFETY: the advice does not change what the memory holds.
    match unsafe { libc::madvise(address as *mut _, bytes, libc::MADV_HUGEPAGE) } {
        0 => Ok(()),
        _ => Err(Error::last("madvise(MADV_HUGEPAGE)")),
    }
}

/// Has the pages of a mapping made now rather than at the first touch.
pub fn populate(address: usize, bytes: usize) -> std::io::Result<()> {
    // SAFETY: as if each page were written with what it holds.
    match unsafe { libc::madvise(address as *mut _, bytes, libc::MADV_POPULATE_WRITE) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Writes what these pages of a file's mapping hold to where the file is, and waits for that.
pub fn write_back(pages: &Range<usize>) -> std::io::Result<()> {
    // SAFETY: nothing changes for this process.
    match unsafe { libc::msync(pages.start as *mut _, pages.len(), libc::MS_SYNC) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Gives the pages of private memory back; they read as zeros afterwards.
pub fn discard(address: usize, bytes: usize) {
    // SAFETY: the range stays mapped; its content is what the caller gives up.
    unsafe { libc::madvise(address as *mut _, bytes, libc::MADV_DONTNEED) };
}

/// Private zero pages, wherever there is room.
pub fn private_anywhere(bytes: usize) -> Result<usize, Error> {
    // SAFETY: as for `shared_anywhere`.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, READ_WRITE, RESERVE, -1, 0) };
    mapped(at, "reserving private memory")
}

/// Moves a mapping over `to`, in one step.
///
/// # Safety
/// Both ranges belong to the caller; nothing else refers to `from`.
pub unsafe fn move_over(from: usize, bytes: usize, to: usize) -> Result<(), Error> {
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: the caller's promise.
    let at = unsafe { libc::mremap(from as *mut _, bytes, bytes, flags, to as *mut libc::c_void) };
    mapped(at, "moving a private copy over the data segment").map(drop)
}

/// Removes a mapping.
///
/// # Safety
/// Nothing refers to the range any more.
pub unsafe fn unmap(at: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::munmap(at.cast(), bytes) };
}

/// Whether forked children inherit a mapping.
pub fn inherit(range: &Range<usize>, inherited: bool) -> bool {
    let advice = if inherited { libc::MADV_DOFORK } else { libc::MADV_DONTFORK };
    // SAFETY: nothing changes for this process.
    unsafe { libc::madvise(range.start as *mut _, range.len(), advice) == 0 }
}

/// Whether core dumps have a range. Advice, like [`mark_foreign`].
pub fn dump(range: &Range<usize>, dumped: bool) {
    let advice = if dumped { libc::MADV_DODUMP } else { libc::MADV_DONTDUMP };
    // SAFETY: nothing changes for this process.
    unsafe { libc::madvise(range.start as *mut _, range.len(), advice) };
}

/// Whether a range of a mapping can be read and written.
pub fn protect(range: &Range<usize>, accessible: bool) {
    let protection = if accessible { READ_WRITE } else { libc::PROT_NONE };
    // SAFETY: the memory keeps what it holds; an access that is not allowed faults.
    unsafe { libc::mprotect(range.start as *mut _, range.len(), protection) };
}

/// Keeps a peer's memory out of core dumps and out of forked children. Advice:
/// a kernel that does not know it is no worse off.
pub fn mark_foreign(address: usize, bytes: usize) {
    for advice in [libc::MADV_DONTDUMP, libc::MADV_DONTFORK] {
        // SAFETY: neither advice changes what the memory holds for this process.
        unsafe { libc::madvise(address as *mut _, bytes, advice) };
    }
}
