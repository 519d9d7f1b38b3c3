//! Symmetric memory: arrays on the symmetric heap, and parts of them.
#![allow(unsafe_code)]

use crate::collectives::Element;
use crate::memory::symmetric;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

/// An array on the symmetric heap: `len` elements of `T` on every PE. Freed by
/// [`Shmem::free`](super::Shmem::free), never by being dropped.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// let table = shmem.alloc::<i32>(10).unwrap();
/// table.slice(2..5).write(&[7, 8, 9]);
/// assert_eq!(table.at(3).get(), 8);
/// assert_eq!(table.all().to_vec()[..3], [0, 0, 7]);
/// # shmem.free(table);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::error::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "freed only by Shmem::free"]
pub struct Symmetric<T> {
    start: *mut T,
    len: usize,
}

impl<T: Element> Symmetric<T> {
    pub(super) fn alloc(len: usize) -> Option<Self> {
        if len == 0 || size_of::<T>() == 0 {
            return Some(Self { start: std::ptr::null_mut(), len: 0 });
        }
        // All bits zero is a value of `T`: that is what `Element` promises.
        let align = align_of::<T>().max(16);
        assert!(align <= 64, "an element needs an alignment of at most 64");
        let start = symmetric::calloc(&"alloc", len, size_of::<T>()).cast::<T>();
        (!start.is_null()).then_some(Self { start, len })
    }

    pub(super) fn free(self) {
        symmetric::free(&"free", self.start.cast());
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of it.
    pub fn all(&self) -> Part<'_, T> {
        Part { start: self.start, len: self.len, array: PhantomData }
    }

    /// The elements in `range`. Panics if they are not there.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Part<'_, T> {
        self.all().slice(range)
    }

    /// Element `index`. Panics if there is none.
    pub fn at(&self, index: usize) -> Part<'_, T> {
        self.slice(index..=index)
    }
}

/// Some elements of a [`Symmetric`] array: what operations name their symmetric
/// argument by. Also the way to this PE's own copy of them.
#[derive(Debug)]
pub struct Part<'a, T> {
    start: *mut T,
    len: usize,
    array: PhantomData<&'a Symmetric<T>>,
}

impl<T> Clone for Part<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Part<'_, T> {}

impl<T: Element> Part<'_, T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements in `range` of these. Panics if they are not there.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Self {
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(last) => last + 1,
            Bound::Excluded(end) => *end,
            Bound::Unbounded => self.len,
        };
        assert!(start <= end && end <= self.len, "{start}..{end} of {} elements", self.len);
        Self { start: self.start.wrapping_add(start), len: end - start, array: PhantomData }
    }

    /// The first element of this PE's copy. Panics if there are no elements.
    pub fn get(self) -> T {
        assert!(self.len > 0, "no element to get");
        // SAFETY: within the array, which stays mapped; any bits are a `T`.
        unsafe { self.start.read_volatile() }
    }

    /// Sets the first element of this PE's copy. Panics if there are no elements.
    pub fn set(self, value: T) {
        assert!(self.len > 0, "no element to set");
        // SAFETY: as for `get`.
        unsafe { self.start.write_volatile(value) }
    }

    /// Copies this PE's elements out.
    pub fn to_vec(self) -> Vec<T> {
        let mut elements = Vec::with_capacity(self.len);
        // SAFETY: as for `get`, `len` elements, into memory of the vector's own.
        unsafe {
            std::ptr::copy_nonoverlapping(self.pointer(), elements.as_mut_ptr(), self.len);
            elements.set_len(self.len);
        }
        elements
    }

    /// Copies `values` into this PE's elements. Panics unless there are as many.
    pub fn write(self, values: &[T]) {
        same_len(self.len, values.len());
        // SAFETY: as for `get`; nobody has references to symmetric memory.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.pointer(), self.len) }
    }

    /// Sets all of this PE's elements to `value`.
    pub fn fill(self, value: T) {
        for index in 0..self.len {
            self.slice(index..=index).set(value);
        }
    }

    /// The address, for the core; dangling, not null, if there are no elements.
    pub(super) fn pointer(self) -> *mut T {
        if self.len == 0 { std::ptr::dangling_mut() } else { self.start }
    }

    /// Panics unless this and `other` have nothing in common.
    pub(super) fn assert_disjoint<U: Element>(self, other: Part<'_, U>) {
        let (a, b) = (self.start as usize, other.start as usize);
        let (a_end, b_end) = (a + self.len * size_of::<T>(), b + other.len * size_of::<U>());
        assert!(a_end <= b || b_end <= a, "the symmetric arguments of a call overlap");
    }
}

/// Panics unless two arguments have equally many elements.
pub(super) fn same_len(symmetric: usize, other: usize) {
    assert_eq!(symmetric, other, "the two arguments of a call have different lengths");
}
