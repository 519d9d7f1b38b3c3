//! The memory that a call's pointers refer to. Only here do the promises of a C program about its
//! pointers, or the borrows of a Rust program, become types that safe code passes on and that the
//! few files which move bytes rely on.
//!
//! ```text
//!  Object<T>   symmetric: an address of this PE's that stands for memory of each PE
//!  Source<T>   memory of this PE's, or of a device's, that an operation copies from
//!  Dest<T>     the same, that an operation copies to
//!  In<T>       what a routine itself reads: an array of numbers, a configuration
//!  Out<T>      what a routine itself writes: a handle, indices
//!  PSyncArray  symmetric words of a collective on an active set
//!  Block       a block of symmetric memory that the program gives up
//!  Unused      that nobody uses symmetric memory any more
//! ```
//!
//! Each type knows its number of elements. Nobody promises that an [`Object`] is symmetric:
//! operations check it. This file loads and stores nothing but the elements of [`In`] and [`Out`].
#![allow(unsafe_code)]

use std::ffi::c_long;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A symmetric object or array, by its address on this PE.
#[derive(Clone, Copy, Debug)]
pub struct Object<'m, T> {
    at: *mut T,
    len: usize,
    memory: PhantomData<&'m T>,
}

/// Memory that an operation copies from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'m, T> {
    at: *const T,
    len: usize,
    memory: PhantomData<&'m [T]>,
}

/// Memory that an operation copies to.
#[derive(Clone, Copy, Debug)]
pub struct Dest<'m, T> {
    at: *mut T,
    len: usize,
    memory: PhantomData<&'m mut [T]>,
}

/// Elements that a routine itself reads.
#[derive(Clone, Copy, Debug)]
pub struct In<'m, T> {
    at: NonNull<T>,
    len: usize,
    memory: PhantomData<&'m [T]>,
}

/// Elements that a routine itself writes.
#[derive(Clone, Copy, Debug)]
pub struct Out<'m, T> {
    at: NonNull<T>,
    len: usize,
    memory: PhantomData<&'m mut [T]>,
}

/// A `pSync` array, with which the members of an active set synchronise.
#[derive(Clone, Copy, Debug)]
pub struct PSyncArray(usize);

impl PSyncArray {
    /// The array at `at`, for one call of a routine.
    ///
    /// # Safety
    /// If the array is symmetric, which the routine checks, it has on each member as many elements
    /// as the routine's constant says, and nobody accesses them until the call has returned there.
    #[inline(always)]
    pub unsafe fn new(at: *mut c_long) -> Self {
        Self(at.addr())
    }

    /// Its address on this PE.
    pub fn address(self) -> usize {
        self.0
    }
}

/// A block of symmetric memory that the program gives up, by its start.
#[derive(Clone, Copy, Debug)]
pub struct Block(*mut u8);

impl Block {
    /// The block at `at`, or none if that is null.
    ///
    /// # Safety
    /// If it is a block, which the routine checks: nobody uses it any more once all PEs have made the
    /// call, or this one for a block that it alone frees. What the call returns is another block, even
    /// if it is at the same address.
    #[inline(always)]
    pub unsafe fn new(at: *mut u8) -> Self {
        Self(at)
    }

    /// Where it starts on this PE.
    #[inline(always)]
    pub fn at(self) -> *mut u8 {
        self.0
    }
}

/// A promise: this process uses no symmetric memory after a finalisation.
#[derive(Clone, Copy, Debug)]
pub struct Unused(());

impl Unused {
    /// For a call that finalises, or has the end of the program do so.
    ///
    /// # Safety
    /// If it is the last finalisation of a lifetime, nothing of this process accesses symmetric memory
    /// once that has begun, except the call itself.
    #[inline(always)]
    pub const unsafe fn new() -> Self {
        Self(())
    }
}

impl<T> Object<'_, T> {
    /// `len` elements starting at `at`.
    ///
    /// # Safety
    /// Unless the operation that receives the object finds that it is not symmetric: `len` elements
    /// of `T` are there on the PEs that the operation names, and nobody accesses them in conflict
    /// with the operation until it is complete. Atomic operations, signals, locks and waits
    /// conflict only with accesses that are not atomic or have another width.
    #[inline(always)]
    pub const unsafe fn new(at: *const T, len: usize) -> Self {
        Self { at: at.cast_mut(), len, memory: PhantomData }
    }

    /// One element.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    #[inline(always)]
    pub const unsafe fn one(at: *const T) -> Self {
        // SAFETY: the caller guarantees one element.
        unsafe { Self::new(at, 1) }
    }

    /// The address on this PE.
    #[inline(always)]
    pub fn at(self) -> *mut T {
        self.at
    }

    /// The address on this PE, as a number.
    #[inline(always)]
    pub fn address(self) -> usize {
        self.at.addr()
    }

    /// Element `i` of an array. Panics if there is none.
    #[inline(always)]
    #[must_use]
    pub fn element(self, i: usize) -> Self {
        in_bounds(i, self.len);
        Self { at: self.at.wrapping_add(i), len: 1, memory: PhantomData }
    }
}

impl<'m> Object<'m, i64> {
    /// The same object, with unsigned elements.
    #[inline(always)]
    #[must_use]
    pub fn unsigned(self) -> Object<'m, u64> {
        Object { at: self.at.cast(), len: self.len, memory: PhantomData }
    }
}

impl<'m, T> Source<'m, T> {
    /// `len` elements starting at `at`.
    ///
    /// # Safety
    /// The processor, or the device that has the memory, can read the elements for all of `'m` and,
    /// if the operation does not block, until the next quiet. Nobody writes them in that time.
    #[inline(always)]
    pub const unsafe fn new(at: *const T, len: usize) -> Self {
        Self { at, len, memory: PhantomData }
    }

    /// The address.
    #[inline(always)]
    pub fn at(self) -> *const T {
        self.at
    }
}

impl<'m, T> Dest<'m, T> {
    /// `len` elements starting at `at`.
    ///
    /// # Safety
    /// The processor, or the device that has the memory, can write the elements for all of `'m`
    /// and, if the operation does not block, until the next quiet. Nobody else accesses them in
    /// that time.
    #[inline(always)]
    pub const unsafe fn new(at: *mut T, len: usize) -> Self {
        Self { at, len, memory: PhantomData }
    }

    /// The address.
    #[inline(always)]
    pub fn at(self) -> *mut T {
        self.at
    }
}

impl<'m, T> In<'m, T> {
    /// The address.
    #[inline(always)]
    pub fn at(self) -> *const T {
        self.at.as_ptr()
    }
}

impl<'m, T: Copy> In<'m, T> {
    /// `len` elements starting at `at`; `None` if `at` is null.
    ///
    /// # Safety
    /// Unless `at` is null, the elements are values of `T`, readable, and written by nobody for all
    /// of `'m`.
    #[inline(always)]
    pub unsafe fn new(at: *const T, len: usize) -> Option<Self> {
        Some(Self { at: NonNull::new(at.cast_mut())?, len, memory: PhantomData })
    }

    /// Element `i`. Panics if there is none.
    #[inline(always)]
    pub fn get(self, i: usize) -> T {
        in_bounds(i, self.len);
        // SAFETY: one of `len` elements, readable as `new` requires or as they were borrowed.
        unsafe { self.at.add(i).read() }
    }
}

impl<'m, T> Out<'m, T> {
    /// `len` elements starting at `at`; `None` if `at` is null.
    ///
    /// # Safety
    /// Unless `at` is null, the elements are writable, and nobody else accesses them for all of
    /// `'m`.
    #[inline(always)]
    pub unsafe fn new(at: *mut T, len: usize) -> Option<Self> {
        Some(Self { at: NonNull::new(at)?, len, memory: PhantomData })
    }

    /// The address.
    #[inline(always)]
    pub fn at(self) -> *mut T {
        self.at.as_ptr()
    }

    /// Writes element `i`. Panics if there is none.
    #[inline(always)]
    pub fn set(self, i: usize, value: T) {
        in_bounds(i, self.len);
        // SAFETY: one of `len` elements, writable as `new` requires or as they were borrowed.
        unsafe { self.at.add(i).write(value) }
    }
}

macro_rules! counted {
    ($($operand:ident)*) => {$(
        impl<T> $operand<'_, T> {
            /// Number of elements.
            #[inline(always)]
            pub fn len(self) -> usize {
                self.len
            }

            /// Whether there are none.
            #[inline(always)]
            pub fn is_empty(self) -> bool {
                self.len == 0
            }
        }
    )*};
}
counted!(Object Source Dest In Out);

impl<'m, T> From<&'m [T]> for Source<'m, T> {
    #[inline(always)]
    fn from(elements: &'m [T]) -> Self {
        Self { at: elements.as_ptr(), len: elements.len(), memory: PhantomData }
    }
}
impl<'m, T> From<&'m mut [T]> for Dest<'m, T> {
    #[inline(always)]
    fn from(elements: &'m mut [T]) -> Self {
        Self { at: elements.as_mut_ptr(), len: elements.len(), memory: PhantomData }
    }
}
impl<'m, T> From<&'m [T]> for In<'m, T> {
    fn from(elements: &'m [T]) -> Self {
        Self { at: NonNull::from(elements).cast(), len: elements.len(), memory: PhantomData }
    }
}
impl<'m, T> From<&'m T> for In<'m, T> {
    fn from(element: &'m T) -> Self {
        Self { at: NonNull::from(element), len: 1, memory: PhantomData }
    }
}
impl<'m, T> From<&'m mut [T]> for Out<'m, T> {
    fn from(elements: &'m mut [T]) -> Self {
        Self { len: elements.len(), at: NonNull::from(elements).cast(), memory: PhantomData }
    }
}
impl<'m, T> From<&'m mut T> for Out<'m, T> {
    fn from(element: &'m mut T) -> Self {
        Self { at: NonNull::from(element), len: 1, memory: PhantomData }
    }
}

/// The common number of elements of two arguments. Panics if the numbers differ.
#[inline(always)]
pub fn same_length(one: usize, other: usize) -> usize {
    if one != other {
        two_lengths(one, other);
    }
    one
}

#[cold]
#[inline(never)]
fn two_lengths(one: usize, other: usize) -> ! {
    panic!("{one} elements and {other} elements are not equally many")
}

#[inline(always)]
fn in_bounds(i: usize, len: usize) {
    if i >= len {
        out_of_bounds(i, len);
    }
}

#[cold]
#[inline(never)]
fn out_of_bounds(i: usize, len: usize) -> ! {
    panic!("element {i} is not one of {len}")
}
