//! What each member gives to a collect, and where it goes.
#![allow(unsafe_code)]

use crate::collectives::group::{Group, Outcome, Reach, SMALL_BYTES, Small};
use crate::collectives::memory::{Buffer, Memory};
use crate::collectives::message::content;
use crate::collectives::range::{Readable, Remote, Writable};

/// Most bytes of a part whose length goes with it.
const BESIDE_LENGTH: usize = SMALL_BYTES - size_of::<u64>();

/// Where each member's part of the result is, in bytes.
#[derive(Clone, Debug)]
pub enum Parts {
    /// All parts have this many bytes: fcollect.
    Equal(usize),
    /// Of any lengths: collect. Where each part starts, and where the last one ends.
    Varying(Vec<usize>),
}

impl Parts {
    /// Where `member`'s part starts; that of the one after the last is the end of all.
    pub fn start(&self, member: usize) -> usize {
        match self {
            Self::Equal(bytes) => member * bytes,
            Self::Varying(starts) => starts[member],
        }
    }

    /// Bytes of the parts of members `first .. end`.
    pub fn bytes(&self, first: usize, end: usize) -> usize {
        self.start(end) - self.start(first)
    }
}

/// The result, on its way to all members' dests.
#[derive(Clone, Debug)]
pub struct Whole<'m> {
    /// Where it goes here.
    pub dest: Writable<'m>,
    /// What it is made of.
    pub parts: Parts,
}

impl<'m> Whole<'m> {
    /// The place of the parts of members `first .. end`.
    pub fn place(&self, first: usize, end: usize) -> Writable<'m> {
        self.dest.part(self.parts.start(first), self.parts.bytes(first, end))
    }

    /// Copies the parts of members `first .. end` from `member`, which has announced that they are
    /// in its dest, and waits before it reuses that.
    ///
    /// # Errors
    /// The group's.
    pub fn take<G: Reach>(&self, group: &G, member: usize, first: usize, end: usize) -> Outcome<G> {
        let (start, bytes) = (self.parts.start(first), self.parts.bytes(first, end));
        let from = group.dest(self.dest, member)?.part(start, bytes);
        group.copy(from, self.dest.part(start, bytes));
        Ok(())
    }
}

/// A call of collect or fcollect. The memory is this PE's.
#[derive(Clone, Debug)]
pub struct Collect<'m> {
    whole: Whole<'m>,
    source: Readable<'m>,
    /// Whether all parts have come with their lengths: dest is complete.
    pub(super) all_fitted: bool,
}

impl<'m> Collect<'m> {
    /// Of parts that are as long as this PE's; `dest` has room for those of all members.
    pub fn equal(dest: Writable<'m>, source: Readable<'m>) -> Self {
        let whole = Whole { dest, parts: Parts::Equal(source.bytes()) };
        Self { whole, source, all_fitted: false }
    }

    /// Of parts as long as each member likes. Exchanges their lengths, and what fits beside them.
    /// That dest has room is known only here.
    ///
    /// # Errors
    /// The group's.
    ///
    /// # Safety
    /// As for [`Readable::new`] of this PE's `bytes` bytes at `source`, of which each member has as
    /// many as it tells here, and for [`Writable::new`] of as many bytes at `dest` as all of them
    /// tell, as far as the group's memory has them.
    pub unsafe fn varying<G: Group>(
        group: &G,
        dest: *mut u8,
        source: *const u8,
        bytes: usize,
    ) -> Result<Self, G::Stop> {
        // SAFETY: the first part of the contract.
        let source = unsafe { Readable::new(source, bytes) };
        // SAFETY: the second one. As many bytes as members have told, and the group has checked.
        let place = |start, bytes| unsafe { Writable::new(dest.wrapping_add(start), bytes) };
        let mut starts = Vec::with_capacity(group.size() + 1);
        starts.push(0usize);
        let mut all_fitted = true;
        let mut mine = Small::default();
        mine[0] = bytes as u64;
        if bytes <= BESIDE_LENGTH {
            group.copy(source, Writable::from(&mut mine[1..]).part(0, bytes));
        }
        group.exchange(&mine, |member, theirs| {
            let (start, length) = (starts[member], theirs[0] as usize);
            let end = start + length;
            if length > 0 {
                group.memory().check(Buffer::Dest, dest as usize, end)?;
            }
            all_fitted &= length <= BESIDE_LENGTH;
            if all_fitted {
                group.copy(content(&theirs[1..], length), place(start, length));
            }
            starts.push(end);
            Ok(())
        })?;
        let all = starts[group.size()];
        let whole = Whole { dest: place(0, all), parts: Parts::Varying(starts) };
        Ok(Self { whole, source, all_fitted })
    }

    /// What comes out.
    pub fn whole(&self) -> &Whole<'m> {
        &self.whole
    }

    /// Bytes that `member` gives.
    pub fn bytes_of(&self, member: usize) -> usize {
        self.whole.parts.bytes(member, member + 1)
    }

    /// Copies a member's part from its source, which it has announced, to its place.
    ///
    /// # Errors
    /// The group's.
    pub fn fetch<G: Reach>(&self, group: &G, member: usize) -> Outcome<G> {
        let from = group.source(self.source, member)?;
        // SAFETY: the length of the part, equal to this PE's or told by the member itself, is that
        // of its source.
        let from = unsafe { Remote::new(Readable::new(from.range().at(), self.bytes_of(member))) };
        group.copy(from, self.whole.place(member, member + 1));
        Ok(())
    }

    /// Puts this PE's own part in its place, unless it is there.
    pub fn serve_self(&self, group: &impl Reach) {
        let me = group.index();
        let place = self.whole.place(me, me + 1);
        if !place.is_at(self.source) {
            group.copy(self.source, place);
        }
    }

    /// This PE's part.
    pub fn own(&self) -> Readable<'m> {
        self.source
    }
}
