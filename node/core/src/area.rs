//! Shared memory that several processes map and any of them may write at any time. It is reached as
//! atomics only, so that a reference into it is sound whatever the others do.
#![allow(unsafe_code)]

use crate::atomics::{AtomicI32, AtomicU32, AtomicU64};
use crate::error::Error;
use crate::sys::map::{self, OwnMapping};
use crate::sys::maps;
use crate::sys::source::Source;
use memmap2::{MmapOptions, MmapRaw};
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

/// Types that may lie in shared memory.
///
/// # Safety
/// They consist of atomics. Any bytes are a value, and dropping one does nothing.
pub unsafe trait Shared {}

// SAFETY: an atomic, for which any bytes are a value.
unsafe impl Shared for AtomicI32 {}
// SAFETY: an atomic, for which any bytes are a value.
unsafe impl Shared for AtomicU32 {}
// SAFETY: an atomic, for which any bytes are a value.
unsafe impl Shared for AtomicU64 {}
// SAFETY: elements that consist of atomics, with nothing between them.
unsafe impl<T: Shared, const N: usize> Shared for [T; N] {}

/// Mapped shared memory.
#[derive(Debug)]
pub struct SharedArea {
    base: NonNull<u8>,
    bytes: usize,
    _mapping: Mapping,
}

/// The mappings that the end of an area removes.
#[derive(Debug)]
enum Mapping {
    /// A part of a file, which unmaps itself.
    File { _mapping: MmapRaw },
    /// The area's own, made from another mapping.
    Copy { _mapping: OwnMapping },
    /// Somebody else's.
    Lent,
}

// SAFETY: the memory is reached as atomics, which threads share as processes do, and stays mapped for
// the life of the value, in all threads.
unsafe impl Send for SharedArea {}
// SAFETY: threads reach the memory through references as atomics only, as processes do.
unsafe impl Sync for SharedArea {}

impl SharedArea {
    /// Maps `bytes` bytes of a file from `offset` on.
    ///
    /// # Errors
    /// If the system refuses. That the file has these bytes is not checked: an access beyond its end
    /// ends the process, so who opens a file of others looks at its size and its seals first.
    pub fn map(file: BorrowedFd, offset: u64, bytes: usize) -> Result<Self, Error> {
        let mapping = MmapOptions::new().offset(offset).len(bytes).map_raw(&file);
        let mapping =
            mapping.map_err(|why| Error::of("mapping shared memory")(maps::refused(why)))?;
        let base = NonNull::new(mapping.as_mut_ptr()).expect("no mapping is at address 0");
        Ok(Self { base, bytes, _mapping: Mapping::File { _mapping: mapping } })
    }

    /// As [`map`](Self::map), from what there is of the file.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn of(source: Source, offset: u64, bytes: usize) -> Result<Self, Error> {
        match source {
            Source::File(file) => Self::map(file, offset, bytes),
            Source::Start(_) => {
                let mapping = source.own(offset, bytes)?;
                let base = NonNull::new(mapping.range().start as *mut u8);
                let base = base.expect("no mapping is at address 0");
                Ok(Self { base, bytes, _mapping: Mapping::Copy { _mapping: mapping } })
            }
        }
    }

    /// Memory that is mapped already.
    ///
    /// # Safety
    /// It stays mapped for the life of this value, readable and writable, and is reached as atomics
    /// only.
    pub unsafe fn over(base: NonNull<u8>, bytes: usize) -> Self {
        Self { base, bytes, _mapping: Mapping::Lent }
    }

    /// Its first address.
    pub fn base(&self) -> &NonNull<u8> {
        &self.base
    }

    /// Its addresses in this process.
    pub fn range(&self) -> Range<usize> {
        let start = self.base.addr().get();
        start..start + self.bytes
    }

    /// The value at `offset`. Panics unless all of it is in the area, and aligned.
    #[inline]
    pub fn at<T: Shared>(&self, offset: usize) -> &T {
        &self.slice(offset, 1)[0]
    }

    /// `count` values from `offset` on. Panics unless all of them are in the area, and aligned.
    #[inline]
    pub fn slice<T: Shared>(&self, offset: usize, count: usize) -> &[T] {
        let at = self.bytes_at(offset, count.saturating_mul(size_of::<T>())).cast::<T>();
        assert!(at.is_aligned(), "values in shared memory are aligned");
        // SAFETY: within the mapping, which lives as long as `self`, and aligned, as just checked. The
        // values consist of atomics, for which any bytes are a value, and are reached as such by all.
        unsafe { NonNull::slice_from_raw_parts(at, count).as_ref() }
    }

    /// The address of `bytes` bytes at `offset`, for memory that others lay out. Panics unless all of
    /// them are in the area.
    #[inline]
    pub fn bytes_at(&self, offset: usize, bytes: usize) -> NonNull<u8> {
        let end = offset.checked_add(bytes);
        assert!(end.is_some_and(|end| end <= self.bytes), "within the area's {} bytes", self.bytes);
        self.base.map_addr(|base| base.saturating_add(offset))
    }

    /// Withholds it from forked children.
    pub fn withhold(&self) {
        // SAFETY: this value's own mapping, which a child only unmaps.
        unsafe { map::withhold(&self.range()) };
    }

    /// As [`withhold`](Self::withhold), and from core dumps, for memory of another process.
    pub fn mark_foreign(&self) {
        map::dump(&self.range(), false);
        self.withhold();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomics::Ordering;
    use crate::sys::fd;
    use std::os::fd::{AsFd, OwnedFd};
    use std::panic::catch_unwind;

    fn file() -> OwnedFd {
        let file = fd::memfd(c"area").expect("a memory file");
        fd::resize_and_seal(file.as_fd(), 8192).expect("its size");
        file
    }

    #[test]
    fn two_areas_of_a_file_are_one_memory() {
        let file = file();
        let [one, other] =
            [(); 2].map(|()| SharedArea::map(file.as_fd(), 4096, 4096).expect("mapped"));
        one.at::<AtomicU64>(4088).store(7, Ordering::Relaxed);
        assert_eq!(other.slice::<AtomicU64>(0, 512)[511].load(Ordering::Relaxed), 7);
        assert_eq!(one.range().len(), 4096);
    }

    #[test]
    fn nothing_outside_of_the_area_is_reached() {
        let area = SharedArea::map(file().as_fd(), 0, 4096).expect("mapped");
        let refused = |reach: &dyn Fn()| catch_unwind(std::panic::AssertUnwindSafe(reach)).is_err();
        for offset in [4089, 4096, usize::MAX - 4, 4] {
            assert!(refused(&|| _ = area.at::<AtomicU64>(offset)), "{offset}");
        }
        for (offset, count) in [(0, 513), (4096, 1), (0, usize::MAX)] {
            assert!(refused(&|| _ = area.slice::<AtomicU64>(offset, count)), "{offset} {count}");
        }
        assert!(
            refused(&|| _ = area.bytes_at(1, 4096)) && !refused(&|| _ = area.bytes_at(4096, 0))
        );
        assert!(area.slice::<AtomicU64>(4096, 0).is_empty());
    }
}
