//! The members' memory: where the counterparts of a range are, and how bytes come from there.
#![allow(unsafe_code)]

use super::range::{Readable, Remote, Writable, copy};
use super::scratch::Scratch;

/// A buffer of a collective: the argument that an address comes from.
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
/// Safe code copies where these functions say. The address that [`peer`](Self::peer) returns for
/// the first byte of a range is that of the member's counterpart, with as many bytes: mapped here,
/// or a name that [`copy`](Self::copy) and [`near`](Self::near) are implemented for. What is no
/// member's counterpart is an error. `copy` and `near` copy all the bytes, and write no others.
/// [`check`](Self::check) returns an error unless all the bytes are mapped.
pub unsafe trait Memory {
    /// Why a collective may end early.
    type Stop;

    /// Where the counterpart that `member` owns of the own `address`, which is `buffer`'s, is
    /// mapped here; or a name for it.
    ///
    /// # Errors
    /// If there is none, or it cannot be reached.
    fn peer(&self, buffer: Buffer, address: usize, member: usize) -> Result<usize, Self::Stop>;

    /// Checks that `bytes` bytes from the own `address` on, which is `buffer`'s, have counterparts.
    ///
    /// # Errors
    /// If they have not.
    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Result<(), Self::Stop>;

    /// Copies bytes: the way all bytes go that an algorithm moves in the members' memory. There are
    /// as many on both sides.
    #[inline(always)]
    fn copy(&self, from: Remote<Readable<'_>>, to: Remote<Writable<'_>>) {
        // SAFETY: mapped here, where no address is a name; see the trait.
        unsafe { copy(from.range(), to.range()) }
    }

    /// Where the bytes of a member can be read in place: there, or in `room` if they must be
    /// brought here first.
    #[inline(always)]
    fn near<'m>(&self, from: Remote<Readable<'m>>, room: &'m mut Option<Scratch>) -> Readable<'m> {
        let _ = room;
        // SAFETY: as above.
        unsafe { from.range() }
    }

    /// Notes that an algorithm has read so many bytes of the members' memory where they lie.
    fn read(&self, _bytes: usize) {}
}

/// The counterpart that a member owns of a range of a source.
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
    // SAFETY: where `peer` says; whoever made the own range has promised as much of its
    // counterpart.
    Ok(unsafe { Remote::new(Readable::new(at, own.bytes())) })
}

/// As [`source`], of a dest.
///
/// # Errors
/// As there.
#[inline(always)]
pub fn dest<'m, M: Memory>(
    memory: &M,
    own: Writable<'m>,
    member: usize,
) -> Result<Remote<Writable<'m>>, M::Stop> {
    let at = memory.peer(Buffer::Dest, own.at().addr(), member)? as *mut u8;
    // SAFETY: as above.
    Ok(unsafe { Remote::new(Writable::new(at, own.bytes())) })
}

/// The memory of members that have no counterparts of each other's.
#[cfg(test)]
pub struct Private;

// SAFETY: nothing is named.
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
