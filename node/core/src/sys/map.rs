//! Mappings: reservations, and shared memory mapped over them.
#![allow(unsafe_code)]

use super::maps::READ_WRITE;
use super::{maps, process};
use crate::error::Error;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

const RESERVE: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// Bytes in a page.
pub fn page_size() -> usize {
    process::configured(libc::_SC_PAGESIZE).expect("every system has pages")
}

/// The source of a mapping.
#[derive(Clone, Copy)]
pub(super) struct Content<'f> {
    /// How it is mapped, without `MAP_FIXED`.
    pub flags: libc::c_int,
    /// A file and where in it, or else fresh pages.
    pub file: Option<(BorrowedFd<'f>, u64)>,
}

impl<'f> Content<'f> {
    /// Fresh zero pages, of which memory is taken at the first touch.
    const PRIVATE: Self = Self { flags: RESERVE, file: None };

    fn shared(file: BorrowedFd<'f>, offset: u64) -> Self {
        Self { flags: libc::MAP_SHARED, file: Some((file, offset)) }
    }

    /// Maps it at `address`, and replaces what is there if `fixed` is `MAP_FIXED`.
    ///
    /// # Safety
    /// The replaced range is the caller's, who no longer needs its content.
    unsafe fn map(
        self,
        address: usize,
        bytes: usize,
        protection: libc::c_int,
        fixed: libc::c_int,
    ) -> io::Result<usize> {
        let (at, flags) = (address as *mut libc::c_void, self.flags | fixed);
        let (fd, offset) = self.file.map_or((-1, 0), |(file, at)| (file.as_raw_fd(), at));
        // SAFETY: a mapping replaces at most what the caller gives up.
        match unsafe { libc::mmap(at, bytes, protection, flags, fd, offset as libc::off_t) } {
            libc::MAP_FAILED => Err(maps::refused(io::Error::last_os_error())),
            at => Ok(at as usize),
        }
    }
}

/// Address space that its holder may map over: what is there, if anything, is reached as raw or atomic
/// memory only, by those who expect any content.
#[derive(Clone, Debug)]
pub struct Reserved<'m> {
    range: Range<usize>,
    mapping: PhantomData<&'m OwnMapping>,
}

impl Reserved<'_> {
    /// The addresses in `range`.
    ///
    /// # Safety
    /// They are such address space for the life of the value, and mapped or reserved.
    pub unsafe fn new(range: Range<usize>) -> Self {
        Self { range, mapping: PhantomData }
    }

    /// The addresses.
    pub fn range(&self) -> &Range<usize> {
        &self.range
    }

    pub(super) fn map(&self, content: Content) -> io::Result<()> {
        let Range { start, end } = self.range;
        // SAFETY: the range is the holder's to map over.
        unsafe { content.map(start, end - start, READ_WRITE, libc::MAP_FIXED) }.map(drop)
    }

    /// Maps a range of a file there.
    pub fn shared(&self, file: BorrowedFd, offset: u64) -> Result<(), Error> {
        self.map(Content::shared(file, offset)).map_err(Error::of("mapping a slot"))
    }

    /// Maps private zero pages there.
    pub fn zeros(&self) -> Result<(), Error> {
        self.map(Content::PRIVATE).map_err(Error::of("mapping the symmetric heap"))
    }

    /// Maps explicit huge pages of `page` bytes there: a range of `file`, or private pages. The kernel
    /// reserves all of them for this mapping, so that no later access can run out of pages. If there are
    /// too few, the range stays reserved.
    pub fn huge(&self, page: usize, file: Option<(BorrowedFd, u64)>) -> Result<(), Error> {
        let size = (page.trailing_zeros() as libc::c_int) << libc::MAP_HUGE_SHIFT;
        let private = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB | size;
        let flags = if file.is_some() { libc::MAP_SHARED } else { private };
        let content = Content { flags, file };
        // A fixed mapping that fails can leave a hole, so first check that there are enough pages.
        let trial = OwnMapping::new(content, 0, self.range.len(), READ_WRITE);
        drop(trial.map_err(Error::of("mapping huge pages"))?);
        // Another process may take the pages in between.
        self.map(content).inspect_err(|_| self.keep()).map_err(Error::of("mapping huge pages"))
    }

    /// Reserves it again if it could not be mapped: the attempt may have left a hole.
    pub fn keep(&self) {
        reserve_at(self.range.start, self.range.len());
    }

    /// Keeps it out of core dumps and forked children, as memory of a peer. Only advice: a kernel that
    /// does not know it ignores it without harm.
    pub fn mark_foreign(&self) {
        dump(&self.range, false);
        self.advise(libc::MADV_DONTFORK);
    }

    /// Frees the pages of private memory there, which then reads as zeros.
    pub fn discard(&self) {
        self.advise(libc::MADV_DONTNEED);
    }

    /// Frees the memory of the file that is mapped there, for all who have mapped it. A failure costs
    /// memory only.
    pub(super) fn remove(&self) {
        self.advise(libc::MADV_REMOVE);
    }

    /// Gives the kernel an advice that may cost the content, here or in forked children. Whether it
    /// was taken.
    fn advise(&self, advice: libc::c_int) -> bool {
        let Range { start, end } = self.range;
        // SAFETY: the holder could map something else there, in this process and so for its children.
        // Advice takes at most the content, on which nobody relies, whoever maps it.
        unsafe { libc::madvise(start as *mut _, end - start, advice) == 0 }
    }
}

/// A mapping of this value's own, which ends with it.
#[derive(Debug)]
pub struct OwnMapping(Range<usize>);

impl OwnMapping {
    /// Maps `content` where nothing is mapped: at `address`, if that is free and the kernel follows the
    /// hint.
    pub(super) fn new(
        content: Content,
        address: usize,
        bytes: usize,
        protection: libc::c_int,
    ) -> io::Result<Self> {
        Self::at(content, address, bytes, protection, address != 0)
    }

    /// As [`new`](Self::new). If `only_there`, kernels that know MAP_FIXED_NOREPLACE refuse an address that is not
    /// free.
    fn at(
        content: Content,
        address: usize,
        bytes: usize,
        protection: libc::c_int,
        only_there: bool,
    ) -> io::Result<Self> {
        let fixed = if only_there { libc::MAP_FIXED_NOREPLACE } else { 0 };
        // SAFETY: without MAP_FIXED, and with MAP_FIXED_NOREPLACE, nothing is replaced.
        let at = unsafe { content.map(address, bytes, protection, fixed) }?;
        Ok(Self(at..at + bytes))
    }

    /// Private zero pages.
    pub fn private(bytes: usize) -> Result<Self, Error> {
        Self::new(Content::PRIVATE, 0, bytes, READ_WRITE)
            .map_err(Error::of("reserving private memory"))
    }

    /// A range of a file, shared with who else maps it.
    pub fn shared(file: BorrowedFd, offset: u64, bytes: usize) -> Result<Self, Error> {
        Self::new(Content::shared(file, offset), 0, bytes, READ_WRITE)
            .map_err(Error::of("mapping the control area"))
    }

    /// Inaccessible address space.
    pub fn reserve(bytes: usize) -> Result<Self, Error> {
        let reserved = Self::new(Content::PRIVATE, 0, bytes, libc::PROT_NONE)
            .map_err(Error::of("reserving address space for the peers' mirrors"))?;
        dump(reserved.range(), false);
        Ok(reserved)
    }

    /// Inaccessible address space at `address`; none if any of it is in use.
    pub fn reserve_at(address: usize, bytes: usize) -> Option<Self> {
        Self::reserve_with(true, address, bytes)
    }

    /// As [`reserve_at`](Self::reserve_at), at an address that means something to this library only:
    /// ThreadSanitizer's `mmap` takes 0 for addresses that it keeps for itself, and root would get that one.
    pub fn reserve_if_free(address: usize, bytes: usize) -> Option<Self> {
        Self::reserve_with(false, address, bytes)
    }

    fn reserve_with(only_there: bool, address: usize, bytes: usize) -> Option<Self> {
        let content = Content::PRIVATE;
        let reserved = Self::at(content, address, bytes, libc::PROT_NONE, only_there).ok()?;
        // Kernels before 4.17 take every address as a hint.
        if reserved.range().start != address {
            return None;
        }
        // Some debuggers would include even reserved address space in a core dump.
        dump(reserved.range(), false);
        Some(reserved)
    }

    /// A part of it, to map over. Panics unless the mapping has these addresses.
    pub fn part(&self, range: Range<usize>) -> Reserved<'_> {
        assert!(self.0.start <= range.start && range.end <= self.0.end, "within {:#x?}", self.0);
        Reserved { range, mapping: PhantomData }
    }

    /// Takes over a mapping.
    ///
    /// # Safety
    /// Nothing refers to the range, except through this value.
    pub unsafe fn adopt(range: Range<usize>) -> Self {
        Self(range)
    }

    /// Its first `bytes` bytes, and the rest. Both are whole pages.
    #[cfg(test)]
    pub fn split(self, bytes: usize) -> [Self; 2] {
        let Range { start, end } = std::mem::ManuallyDrop::new(self).0.clone();
        [Self(start..start + bytes), Self(start + bytes..end)]
    }

    /// Its addresses.
    pub fn range(&self) -> &Range<usize> {
        &self.0
    }

    /// Lets the mapping stay. Returns its start.
    pub fn keep(self) -> usize {
        std::mem::ManuallyDrop::new(self).0.start
    }

    /// Keeps the mapping from forked children, which have nothing there.
    pub fn withhold(&self) {
        self.part(self.0.clone()).advise(libc::MADV_DONTFORK);
    }

    /// Gives forked children zeros there, instead of a copy. False if the system cannot do that (Linux
    /// before 4.14).
    pub fn wipe_on_fork(&self) -> bool {
        self.part(self.0.clone()).advise(libc::MADV_WIPEONFORK)
    }
}

impl Drop for OwnMapping {
    fn drop(&mut self) {
        // SAFETY: this value's own mapping, to which nothing refers.
        unsafe { unmap(self.0.start as *mut u8, self.0.len()) };
    }
}

/// Reserves inaccessible address space at any free address.
pub fn reserve(bytes: usize) -> Result<usize, Error> {
    OwnMapping::reserve(bytes).map(OwnMapping::keep)
}

/// Reserves `bytes` of address space at `address`, or nothing if any of it is in use.
pub fn reserve_at(address: usize, bytes: usize) -> Option<usize> {
    OwnMapping::reserve_at(address, bytes).map(OwnMapping::keep)
}

/// Whether the page at `address` is mapped.
pub fn is_mapped(address: usize) -> bool {
    sync(&(address..address + 1), libc::MS_ASYNC).is_ok()
}

/// Reserves all of these ranges, or none; returns the first range that is in use as the error.
pub fn reserve_all(places: &[Range<usize>]) -> Result<(), Range<usize>> {
    let reserve = |place: &Range<usize>| {
        OwnMapping::reserve_at(place.start, place.len()).ok_or_else(|| place.clone())
    };
    let reserved: Vec<OwnMapping> = places.iter().map(reserve).collect::<Result<_, _>>()?;
    for place in reserved {
        place.keep();
    }
    Ok(())
}

/// Advice after which all memory is as before, for this process.
#[derive(Clone, Copy)]
#[repr(i32)]
enum Advice {
    Huge = libc::MADV_HUGEPAGE,
    Populate = libc::MADV_POPULATE_WRITE,
    Dump = libc::MADV_DODUMP,
    DoNotDump = libc::MADV_DONTDUMP,
    Inherit = libc::MADV_DOFORK,
}

impl Advice {
    fn give(self, range: &Range<usize>) -> io::Result<()> {
        // SAFETY: no byte changes, and nothing is unmapped, whatever is mapped there.
        match unsafe { libc::madvise(range.start as *mut _, range.len(), self as libc::c_int) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Has the kernel write these pages of file mappings back. Changes no byte, and fails if a page is not
/// mapped.
pub(super) fn sync(pages: &Range<usize>, how: libc::c_int) -> io::Result<()> {
    // SAFETY: no byte changes, and the kernel refuses what is not mapped.
    match unsafe { libc::msync(pages.start as *mut _, pages.len(), how) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Advises the kernel to use transparent huge pages.
pub fn advise_huge(range: &Range<usize>) -> Result<(), Error> {
    Advice::Huge.give(range).map_err(Error::of("madvise(MADV_HUGEPAGE)"))
}

/// Creates the pages of a mapping now instead of at the first access. No byte changes, whatever is
/// mapped there: the kernel does what it does at a write, without the write, and refuses what is not
/// mapped or not writable.
pub fn populate(address: usize, bytes: usize) -> io::Result<()> {
    Advice::Populate.give(&(address..address + bytes))
}

/// Writes these pages of a file mapping back to the file, and waits until that is done.
pub fn write_back(pages: &Range<usize>) -> io::Result<()> {
    sync(pages, libc::MS_SYNC)
}

/// Maps private zero pages at any free address.
pub fn private_anywhere(bytes: usize) -> Result<usize, Error> {
    OwnMapping::private(bytes).map(OwnMapping::keep)
}

/// Moves a mapping to `bytes` bytes over `target`, or at any free address. An empty `old` stays: the file
/// that is mapped there is mapped again from there on.
///
/// # Safety
/// The target, if any, is a range of the caller's, and what it held is no longer needed. Nothing else
/// refers to `old`, or it is empty and starts in a shared mapping of a file.
pub(super) unsafe fn remap(
    old: Range<usize>,
    bytes: usize,
    target: Option<usize>,
) -> io::Result<usize> {
    let flags = libc::MREMAP_MAYMOVE | target.map_or(0, |_| libc::MREMAP_FIXED);
    let to = target.unwrap_or(0) as *mut libc::c_void;
    // SAFETY: the caller gives up what is replaced, and what is moved away.
    match unsafe { libc::mremap(old.start as *mut _, old.len(), bytes, flags, to) } {
        libc::MAP_FAILED => Err(maps::refused(io::Error::last_os_error())),
        at => Ok(at as usize),
    }
}

/// Moves a mapping over `to` in one step.
///
/// # Safety
/// The caller owns both ranges, and nothing else refers to `from`.
pub unsafe fn move_over(from: usize, bytes: usize, to: usize) -> Result<(), Error> {
    // SAFETY: the caller guarantees that it owns both ranges and that nothing else refers to
    // `from`.
    unsafe { remap(from..from + bytes, bytes, Some(to)) }
        .map(drop)
        .map_err(Error::of("moving a private copy over the data segment"))
}

/// Removes a mapping.
///
/// # Safety
/// Nothing refers to the range any more.
pub unsafe fn unmap(at: *mut u8, bytes: usize) {
    // SAFETY: the caller guarantees that nothing refers to the range any more.
    unsafe { libc::munmap(at.cast(), bytes) };
}

/// Withholds a mapping from forked children. False if that fails.
///
/// # Safety
/// The range belongs to the caller, and no forked child accesses it before something else is mapped there, or
/// expects it to be.
pub unsafe fn withhold(range: &Range<usize>) -> bool {
    // SAFETY: nothing changes for this process, and its children do not need the range.
    unsafe { libc::madvise(range.start as *mut _, range.len(), libc::MADV_DONTFORK) == 0 }
}

/// Lets forked children inherit a mapping again.
pub fn inherit(range: &Range<usize>) {
    let _ = Advice::Inherit.give(range);
}

/// Sets whether core dumps include a range. Only advice.
pub fn dump(range: &Range<usize>, dumped: bool) {
    let advice = if dumped { Advice::Dump } else { Advice::DoNotDump };
    let _ = advice.give(range);
}

/// Sets what may be done with a mapped range, as mprotect(2). Whether that has succeeded.
///
/// # Safety
/// The range belongs to the caller, and nobody does meanwhile what may not be done any more.
pub unsafe fn set_protection(range: &Range<usize>, protection: i32) -> bool {
    // SAFETY: the memory keeps its content, and the caller answers for who accesses it.
    unsafe { libc::mprotect(range.start as *mut _, range.len(), protection) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::maps;

    #[test]
    fn protected_parts_are_found() {
        let page = page_size();
        let start = private_anywhere(8 * page).expect("memory");
        let pages =
            |first: usize, count: usize| start + first * page..start + (first + count) * page;
        let parts =
            [(pages(1, 1), libc::PROT_NONE), (pages(3, 2), libc::PROT_READ), (pages(7, 1), 0)];
        for (range, protection) in &parts {
            // SAFETY: this test's own memory, which nobody accesses.
            unsafe { set_protection(range, *protection) };
        }
        assert_eq!(maps::protected(&pages(0, 8)), parts);
        assert_eq!(maps::protected(&pages(4, 3)), [(pages(4, 1), libc::PROT_READ)]);
        assert_eq!(maps::protected(&pages(5, 2)), []);
    }
}
