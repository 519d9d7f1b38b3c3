//! Symmetric memory: arrays on the symmetric heap.
#![allow(unsafe_code)]

use super::Shmem;
use super::context::register;
use super::flags::Hints;
use super::slice::SymmetricSlice;
use crate::argument::memory::{Block, Unused};
use crate::collectives::{Element, agreement};
use crate::heap;
use crate::memory::heap::GRANULE;
use crate::partition;
use crate::query;
use oneshmem_job::error::{Called::Blocking, Error, Result, Routine};
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// The name of the symmetric heap in errors.
const HEAP: &str = "the symmetric heap (SHMEM_SYMMETRIC_SIZE sets its size)";

/// An array on the symmetric heap: `len` elements of `T` on every PE. It borrows from the [`Shmem`]
/// that allocated it, so that nothing uses it after [`Shmem::finalize`], and stays in the thread of
/// that: [`Threads::share`](super::Threads::share) lets other threads use it. [`Shmem::free`] frees
/// it. Dropping it does not.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// let table = shmem.alloc::<i32>(10)?;
/// table.slice(2..5).write(&[7, 8, 9]);
/// assert_eq!(table.at(3).get(), 8);
/// assert_eq!(table.all().to_vec()[..3], [0, 0, 7]);
/// # shmem.free(table);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
///
/// ```compile_fail,E0505
/// # let shmem = oneshmem::init()?;
/// let table = shmem.alloc::<i32>(10)?;
/// shmem.finalize();
/// table.at(3).get();      // The memory is gone.
/// # Ok::<(), oneshmem::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "freed only by Shmem::free"]
pub struct Symmetric<'a, T> {
    start: *mut T,
    len: usize,
    // Not `Send` or `Sync`: see `Threads` on sharing a PE.
    shmem: PhantomData<&'a Shmem>,
}

// The lengths and places of an array are the same on all PEs: a PE that accesses another one's copy checks only its own. So
// all PEs compare what they allocate, resize and free, each time, before they do so.
impl<T: Element> Symmetric<'_, T> {
    const ELEMENT_BYTES: (&'static str, usize) = ("bytes of an element", size_of::<T>());

    /// An array of existing elements.
    #[cfg(test)]
    pub(super) fn existing(array: crate::argument::memory::Object<'_, T>) -> Self {
        Self { start: array.at(), len: array.len(), shmem: PhantomData }
    }

    /// Allocates zeroed elements. `Element` guarantees that all bits zero is a value of `T`.
    fn alloc(routine: Routine, len: usize) -> Result<Self> {
        agreement::among_all(routine, &[("len", len), Self::ELEMENT_BYTES, agreement::NONE]);
        if len == 0 {
            return Ok(Self::none());
        }
        let start = heap::calloc(routine, len, size_of::<T>());
        Self::allocated(start, len, || HEAP.to_owned())
    }

    /// Allocates as [`alloc`](Self::alloc), from partition `id`.
    pub(super) fn alloc_in(routine: Routine, id: usize, len: usize) -> Result<Self> {
        agreement::among_all(routine, &[("len", len), Self::ELEMENT_BYTES, ("the partition", id)]);
        if len == 0 {
            return Ok(Self::none());
        }
        let start = partition::calloc(routine, len, size_of::<T>(), id as i32);
        Self::allocated(start, len, || format!("partition {id}"))
    }

    /// An array without elements or memory.
    fn none() -> Self {
        Self { start: std::ptr::null_mut(), len: 0, shmem: PhantomData }
    }

    /// The array at `start`, as the allocator returned it; null if it failed.
    fn allocated(start: *mut u8, len: usize, place: impl FnOnce() -> String) -> Result<Self> {
        const {
            assert!(size_of::<T>() > 0, "an element of symmetric memory needs at least one byte");
            assert!(align_of::<T>() <= GRANULE, "an element is aligned to 16 bytes at most");
        }
        match start.is_null() {
            true => Err(Error::NoMemory { len, element_bytes: size_of::<T>(), place: place() }),
            false => Ok(Self { start: start.cast(), len, shmem: PhantomData }),
        }
    }

    /// Makes the elements from number `first` on zero.
    fn zero_from(&self, first: usize) {
        assert!(first <= self.len);
        // SAFETY: elements of this array, of which all bits zero is a value. There are no references to them.
        unsafe { self.start.add(first).write_bytes(0, self.len - first) };
    }

    /// Ends the job unless all PEs make this call with this array and the same length, which is `len` itself
    /// or a new one.
    fn agree(&self, routine: Routine, len: usize) {
        let (partition, offset) = match self.len {
            0 => (0, usize::MAX),
            _ => heap::name_of(routine, self.start.cast()),
        };
        let array = [("the array's partition, plus 1", partition), ("the array's offset", offset)];
        agreement::among_all(routine, &[("len", len), array[0], array[1]]);
    }

    /// Frees the array.
    pub(super) fn free(self, routine: Routine) {
        self.agree(routine, self.len);
        heap::free(routine, self.into_block());
    }

    /// Hands its memory over.
    fn into_block(self) -> Block {
        // SAFETY: this was the array. Its parts borrow from it, so none exist.
        unsafe { Block::new(self.start.cast()) }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All elements.
    #[inline]
    pub fn all(&self) -> SymmetricSlice<'_, T> {
        // SAFETY: the elements of this array, which is neither freed nor outlives its lifetime while
        // it is borrowed.
        unsafe { SymmetricSlice::new(self.start, self.len) }
    }

    /// The elements in `range`.
    ///
    /// # Panics
    /// If the range ends before it starts, or exceeds the array.
    #[inline]
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> SymmetricSlice<'_, T> {
        self.all().slice(range)
    }

    /// Element `index`.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    #[track_caller]
    pub fn at(&self, index: usize) -> SymmetricSlice<'_, T> {
        self.all().at(index)
    }
}

impl Shmem {
    /// The promise that a finalisation needs: if it is the last one, nobody uses symmetric memory any more.
    pub(super) fn unused(self) -> Unused {
        // SAFETY: every `Shmem` stands for an initialisation, so at the last finalisation this is the
        // last. Arrays, their parts and what is shared with other threads borrow from one, so there
        // are none left.
        unsafe { Unused::new() }
    }
}

/// Symmetric memory. All PEs allocate and free it together: they make the same calls in the same
/// order, with equal arguments. The job ends if they do not.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// let table = shmem.alloc::<u64>(3)?;
/// table.all().write(&[1, 2, 3]);
/// let table = shmem.realloc(table, 5).expect("the heap has room");
/// assert_eq!(table.all().to_vec(), [1, 2, 3, 0, 0]);
///
/// let page = shmem.align::<u8>(4096, 100)?;
/// assert_eq!(shmem.ptr(page.all(), shmem.my_pe()).unwrap() as usize % 4096, 0);
/// # shmem.free(page);
/// # shmem.free(table);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
impl Shmem {
    /// Allocates `len` zeroed elements on every PE.
    ///
    /// # Errors
    /// [`Error::NoMemory`], on all PEs, if the symmetric heap has no room.
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Symmetric<'_, T>> {
        Symmetric::alloc(&Blocking("alloc"), len)
    }

    /// As [`alloc`](Self::alloc), aligned to `alignment` bytes, a power of two.
    ///
    /// # Errors
    /// [`Error::NoMemory`], on all PEs, if the symmetric heap has no room or `alignment` is
    /// invalid.
    pub fn align<T: Element>(&self, alignment: usize, len: usize) -> Result<Symmetric<'_, T>> {
        let routine = &Blocking("align");
        let agreed = [("len", len), Symmetric::<T>::ELEMENT_BYTES, ("alignment", alignment)];
        agreement::among_all(routine, &agreed);
        if len == 0 {
            return Ok(Symmetric::none());
        }
        // A size that overflows fails like a request for all of memory.
        let bytes = len.saturating_mul(size_of::<T>());
        let alignment = alignment.max(align_of::<T>());
        let start = heap::align(routine, alignment, bytes);
        let memory = Symmetric::allocated(start, len, || format!("{HEAP}, at {alignment}"))?;
        memory.zero_from(0);
        self.barrier_all();
        Ok(memory)
    }

    /// As [`alloc`](Self::alloc), with hints on how the memory will be used. They change nothing:
    /// all memory of a node is equally suitable.
    ///
    /// # Errors
    /// As for [`alloc`](Self::alloc).
    pub fn alloc_with_hints<T: Element>(
        &self,
        len: usize,
        _hints: Hints,
    ) -> Result<Symmetric<'_, T>> {
        Symmetric::alloc(&Blocking("alloc_with_hints"), len)
    }

    /// Changes the length on every PE. Keeps the elements up to the smaller length; new elements
    /// are zero.
    ///
    /// # Errors
    /// The unchanged memory, if the symmetric heap has no room.
    pub fn realloc<'a, T: Element>(
        &'a self,
        memory: Symmetric<'a, T>,
        len: usize,
    ) -> Result<Symmetric<'a, T>, Symmetric<'a, T>> {
        memory.agree(&Blocking("realloc"), len);
        let (old, unchanged) = (memory.len, memory.start);
        if old == 0 || len == 0 {
            let Ok(new) = Symmetric::alloc(&Blocking("realloc"), len) else { return Err(memory) };
            self.free(memory);
            return Ok(new);
        }
        let Some(bytes) = len.checked_mul(size_of::<T>()) else { return Err(memory) };
        let start = heap::realloc(&Blocking("realloc"), memory.into_block(), bytes);
        if start.is_null() {
            return Err(Symmetric { start: unchanged, len: old, shmem: PhantomData });
        }
        let new = Symmetric { start: start.cast::<T>(), len, shmem: PhantomData };
        // No PE uses these before the barrier.
        new.zero_from(old.min(len));
        self.barrier_all();
        Ok(new)
    }

    /// Frees memory from [`alloc`](Self::alloc) and the other allocation methods, on every PE.
    pub fn free<T: Element>(&self, memory: Symmetric<'_, T>) {
        memory.free(&Blocking("free"));
    }

    /// The address of PE `pe`'s copy of `dest`, for loads and stores by this PE. `None` if the PE
    /// does not exist or is on another node. Accesses there are not checked.
    pub fn ptr<T: Element>(&self, dest: SymmetricSlice<'_, T>, pe: usize) -> Option<*mut T> {
        let there = query::ptr(&Blocking("ptr"), dest.pointer().cast_const().cast(), register(pe));
        (!there.is_null()).then_some(there.cast())
    }

    /// Whether the symmetric heap and the partitions in the processor's memory have the same addresses on all PEs.
    /// Waits until all PEs have initialised.
    pub fn equal_addresses(&self) -> bool {
        query::equal_addresses(&Blocking("equal_addresses"))
    }

    /// Whether this PE can reach `pe`'s copy of `dest`: the PE exists and `dest` has an element.
    pub fn addr_accessible<T: Element>(&self, dest: SymmetricSlice<'_, T>, pe: usize) -> bool {
        let address = dest.pointer().cast_const().cast();
        query::addr_accessible(&Blocking("addr_accessible"), address, register(pe))
    }
}
