//! Ranges of bytes that collectives read and write, and all that is done with their addresses: so
//! that the algorithms are safe code.
//!
//! ```text
//!  Readable  Writable        mapped here: this process loads from them, stores to them
//!  Remote<Readable>          a member's: on another node, its address is a name that only the
//!  Remote<Writable>          group's memory knows what to do with
//! ```
//!
//! What the types hold: nothing is read or written outside the ranges that a call was given, or
//! after it; nothing is loaded from what is not mapped here; private memory is in no use after its
//! end. Who makes a range of memory that other processes see promises the rest, see
//! [`Readable::new`].
//!
//! What they do not hold is the order of the steps in which members read and write: that a source
//! is ready when it is read, and a dest no longer in use when it is written. An algorithm that has
//! it wrong copies the wrong bytes, at the right places: no reference is ever made to them, and any
//! bits are an element. The model checker holds the protocols, and tests with random calls the
//! algorithms. Nor do the types hold that what is copied does not overlap with where it goes: that
//! is checked where there are debug assertions.
#![allow(unsafe_code)]

use std::marker::PhantomData;

/// Bytes that this process can read, for as long as `'m`.
#[derive(Clone, Copy, Debug)]
pub struct Readable<'m> {
    at: *const u8,
    bytes: usize,
    memory: PhantomData<&'m [u8]>,
}

/// Bytes that this process can read and write, for as long as `'m`.
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
    /// For as long as `'m`, the bytes are mapped and readable here, and so are the counterparts
    /// that the memory of a group finds on its members, as far as the collective's rules let it
    /// read them. In that time nobody writes them but the collective that is given the range. It
    /// overlaps with a [`Writable`] of the same call only where the operation permits it.
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
    /// As for [`Readable::new`], and the bytes and their counterparts are writable, too. In that
    /// time nobody reads them, either, but the collective that is given the range.
    #[inline(always)]
    pub unsafe fn new(at: *mut u8, bytes: usize) -> Self {
        Self { at, bytes, memory: PhantomData }
    }

    /// The address.
    #[inline(always)]
    pub fn at(self) -> *mut u8 {
        self.at
    }

    /// Whether it begins where `other` does.
    #[inline(always)]
    pub fn is_at(self, other: Readable<'_>) -> bool {
        std::ptr::eq(self.at, other.at)
    }

    /// Without the right to write.
    #[inline(always)]
    pub fn readable(self) -> Readable<'m> {
        Readable { at: self.at, bytes: self.bytes, memory: PhantomData }
    }

    /// Fills it with zeros.
    pub fn zero(self) {
        // SAFETY: mapped and writable here, as whoever made the range has promised.
        unsafe { self.at.write_bytes(0, self.bytes) }
    }
}

/// The part that begins `start` bytes behind the beginning, which the algorithms have right.
macro_rules! parts {
    ($($range:ident)*) => {$(
        impl $range<'_> {
            /// How many there are.
            #[inline(always)]
            pub fn bytes(self) -> usize {
                self.bytes
            }

            /// So many of them, from byte `start` on.
            #[inline(always)]
            pub fn part(self, start: usize, bytes: usize) -> Self {
                if start > self.bytes || bytes > self.bytes - start {
                    no_part(self.bytes, start, bytes);
                }
                Self { at: self.at.wrapping_add(start), bytes, memory: PhantomData }
            }
        }

        impl Remote<$range<'_>> {
            /// As that of the range.
            #[inline(always)]
            pub fn part(self, start: usize, bytes: usize) -> Self {
                Self(self.0.part(start, bytes))
            }

            /// How many there are.
            #[inline(always)]
            pub fn bytes(self) -> usize {
                self.0.bytes
            }

            /// Where it is mapped here, or its name.
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

macro_rules! private {
    ($($element:ty)*) => {$(
        impl<'m> From<&'m [$element]> for Readable<'m> {
            #[inline(always)]
            fn from(memory: &'m [$element]) -> Self {
                // SAFETY: borrowed for as long, of a type without padding. No other process has it.
                unsafe { Self::new(memory.as_ptr().cast(), size_of_val(memory)) }
            }
        }
        impl<'m> From<&'m mut [$element]> for Writable<'m> {
            #[inline(always)]
            fn from(memory: &'m mut [$element]) -> Self {
                // SAFETY: as above, and any bits are a value of the type.
                unsafe { Self::new(memory.as_mut_ptr().cast(), size_of_val(memory)) }
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
    /// The counterpart of a range on a member.
    ///
    /// # Safety
    /// Its address is what the group's memory says of the range's, and as many bytes are there.
    #[inline(always)]
    pub unsafe fn new(counterpart: R) -> Self {
        Self(counterpart)
    }

    /// The range, of addresses that may be names.
    ///
    /// # Safety
    /// Nobody loads from it or stores to it, unless it is mapped here.
    #[inline(always)]
    pub unsafe fn range(self) -> R {
        self.0
    }
}

/// Copies bytes that are mapped here, as many on both sides.
#[inline(always)]
pub fn copy(from: Readable<'_>, to: Writable<'_>) {
    let bytes = from.bytes;
    if bytes != to.bytes {
        two_lengths(bytes, to.bytes);
    }
    debug_assert!(
        from.at.addr().abs_diff(to.at.addr()) >= bytes || to.is_at(from),
        "a copy overlaps with where it comes from"
    );
    // SAFETY: readable, writable and mapped, as whoever made the ranges has promised. They are
    // apart or the same: ranges of one call overlap only where the operation permits, and
    // what algorithms make of them is apart (above, and what the module says).
    unsafe { crate::copy::bytes(to.at, from.at, bytes) }
}

#[cold]
#[inline(never)]
fn two_lengths(from: usize, to: usize) -> ! {
    panic!("{from} bytes are not copied to {to} bytes")
}
