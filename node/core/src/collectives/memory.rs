//! The members' memory: where the counterparts of a range are, and how their bytes are copied.
#![allow(unsafe_code)]

use super::range::{Readable, Remote, Writable, copy_of_many};
use super::scratch::Scratch;

/// An argument of a collective that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Where the members' data comes from.
    Source,
    /// Where the result goes.
    Dest,
}

impl Buffer {
    /// The argument's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Dest => "dest",
        }
    }
}

/// The members' memory, as this process reaches it.
///
/// # Safety
/// Safe code copies at the addresses that these functions return. For the first byte of a range,
/// [`peer`](Self::peer) returns the address of the member's counterpart, which has as many bytes:
/// mapped here, or a name that [`copy`](Self::copy) and [`near`](Self::near) are implemented for.
/// If the member has no counterpart, it returns an error. `copy` and `near` copy all the bytes, and
/// write no others. [`check`](Self::check) returns an error unless all the bytes are mapped.
pub unsafe trait Memory {
    /// Why a collective may end early.
    type Stop;

    /// The address at which `member`'s counterpart of this process's `address` in `buffer` is
    /// mapped here, or a name for it.
    ///
    /// # Errors
    /// If there is none, or it cannot be reached.
    fn peer(&self, buffer: Buffer, address: usize, member: usize) -> Result<usize, Self::Stop>;

    /// Checks that the `bytes` bytes of `buffer` from this process's `address` on have
    /// counterparts.
    ///
    /// # Errors
    /// If they do not.
    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Result<(), Self::Stop>;

    /// Copies bytes. Algorithms move all bytes in the members' memory through this function. Both
    /// sides have the same length. All copies of the collective take `together` bytes of memory, of all
    /// members' sources and dests, or 0 if that does not matter.
    #[inline(always)]
    fn copy(&self, from: Remote<Readable<'_>>, to: Remote<Writable<'_>>, together: usize) {
        // SAFETY: both are mapped here: where `peer` returns names, `copy` has another implementation.
        unsafe { copy_of_many(from.range(), to.range(), together) }
    }

    /// Makes a member's bytes readable here: in place, or in `room` if they must be fetched first.
    #[inline(always)]
    fn near<'m>(&self, from: Remote<Readable<'m>>, room: &'m mut Option<Scratch>) -> Readable<'m> {
        let _ = room;
        // SAFETY: it is mapped here: where `peer` returns names, `near` has another implementation.
        unsafe { from.range() }
    }

    /// Notes that an algorithm has read this many bytes of the members' memory in place.
    fn read(&self, _bytes: usize) {}
}

/// `member`'s counterpart of a range of a source.
///
/// # Errors
/// As for [`Memory::peer`].
#[inline(always)]
pub fn source<'m, M: Memory>(
    memory: &M,
    own: Readable<'m>,
    member: usize,
) -> Result<Remote<Readable<'m>>, M::Stop> {
    let at = memory.peer(Buffer::Source, own.at().addr(), member)? as *const u8;
    // SAFETY: the address is the one `peer` returned. The promises for this process's range include
    // its counterpart, of as many bytes.
    Ok(unsafe { Remote::new(Readable::new(at, own.bytes())) })
}

/// As [`source`], for a dest.
///
/// # Errors
/// As for [`Memory::peer`].
#[inline(always)]
pub fn dest<'m, M: Memory>(
    memory: &M,
    own: Writable<'m>,
    member: usize,
) -> Result<Remote<Writable<'m>>, M::Stop> {
    let at = memory.peer(Buffer::Dest, own.at().addr(), member)? as *mut u8;
    // SAFETY: the address is the one `peer` returned. The promises for this process's range include
    // its counterpart, of as many bytes.
    Ok(unsafe { Remote::new(Writable::new(at, own.bytes())) })
}

/// Memory of members without counterparts.
#[cfg(test)]
pub struct Private;

// SAFETY: it returns no addresses.
#[cfg(test)]
unsafe impl Memory for Private {
    type Stop = std::convert::Infallible;

    fn peer(&self, _: Buffer, _: usize, _: usize) -> Result<usize, Self::Stop> {
        unreachable!("nobody has a counterpart")
    }
    fn check(&self, _: Buffer, _: usize, _: usize) -> Result<(), Self::Stop> {
        unreachable!("nobody has a counterpart")
    }
}
