//! Ranges of bytes that collectives read and write, and all operations on their addresses, so that
//! the algorithms are safe code.
//!
//! ```text
//!  Readable  Writable        mapped here: this process loads from them, stores to them
//!  Remote<Readable>          a member's: on another node, its address is a name that only the
//!  Remote<Writable>          group's memory knows what to do with
//! ```
//!
//! The types guarantee that nothing is read or written outside the ranges that a call was given,
//! or after the call; nothing is loaded from memory that is not mapped here; private memory is not
//! used after its end. Whoever makes a range of memory that other processes see promises the rest,
//! see [`Readable::new`].
//!
//! They do not guarantee the order in which members read and write: that a source is ready
//! when it is read, and that a dest is no longer in use when it is written. An algorithm with the
//! wrong order copies the wrong bytes, but at the right places: no reference is ever made to them,
//! and any bits are a valid element. The model checker verifies the protocols, and tests with
//! random calls the algorithms. Nor do the types guarantee that the two sides of a copy do not
//! overlap: debug assertions check that.
#![allow(unsafe_code)]

use std::marker::PhantomData;

/// Bytes that this process can read during `'m`.
#[derive(Clone, Copy, Debug)]
pub struct Readable<'m> {
    at: *const u8,
    bytes: usize,
    memory: PhantomData<&'m [u8]>,
}

/// Bytes that this process can read and write during `'m`.
#[derive(Clone, Copy, Debug)]
pub struct Writable<'m> {
    at: *mut u8,
    bytes: usize,
    memory: PhantomData<&'m mut [u8]>,
}

/// Bytes that the group's memory reaches: this process's own, or their counterpart on a member.
#[derive(Clone, Copy, Debug)]
pub struct Remote<R>(R);

impl<'m> Readable<'m> {
    /// A source of a collective, or a part of one.
    ///
    /// # Safety
    /// During `'m`, the bytes are mapped and readable here, and so are the counterparts that the
    /// memory of a group finds on its members, as far as the collective's rules let it read them.
    /// During that time only the collective that is given the range writes them. The range overlaps
    /// with a [`Writable`] of the same call only where the operation permits it.
    #[inline(always)]
    pub unsafe fn new(at: *const u8, bytes: usize) -> Self {
        Self { at, bytes, memory: PhantomData }
    }

    /// The address.
    #[inline(always)]
    pub fn at(self) -> *const u8 {
        self.at
    }
}

impl<'m> Writable<'m> {
    /// A dest of a collective, or a part of one.
    ///
    /// # Safety
    /// As for [`Readable::new`]; moreover, the bytes and their counterparts are writable, and
    /// during that time only the collective that is given the range reads them.
    #[inline(always)]
    pub unsafe fn new(at: *mut u8, bytes: usize) -> Self {
        Self { at, bytes, memory: PhantomData }
    }

    /// The address.
    #[inline(always)]
    pub fn at(self) -> *mut u8 {
        self.at
    }

    /// Whether it starts at the same address as `other`.
    #[inline(always)]
    pub fn is_at(self, other: Readable<'_>) -> bool {
        std::ptr::eq(self.at, other.at)
    }

    /// The same range, read-only.
    #[inline(always)]
    pub fn readable(self) -> Readable<'m> {
        Readable { at: self.at, bytes: self.bytes, memory: PhantomData }
    }

    /// Fills it with zeros.
    pub fn zero(self) {
        // SAFETY: mapped and writable here, as whoever made the range promised.
        unsafe { self.at.write_bytes(0, self.bytes) }
    }
}

/// Lengths and parts of ranges. A part outside its range is an algorithm's mistake, and panics.
macro_rules! parts {
    ($($range:ident)*) => {$(
        impl $range<'_> {
            /// The number of bytes.
            #[inline(always)]
            pub fn bytes(self) -> usize {
                self.bytes
            }

            /// The part of `bytes` bytes from byte `start` on.
            #[inline(always)]
            pub fn part(self, start: usize, bytes: usize) -> Self {
                if start > self.bytes || bytes > self.bytes - start {
                    no_part(self.bytes, start, bytes);
                }
                Self { at: self.at.wrapping_add(start), bytes, memory: PhantomData }
            }
        }

        impl Remote<$range<'_>> {
            /// As for the range itself.
            #[inline(always)]
            pub fn part(self, start: usize, bytes: usize) -> Self {
                Self(self.0.part(start, bytes))
            }

            /// The number of bytes.
            #[inline(always)]
            pub fn bytes(self) -> usize {
                self.0.bytes
            }

            /// Its address where it is mapped here, or its name.
            pub fn address(self) -> usize {
                self.0.at.addr()
            }
        }
    )*};
}
parts!(Readable Writable);

#[cold]
#[inline(never)]
fn no_part(all: usize, start: usize, bytes: usize) -> ! {
    panic!("{bytes} bytes from byte {start} on are not among {all} bytes")
}

/// Private memory, of types without padding of which any bits are a value: the borrow promises what
/// [`Readable::new`] asks for.
macro_rules! private {
    ($($element:ty)*) => {$(
        impl<'m> From<&'m [$element]> for Readable<'m> {
            #[inline(always)]
            fn from(memory: &'m [$element]) -> Self {
                let (at, bytes) = (memory.as_ptr().cast(), size_of_val(memory));
                Self { at, bytes, memory: PhantomData }
            }
        }
        impl<'m> From<&'m mut [$element]> for Writable<'m> {
            #[inline(always)]
            fn from(memory: &'m mut [$element]) -> Self {
                let (at, bytes) = (memory.as_mut_ptr().cast(), size_of_val(memory));
                Self { at, bytes, memory: PhantomData }
            }
        }
    )*};
}
private!(u8 u64);

impl<'m> From<Readable<'m>> for Remote<Readable<'m>> {
    #[inline(always)]
    fn from(own: Readable<'m>) -> Self {
        Self(own)
    }
}
impl<'m> From<Writable<'m>> for Remote<Readable<'m>> {
    #[inline(always)]
    fn from(own: Writable<'m>) -> Self {
        Self(own.readable())
    }
}
impl<'m> From<Remote<Writable<'m>>> for Remote<Readable<'m>> {
    #[inline(always)]
    fn from(theirs: Remote<Writable<'m>>) -> Self {
        Self(theirs.0.readable())
    }
}
impl<'m> From<Writable<'m>> for Remote<Writable<'m>> {
    #[inline(always)]
    fn from(own: Writable<'m>) -> Self {
        Self(own)
    }
}

impl<R> Remote<R> {
    /// A member's counterpart of a range.
    ///
    /// # Safety
    /// Its address is the one that the group's memory gives for the range's, and as many bytes are
    /// there.
    #[inline(always)]
    pub unsafe fn new(counterpart: R) -> Self {
        Self(counterpart)
    }

    /// The range, whose address may be a name.
    ///
    /// # Safety
    /// Nobody loads from the range or stores to it, unless it is mapped here.
    #[inline(always)]
    pub unsafe fn range(self) -> R {
        self.0
    }
}

/// Copies bytes that are mapped here. Both sides have the same length.
#[inline(always)]
pub fn copy(from: Readable<'_>, to: Writable<'_>) {
    copy_of_many(from, to, 0);
}

/// As [`copy`], in a collective whose copies take `together` bytes of memory.
#[inline(always)]
pub fn copy_of_many(from: Readable<'_>, to: Writable<'_>, together: usize) {
    let bytes = checked_length(from, to);
    // SAFETY: readable, writable and mapped, as whoever made the ranges promised. They are disjoint
    // or identical: ranges of one call overlap only where the operation permits it, and the parts
    // that algorithms copy between are disjoint (debug-asserted by `checked_length`).
    unsafe { crate::copy::bytes_of_many(to.at, from.at, bytes, together) }
}

/// The bytes to copy.
#[inline(always)]
fn checked_length(from: Readable<'_>, to: Writable<'_>) -> usize {
    let bytes = from.bytes;
    if bytes != to.bytes {
        two_lengths(bytes, to.bytes);
    }
    debug_assert!(
        from.at.addr().abs_diff(to.at.addr()) >= bytes || to.is_at(from),
        "a copy overlaps with where it comes from"
    );
    bytes
}

#[cold]
#[inline(never)]
fn two_lengths(from: usize, to: usize) -> ! {
    panic!("{from} bytes are not copied to {to} bytes")
}
