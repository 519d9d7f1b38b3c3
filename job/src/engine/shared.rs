//! A range of shared memory, mapped here, that other processes access at the same time.
#![allow(unsafe_code)]

use onenode_core::area::Shared;
use onenode_core::copy;
use std::marker::PhantomData;
use std::slice;

/// Bytes of shared memory: accessed as atomics, or copied as a whole.
#[derive(Clone, Copy, Debug)]
pub struct SharedBytes<'m> {
    start: *mut u8,
    bytes: usize,
    memory: PhantomData<&'m ()>,
}

impl<'m> SharedBytes<'m> {
    /// The `bytes` bytes from `start` on.
    ///
    /// # Safety
    /// For all of `'m` they are readable and writable, and accessed only by atomics and raw copies.
    pub unsafe fn new(start: *mut u8, bytes: usize) -> Self {
        Self { start, bytes, memory: PhantomData }
    }

    /// Where they start.
    pub fn start(self) -> *mut u8 {
        self.start
    }

    /// All of them as values of this type; `None` if they are not aligned, or have another size.
    pub fn values<T: Shared>(self) -> Option<&'m [T]> {
        let (start, count) = (self.start.cast::<T>(), self.bytes / size_of::<T>());
        let are_whole = !start.is_null() && start.is_aligned() && self.bytes % size_of::<T>() == 0;
        // SAFETY: aligned, as just checked, and `new` was told that the bytes are there for all of `'m`. The
        // values consist of atomics, for which any bytes are a value, and others access them as such.
        are_whole.then(|| unsafe { slice::from_raw_parts(start, count) })
    }

    /// Copies them. Panics unless `to` has as many.
    pub fn read(self, to: &mut [u8]) {
        assert_eq!(self.bytes, to.len(), "a copy has two lengths");
        // SAFETY: `new` was told that the bytes are readable, and `to` has as many, of this process.
        unsafe { copy::bytes(to.as_mut_ptr(), self.start, self.bytes) }
    }

    /// Replaces them. Panics unless `from` has as many.
    pub fn write(self, from: &[u8]) {
        assert_eq!(self.bytes, from.len(), "a copy has two lengths");
        // SAFETY: `new` was told that the bytes are writable, and `from` has as many, of this process.
        unsafe { copy::bytes(self.start, from.as_ptr(), self.bytes) }
    }
}

#[cfg(test)]
impl<'m, T: Shared> From<&'m [T]> for SharedBytes<'m> {
    fn from(values: &'m [T]) -> Self {
        let start = values.as_ptr().cast_mut().cast();
        Self { start, bytes: size_of_val(values), memory: PhantomData }
    }
}

#[cfg(test)]
impl SharedBytes<'_> {
    /// A part of them.
    pub(super) fn part(self, range: std::ops::Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.bytes);
        Self { start: self.start.wrapping_add(range.start), bytes: range.len(), ..self }
    }
}
