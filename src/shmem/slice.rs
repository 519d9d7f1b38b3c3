//! Parts of symmetric arrays.
#![allow(unsafe_code)]

use crate::argument::memory::{Dest, Object, Source};
use crate::atomics::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};
use crate::collectives::Element;
use crate::collectives::arrays::{Arrays, Table};
use onenode_core::copy;
use oneshmem_job::error::{Called::Blocking, Routine};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Bound, RangeBounds};

/// Some elements of a [`Symmetric`](super::Symmetric) array: the symmetric argument of operations.
/// It also gives access to this PE's own copy, much like a slice of [`Cell`](std::cell::Cell)s.
/// Elements are copied in and out. There are no references to them, because other PEs may write
/// them at any time. A number of up to 64 bits is read as it was written; a struct, an array or several elements may be
/// read half changed.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// let table = shmem.alloc::<i32>(6)?;
/// let middle = table.slice(2..5);
/// middle.write(&[7, 8, 9]);                            // all of it
/// middle.at(1).set(80);                                // an element
/// middle.at(2).update(|value| value + 1);
/// assert_eq!(table.all().to_vec(), [0, 0, 7, 80, 10, 0]);
///
/// // An element after the other.
/// for element in middle.iter() {
///     element.set(2 * element.get());
/// }
/// let sum: i32 = table.all().iter().map(|element| element.get()).sum();
/// assert_eq!(sum, 2 * (7 + 80 + 10));
///
/// // Into memory of the program's own.
/// let mut copy = [0; 3];
/// middle.read(&mut copy);
/// assert_eq!(copy, [14, 160, 20]);
/// # shmem.free(table);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
// For `'a`, the `len` elements from `start` on are mapped, readable, writable and aligned, and any bits
// are a value of their type: `new` asks for it, and parts are within the whole. Safe code has no
// references to them, only copies: an access at the wrong time yields wrong values, no more.
#[derive(Debug)]
pub struct SymmetricSlice<'a, T> {
    start: *mut T,
    len: usize,
    array: PhantomData<&'a T>,
}

impl<T> Clone for SymmetricSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for SymmetricSlice<'_, T> {}

impl<'a, T: Element> SymmetricSlice<'a, T> {
    /// The `len` elements at `start`, which is null if there are none.
    ///
    /// # Safety
    /// They are in a block of symmetric memory that stays allocated for `'a`. At a level below
    /// [`ThreadLevel::Multiple`](super::ThreadLevel::Multiple), the thread is the library's.
    pub(super) const unsafe fn new(start: *mut T, len: usize) -> Self {
        // Dangling, not null, if the array has no elements, as what may become a slice has to be.
        let start = if start.is_null() { std::ptr::dangling_mut() } else { start };
        Self { start, len, array: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements in `range`, relative to this slice.
    ///
    /// # Panics
    /// If the range ends before it starts, or exceeds the slice.
    #[inline]
    #[track_caller]
    pub fn slice(self, range: impl RangeBounds<usize>) -> Self {
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(last) => last.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => self.len,
        };
        if start > end || end > self.len {
            no_range(start, end, self.len);
        }
        Self { start: self.start.wrapping_add(start), len: end - start, ..self }
    }

    /// Element `index` of this slice.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    #[track_caller]
    pub fn at(self, index: usize) -> Self {
        if index >= self.len {
            no_element(index, self.len);
        }
        Self { start: self.start.wrapping_add(index), len: 1, ..self }
    }

    /// Iterates over the elements, each as a slice of one.
    #[inline]
    pub fn iter(
        self,
    ) -> impl DoubleEndedIterator<Item = SymmetricSlice<'a, T>> + ExactSizeIterator {
        let element = move |index| Self { start: self.start.wrapping_add(index), len: 1, ..self };
        (0..self.len).map(element)
    }

    /// The first element of this PE's copy.
    ///
    /// # Panics
    /// If the slice is empty.
    #[inline]
    #[track_caller]
    pub fn get(self) -> T {
        load(self.first(&Blocking("get")))
    }

    /// Sets the first element of this PE's copy.
    ///
    /// # Panics
    /// If the slice is empty.
    #[inline]
    #[track_caller]
    pub fn set(self, value: T) {
        store(self.head(&Blocking("set")), value);
    }

    /// Replaces the first element of this PE's copy by `change` of it. Not atomic; for that, see
    /// [`Context::atomic_fetch_add`](super::Context::atomic_fetch_add).
    ///
    /// # Panics
    /// If the slice is empty.
    #[inline]
    #[track_caller]
    pub fn update(self, change: impl FnOnce(T) -> T) {
        self.set(change(self.get()));
    }

    /// Copies this PE's elements to `values`.
    ///
    /// # Panics
    /// If the lengths differ.
    #[inline]
    #[track_caller]
    pub fn read(self, values: &mut [T]) {
        same_len(&Blocking("read"), ("values", values.len()), ("the slice", self.len));
        // SAFETY: the slice's elements, and as many of the program's own.
        unsafe { copy::elements(values.as_mut_ptr(), self.pointer(), self.len) }
    }

    /// Copies `values` to this PE's elements.
    ///
    /// # Panics
    /// If the lengths differ.
    #[inline]
    #[track_caller]
    pub fn write(self, values: &[T]) {
        same_len(&Blocking("write"), ("values", values.len()), ("the slice", self.len));
        // SAFETY: the slice's elements, and as many of the program's own.
        unsafe { copy::elements(self.pointer(), values.as_ptr(), self.len) }
    }

    /// Copies this PE's elements to a new vector.
    pub fn to_vec(self) -> Vec<T> {
        let mut elements = Vec::with_capacity(self.len);
        // SAFETY: the slice's elements, and room for as many, which are then values.
        unsafe {
            copy::elements(elements.as_mut_ptr(), self.pointer(), self.len);
            elements.set_len(self.len);
        }
        elements
    }

    /// Sets all of this PE's elements to `value`.
    pub fn fill(self, value: T) {
        self.iter().for_each(|element| element.set(value));
    }

    /// This PE's elements as a slice, without a copy. Lets the compiler vectorise loops, and suits
    /// code that takes slices.
    ///
    /// ```standalone_crate
    /// # let shmem = oneshmem::init()?;
    /// # let npes = shmem.n_pes();
    /// # let inbox = shmem.alloc::<u64>(npes)?;
    /// for pe in 0..npes {
    ///     shmem.p(inbox.at(shmem.my_pe()), 1, pe);
    /// }
    /// shmem.barrier_all();
    /// // SAFETY: all puts to `inbox` are complete, and there are none before the next barrier.
    /// let received = unsafe { inbox.all().as_slice() };
    /// assert_eq!(received.iter().sum::<u64>(), npes as u64);
    /// shmem.barrier_all();
    /// # shmem.free(inbox);
    /// # shmem.finalize();
    /// # Ok::<(), oneshmem::Error>(())
    /// ```
    ///
    /// # Safety
    /// While the slice is in use, nobody changes these elements: no PE puts to them or performs an
    /// atomic operation on them, no collective has them as its destination, and this PE does not
    /// set them. Other PEs may read them. Typically, a program uses the slice between two barriers
    /// of all PEs, and all PEs change the elements only before the first barrier or after the
    /// second.
    #[inline]
    pub unsafe fn as_slice(self) -> &'a [T] {
        // SAFETY: the `len` elements stay mapped for `'a`. They are aligned, as all arrays are, and
        // any bits are a valid `T`. The caller guarantees that nobody writes them.
        unsafe { std::slice::from_raw_parts(self.pointer(), self.len) }
    }

    /// As [`as_slice`](Self::as_slice), mutable.
    ///
    /// # Safety
    /// While the slice is in use, nobody else reads or changes these elements: no PE and no
    /// collective does, and this PE only through the slice.
    #[inline]
    pub unsafe fn as_mut_slice(self) -> &'a mut [T] {
        // SAFETY: the slice's elements, which are values. The caller guarantees that nobody else
        // accesses them.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.len) }
    }

    /// The address, for the core; never null. An empty part of an array also has an address: other PEs'
    /// parts that start there may have elements.
    pub(super) fn pointer(self) -> *mut T {
        self.start
    }

    /// These elements as an operand.
    #[inline]
    pub(super) fn object(self) -> Object<'a, T> {
        // SAFETY: the slice's elements, in a block of symmetric memory.
        unsafe { Object::new(self.pointer(), self.len) }
    }

    /// This PE's own copy as a source.
    #[inline]
    pub(super) fn source(self) -> Source<'a, T> {
        // SAFETY: the slice's elements, which are readable.
        unsafe { Source::new(self.pointer(), self.len) }
    }

    /// This PE's own copy as a destination.
    #[inline]
    pub(super) fn dest(self) -> Dest<'a, T> {
        // SAFETY: the slice's elements, which are writable, with any bits.
        unsafe { Dest::new(self.pointer(), self.len) }
    }

    /// The destination (this) and source of a collective.
    pub(super) fn with(self, source: Self) -> Arrays<'a> {
        // SAFETY: both are in symmetric memory. Whatever the lengths, the call checks that all memory is in the
        // heap or in one partition, where any bits are valid values.
        unsafe { Arrays::new(self.pointer(), source.pointer()) }
    }

    /// The first element as an operand. Panics if the slice is empty.
    #[inline]
    #[track_caller]
    pub(super) fn first(self, routine: Routine) -> Object<'a, T> {
        self.head(routine).object()
    }

    #[inline]
    #[track_caller]
    fn head(self, routine: Routine) -> Self {
        if self.len == 0 {
            empty(routine);
        }
        Self { len: 1, ..self }
    }

    /// Whether this and `other` have bytes in common.
    pub(super) fn overlaps<U: Element>(self, other: SymmetricSlice<'_, U>) -> bool {
        let (a, b) = (self.start as usize, other.start as usize);
        let (a_end, b_end) = (a + self.len * size_of::<T>(), b + other.len * size_of::<U>());
        self.len > 0 && other.len > 0 && a < b_end && b < a_end
    }

    /// Panics unless this and `other` have nothing in common.
    #[track_caller]
    pub(super) fn assert_disjoint<U: Element>(
        self,
        routine: Routine,
        other: SymmetricSlice<'_, U>,
    ) {
        if self.overlaps(other) {
            overlap(routine);
        }
    }
}

impl<'a> SymmetricSlice<'a, usize> {
    /// A table of a collective, of which other PEs read their elements.
    pub(super) fn table(self) -> Table<'a> {
        // SAFETY: the slice's elements, which are readable.
        let table = unsafe { Table::new(self.pointer(), self.len) };
        table.expect("never null")
    }
}

/// Parts of symmetric arrays, wherever these lie: what operations and collectives take as symmetric
/// arguments. [`SymmetricSlice`] is one, and [`DeviceSlice`](super::DeviceSlice), which the processor
/// does not reach, another; there are no others.
pub trait Part<T>: Copy {
    #[doc(hidden)]
    fn part(&self, key: Key) -> SymmetricSlice<'_, T>;
}

/// A type that only this crate can name: nobody else implements [`Part`], or looks into one.
#[derive(Clone, Copy, Debug)]
pub struct Key;

impl<T> Part<T> for SymmetricSlice<'_, T> {
    #[inline]
    fn part(&self, _: Key) -> SymmetricSlice<'_, T> {
        *self
    }
}

/// Runs `$call` with the atomic type that a number of the size of `$t` can be accessed by, if `$t` is
/// aligned like one.
macro_rules! as_number {
    ($t:ty, $atomic:ident => $call:expr) => {{
        if align_of::<$t>() == size_of::<$t>() {
            match size_of::<$t>() {
                1 => {
                    type $atomic = AtomicU8;
                    return $call;
                }
                2 => {
                    type $atomic = AtomicU16;
                    return $call;
                }
                4 => {
                    type $atomic = AtomicU32;
                    return $call;
                }
                8 => {
                    type $atomic = AtomicU64;
                    return $call;
                }
                _ => {}
            }
        }
    }};
}

/// Copies an element from symmetric memory, at once if it has the size of a number. Other threads and
/// PEs may write it meanwhile.
#[inline(always)]
fn load<T: Element>(element: Object<'_, T>) -> T {
    let at = element.at();
    // SAFETY: the element is mapped, of that size, and aligned. Any bits are a valid `T`.
    as_number!(T, Atomic => unsafe {
        std::mem::transmute_copy(&Atomic::from_ptr(at.cast()).load(Ordering::Relaxed))
    });
    let mut value = MaybeUninit::uninit();
    // SAFETY: the element is mapped, and copied to the local. Any bits are a valid `T`.
    unsafe {
        copy::elements(value.as_mut_ptr(), at, 1);
        value.assume_init()
    }
}

/// Copies an element to symmetric memory, as [`load`] from there.
#[inline(always)]
fn store<T: Element>(element: SymmetricSlice<'_, T>, value: T) {
    let at = element.pointer();
    // SAFETY: the element is mapped, of that size, and aligned.
    as_number!(T, Atomic => unsafe {
        Atomic::from_ptr(at.cast()).store(std::mem::transmute_copy(&value), Ordering::Relaxed)
    });
    element.write(&[value]);
}

/// Panics unless two arguments of a routine, each with its name, have equally many elements.
#[inline]
#[track_caller]
pub(super) fn same_len(
    routine: Routine,
    (name, len): (&str, usize),
    (other, expected): (&str, usize),
) {
    if len != expected {
        other_len(routine, (name, len), (other, expected));
    }
}

// The panics. Apart, so that loops over elements do not prepare their messages.

#[cold]
#[inline(never)]
#[track_caller]
fn other_len(routine: Routine, (name, len): (&str, usize), (other, expected): (&str, usize)) -> ! {
    panic!("{routine}: {name} has {len} elements; expected {expected}, as many as {other} has")
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_element(index: usize, len: usize) -> ! {
    panic!("at: index is {index}; expected less than {len}, the number of elements")
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_range(start: usize, end: usize, len: usize) -> ! {
    panic!("slice: range is {start}..{end}; expected a part of 0..{len}")
}

#[cold]
#[inline(never)]
#[track_caller]
fn empty(routine: Routine) -> ! {
    panic!("{routine}: the symmetric argument has no elements; expected one")
}

#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn overlap(routine: Routine) -> ! {
    panic!("{routine}: the symmetric arguments overlap; expected that they do not")
}
