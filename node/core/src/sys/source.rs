//! Where mappings of a memory file come from: the file, or a mapping of its start, if the program has
//! closed the last descriptor of it (`closefrom`).
//!
//! mremap(2) with an old size of 0 maps again what a shared mapping begins with, and any size of what
//! follows it in the file. So a mapping of one page leads to all pages behind it, in steps as large as
//! there is free address space.
#![allow(unsafe_code)]

use super::fd;
use super::map::{self, OwnMapping, Reserved};
use crate::error::Error;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

/// A memory file, in one way or the other.
#[derive(Clone, Copy, Debug)]
pub enum Source<'f> {
    /// Its descriptor.
    File(BorrowedFd<'f>),
    /// A mapping of its start.
    Start(Start<'f>),
}

impl<'f> From<BorrowedFd<'f>> for Source<'f> {
    fn from(file: BorrowedFd<'f>) -> Self {
        Self::File(file)
    }
}

/// A shared, writable mapping of the first page of a file.
#[derive(Clone, Copy, Debug)]
pub struct Start<'m>(&'m NonNull<u8>);

impl<'m> Start<'m> {
    /// The mapping at `at`.
    ///
    /// # Safety
    /// It is such a mapping while `at` is borrowed.
    pub unsafe fn new(at: &'m NonNull<u8>) -> Self {
        Self(at)
    }

    /// Maps `bytes` bytes from `offset` on over `target`, which is as long, or at any free address.
    /// Over a target it is the target's holder's, so it has to be kept.
    fn map(
        self,
        offset: u64,
        bytes: usize,
        target: Option<&Reserved>,
    ) -> Result<OwnMapping, Error> {
        let page = map::page_size();
        let start = self.0.as_ptr().addr();
        let mut reached = MappedPart { range: start..start + page, offset: 0, _own: None };
        let mut step = LARGEST_STEP;
        while offset - reached.offset >= reached.range.len() as u64 {
            let last = reached.offset + (reached.range.len() - page) as u64;
            let wanted = usize::try_from(offset - last).unwrap_or(usize::MAX).saturating_add(page);
            let bytes = wanted.min(step);
            match reached.again(last, bytes, None) {
                Ok(own) => {
                    let range = own.range().clone();
                    reached = MappedPart { range, offset: last, _own: Some(own) };
                }
                Err(_) if step > SMALLEST_STEP => step /= 2,
                Err(error) => return Err(error),
            }
        }
        reached.again(offset, bytes, target)
    }
}

/// Far more than a mirror takes, far less than the address space.
const LARGEST_STEP: usize = 1 << 45;
const SMALLEST_STEP: usize = 1 << 30;

/// A part of the file that is mapped on the way.
struct MappedPart {
    range: Range<usize>,
    offset: u64,
    /// Its mapping, if it is one on the way.
    _own: Option<OwnMapping>,
}

impl MappedPart {
    /// As [`Start::map`], from a page of the stretch.
    fn again(
        &self,
        offset: u64,
        bytes: usize,
        target: Option<&Reserved>,
    ) -> Result<OwnMapping, Error> {
        assert!(target.is_none_or(|target| target.range().len() == bytes), "all of the target");
        let from = self.range.start + (offset - self.offset) as usize;
        assert!(self.range.contains(&from), "a page of the stretch");
        let to = target.map(|target| target.range().start);
        // SAFETY: the stretch is a shared mapping of the file, and has `from`. The new mapping replaces at
        // most the target, which is its holder's to map over, and only the result knows of it.
        unsafe { map::remap(from..from, bytes, to).map(|at| OwnMapping::adopt(at..at + bytes)) }
            .map_err(Error::of("mapping the job's memory file again"))
    }
}

impl<'f> Source<'f> {
    /// The descriptor.
    ///
    /// # Errors
    /// If the program has closed it.
    pub fn file(self) -> Result<BorrowedFd<'f>, Error> {
        match self {
            Self::File(file) => Ok(file),
            Self::Start(_) => Err(Error::NoWay(
                "the program has closed this library's descriptors (closefrom, for example); \
                 expected it to close its own only"
                    .into(),
            )),
        }
    }

    /// Maps a range of the file there.
    pub fn over(self, at: &Reserved, offset: u64) -> Result<(), Error> {
        match self {
            Self::File(file) => at.shared(file, offset),
            Self::Start(start) => {
                start.map(offset, at.range().len(), Some(at))?.keep();
                Ok(())
            }
        }
    }

    /// Maps a range of the file at any free address.
    pub fn anywhere(self, offset: u64, bytes: usize) -> Result<NonNull<u8>, Error> {
        let at = self.own(offset, bytes)?.keep();
        NonNull::new(at as *mut u8).ok_or_else(|| Error::last("mapping the control area"))
    }

    /// As [`anywhere`](Self::anywhere), until the mapping is dropped.
    pub fn own(self, offset: u64, bytes: usize) -> Result<OwnMapping, Error> {
        match self {
            Self::File(file) => OwnMapping::shared(file, offset, bytes),
            Self::Start(start) => start.map(offset, bytes, None),
        }
    }

    /// Frees the memory behind a range of the file, which is mapped at `at`.
    pub fn punch(self, offset: u64, at: &Reserved) {
        match self {
            Self::File(file) => fd::punch(file, offset, at.range().len() as u64),
            Self::Start(_) => at.remove(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn far_parts_of_a_file_are_mapped_without_its_descriptor() {
        let file = fd::memfd(c"source").expect("a memory file");
        fd::resize_and_seal(file.as_fd(), 1 << 62).expect("its size");
        let page = map::page_size();
        let start = Source::from(file.as_fd()).anywhere(0, page).expect("its start");
        let offsets = [0, 4 * page as u64, 1 << 30, (1 << 40) + (5 << 42), (1 << 50) + page as u64];
        let word = |at: NonNull<u8>| {
            // SAFETY: a mapping of at least a page.
            unsafe { crate::atomics::AtomicU64::from_ptr(at.as_ptr().cast()) }
        };
        let of = |source: Source, offset| source.anywhere(offset, 2 * page).expect("mapped");
        for offset in offsets {
            let at = of(file.as_fd().into(), offset);
            word(at).store(offset + 1, crate::atomics::Ordering::Relaxed);
        }
        drop(file);
        // SAFETY: mapped above, for the life of the test.
        let source = Source::Start(unsafe { Start::new(&start) });
        assert!(source.file().is_err());
        for offset in offsets {
            let at = of(source, offset);
            assert_eq!(word(at).load(crate::atomics::Ordering::Relaxed), offset + 1);
            let place = OwnMapping::reserve(2 * page).expect("a place");
            let all = place.part(place.range().clone());
            source.over(&all, offset).expect("mapped over it");
            let second = NonNull::new(place.range().start as *mut u8).expect("an address");
            assert_eq!(word(second).load(crate::atomics::Ordering::Relaxed), offset + 1);
            source.punch(offset, &all);
            assert_eq!(word(at).load(crate::atomics::Ordering::Relaxed), 0);
        }
    }
}
