//! Symmetric memory: arrays on the symmetric heap, and parts of them.
#![allow(unsafe_code)]

use super::Shmem;
use super::context::register;
use super::flags::Hints;
use crate::collectives::Element;
use crate::job::query;
use crate::memory::symmetric;
use crate::partition;
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
/// # Ok::<(), oneshmem::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "freed only by Shmem::free"]
pub struct Symmetric<T> {
    start: *mut T,
    len: usize,
}

// SAFETY: an address, whose memory is reached by copies and atomics of types that any
// bits are a value of; threads of this PE are no worse than other PEs.
unsafe impl<T: Send> Send for Symmetric<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Symmetric<T> {}

impl<T: Element> Symmetric<T> {
    /// Elements that are there already.
    #[cfg(test)]
    pub(super) fn existing(start: *mut T, len: usize) -> Self {
        Self { start, len }
    }

    /// All bits zero is a value of `T`: that is what `Element` promises.
    fn alloc(len: usize) -> Option<Self> {
        if len == 0 || size_of::<T>() == 0 {
            return Some(Self { start: std::ptr::null_mut(), len: 0 });
        }
        let start = symmetric::calloc(&"alloc", len, size_of::<T>()).cast::<T>();
        (!start.is_null()).then_some(Self { start, len })
    }

    /// The same from partition `id`.
    pub(super) fn alloc_in(id: usize, len: usize) -> Option<Self> {
        if len == 0 || size_of::<T>() == 0 {
            return Self::alloc(0);
        }
        let start = partition::calloc(&"alloc", len, size_of::<T>(), id as i32).cast::<T>();
        (!start.is_null()).then_some(Self { start, len })
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
    pub fn all(&self) -> SymmetricSlice<'_, T> {
        SymmetricSlice { start: self.start, len: self.len, array: PhantomData }
    }

    /// The elements in `range`. Panics if they are not there.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> SymmetricSlice<'_, T> {
        self.all().slice(range)
    }

    /// Element `index`. Panics if there is none.
    pub fn at(&self, index: usize) -> SymmetricSlice<'_, T> {
        self.slice(index..=index)
    }
}

/// Some elements of a [`Symmetric`] array: what operations name their symmetric
/// argument by. Also the way to this PE's own copy of them.
#[derive(Debug)]
pub struct SymmetricSlice<'a, T> {
    start: *mut T,
    len: usize,
    array: PhantomData<&'a Symmetric<T>>,
}

impl<T> Clone for SymmetricSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for SymmetricSlice<'_, T> {}

impl<T: Element> SymmetricSlice<'_, T> {
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
        // SAFETY: within the array, which stays mapped; any bits are a `T`.
        unsafe { self.first().read_volatile() }
    }

    /// Sets the first element of this PE's copy. Panics if there are no elements.
    pub fn set(self, value: T) {
        // SAFETY: as for `get`.
        unsafe { self.first().write_volatile(value) }
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

    /// The address, for the core; dangling, not null, if the array has no elements. A part
    /// without elements has one: other PEs' parts from there may have some.
    pub(super) fn pointer(self) -> *mut T {
        if self.start.is_null() { std::ptr::dangling_mut() } else { self.start }
    }

    /// The address of the first element. Panics if there is none.
    #[inline]
    pub(super) fn first(self) -> *mut T {
        assert!(self.len > 0, "the symmetric argument has no elements");
        self.start
    }

    /// Whether this and `other` have bytes in common.
    pub(super) fn overlaps<U: Element>(self, other: SymmetricSlice<'_, U>) -> bool {
        let (a, b) = (self.start as usize, other.start as usize);
        let (a_end, b_end) = (a + self.len * size_of::<T>(), b + other.len * size_of::<U>());
        self.len > 0 && other.len > 0 && a < b_end && b < a_end
    }

    /// Panics unless this and `other` have nothing in common.
    pub(super) fn assert_disjoint<U: Element>(self, other: SymmetricSlice<'_, U>) {
        assert!(!self.overlaps(other), "the symmetric arguments of a call overlap");
    }
}

/// Symmetric memory: allocated and freed by all PEs together, who make these calls in
/// the same order and with equal arguments.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// let table = shmem.alloc::<u64>(3).expect("the symmetric heap is large enough");
/// table.all().write(&[1, 2, 3]);
/// let table = shmem.realloc(table, 5).expect("it still is");
/// assert_eq!(table.all().to_vec(), [1, 2, 3, 0, 0]);
///
/// let page = shmem.align::<u8>(4096, 100).expect("and still");
/// assert_eq!(shmem.ptr(page.all(), shmem.my_pe()).unwrap() as usize % 4096, 0);
/// # shmem.free(page);
/// # shmem.free(table);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
impl Shmem {
    /// Allocates `len` elements on every PE, all zero. `None`, on all PEs, if the
    /// symmetric heap has no room (`SHMEM_SYMMETRIC_SIZE` sets its size).
    pub fn alloc<T: Element>(&self, len: usize) -> Option<Symmetric<T>> {
        Symmetric::alloc(len)
    }

    /// As [`alloc`](Self::alloc), at a multiple of `alignment` bytes, a power of two.
    pub fn align<T: Element>(&self, alignment: usize, len: usize) -> Option<Symmetric<T>> {
        let bytes = len.checked_mul(size_of::<T>())?;
        if bytes == 0 {
            return Symmetric::alloc(0);
        }
        let start = symmetric::align(&"align", alignment, bytes);
        if start.is_null() {
            return None;
        }
        // SAFETY: the block just allocated, of which no PE makes use before the barrier.
        unsafe { start.write_bytes(0, bytes) };
        self.barrier_all();
        Some(Symmetric { start: start.cast(), len })
    }

    /// As [`alloc`](Self::alloc), with hints on how the memory will be used. All memory of
    /// a node is equally good for that, so they change nothing.
    pub fn alloc_with_hints<T: Element>(&self, len: usize, _hints: Hints) -> Option<Symmetric<T>> {
        Symmetric::alloc(len)
    }

    /// Changes the length, on every PE. The elements up to the smaller length are kept,
    /// those beyond the old one are zero.
    ///
    /// # Errors
    /// The symmetric heap has no room: the memory as it was.
    pub fn realloc<T: Element>(
        &self,
        memory: Symmetric<T>,
        len: usize,
    ) -> Result<Symmetric<T>, Symmetric<T>> {
        let old = memory.len;
        if old == 0 || len == 0 || size_of::<T>() == 0 {
            let Some(new) = Symmetric::alloc(len) else { return Err(memory) };
            self.free(memory);
            return Ok(new);
        }
        let Some(bytes) = len.checked_mul(size_of::<T>()) else { return Err(memory) };
        // SAFETY: the array is given away; its parts borrow from it, so there are none.
        let start = unsafe { symmetric::realloc(&"realloc", memory.start.cast(), bytes) };
        if start.is_null() {
            return Err(memory);
        }
        let new = Symmetric { start: start.cast::<T>(), len };
        let more = len.saturating_sub(old);
        // SAFETY: in the block of `len` elements, beyond the old ones, of which no PE
        // makes use before the barrier.
        unsafe { new.start.add(len - more).write_bytes(0, more) };
        self.barrier_all();
        Ok(new)
    }

    /// Frees what [`alloc`](Self::alloc) and the others gave, on every PE.
    pub fn free<T: Element>(&self, memory: Symmetric<T>) {
        symmetric::free(&"free", memory.start.cast());
    }

    /// Where PE `pe` has its copy of `dest`, for loads and stores by this PE. What is done
    /// there is not checked.
    pub fn ptr<T: Element>(&self, dest: SymmetricSlice<'_, T>, pe: usize) -> Option<*mut T> {
        let there = query::ptr(&"ptr", dest.pointer().cast_const().cast(), register(pe));
        (!there.is_null()).then_some(there.cast())
    }

    /// Whether `pe`'s copy of `dest` can be reached: if there are such a PE and an element.
    pub fn addr_accessible<T: Element>(&self, dest: SymmetricSlice<'_, T>, pe: usize) -> bool {
        let address = dest.pointer().cast_const().cast();
        query::addr_accessible(&"addr_accessible", address, register(pe))
    }
}

/// Panics unless two arguments have equally many elements.
pub(super) fn same_len(symmetric: usize, other: usize) {
    assert_eq!(symmetric, other, "the two arguments of a call have different lengths");
}
