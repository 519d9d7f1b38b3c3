//! The parts that members contribute to a collect, and their places in the result.
#![allow(unsafe_code)]

use crate::collectives::group::{CollectiveGroup, Outcome, Reach, SMALL_WORDS, Small};
use crate::collectives::levels::Levels;
use crate::collectives::memory::{Buffer, Memory};
use crate::collectives::message::content;
use crate::collectives::range::{Readable, Remote, Writable};
use crate::collectives::sent;

/// The place of each member's part in the result, in bytes.
#[derive(Clone, Debug)]
pub enum Parts {
    /// All parts have this many bytes: fcollect.
    Equal(usize),
    /// Parts of any lengths: collect. The start of each part, then the end of the last one.
    Varying(Vec<usize>),
}

impl Parts {
    /// The start of `member`'s part. For the number of members, the end of the last part.
    pub fn start(&self, member: usize) -> usize {
        match self {
            Self::Equal(bytes) => member * bytes,
            Self::Varying(starts) => starts[member],
        }
    }

    /// Bytes of the parts of members `first .. end`, together.
    pub fn bytes(&self, first: usize, end: usize) -> usize {
        self.start(end) - self.start(first)
    }
}

/// The result, as it forms in all members' dests.
#[derive(Clone, Debug)]
pub struct CollectResult<'m> {
    /// This PE's dest.
    pub dest: Writable<'m>,
    /// The parts that it consists of.
    pub parts: Parts,
}

impl<'m> CollectResult<'m> {
    /// The place of the parts of members `first .. end` in this PE's dest.
    pub fn place(&self, first: usize, end: usize) -> Writable<'m> {
        self.dest.part(self.parts.start(first), self.parts.bytes(first, end))
    }

    /// Copies the parts of members `first .. end` from `member`, which has announced that they are
    /// in its dest, and waits before it reuses the dest.
    ///
    /// # Errors
    /// Those of the group.
    pub fn take<G: Reach>(&self, group: &G, member: usize, first: usize, end: usize) -> Outcome<G> {
        let (start, bytes) = (self.parts.start(first), self.parts.bytes(first, end));
        let from = group.dest(self.dest, member)?.part(start, bytes);
        group.copy(from, self.dest.part(start, bytes));
        Ok(())
    }
}

/// How many words of a length and the part beside it are exchanged: over nodes, about two messages of a
/// node.
fn words_together(group: &impl CollectiveGroup) -> usize {
    if !group.sends() {
        return SMALL_WORDS;
    }
    (2 * sent::MOST_WORDS / Levels::new(group).largest())
        .clamp(2, sent::MOST_WORDS)
        .min(group.room())
        .max(1)
}

/// A call of collect or fcollect. The memory is this PE's.
#[derive(Clone, Debug)]
pub struct Collect<'m> {
    whole: CollectResult<'m>,
    source: Readable<'m>,
}

impl<'m> Collect<'m> {
    /// A call with parts as long as this PE's. `dest` has room for those of all members.
    pub fn equal(dest: Writable<'m>, source: Readable<'m>) -> Self {
        let whole = CollectResult { dest, parts: Parts::Equal(source.bytes()) };
        Self { whole, source }
    }

    /// A call with parts of any lengths. Exchanges the lengths, and the parts that fit beside them: none
    /// is left to do if all did. Whether dest has room is known only here.
    ///
    /// # Errors
    /// Those of the group.
    ///
    /// # Safety
    /// As for [`Readable::new`] of this PE's `bytes` bytes at `source`, where each member has as
    /// many bytes as it reports here, and for [`Writable::new`] of as many bytes at `dest` as all
    /// members report together, as far as the group's memory has them.
    pub unsafe fn varying<G: CollectiveGroup>(
        group: &G,
        dest: *mut u8,
        source: *const u8,
        bytes: usize,
    ) -> Result<Option<Self>, G::Stop> {
        // SAFETY: the caller guarantees this PE's bytes, and those of dest as far as members have reported them and
        // the group has checked them, which is so before `place` is called.
        let (source, place) = unsafe {
            let place = |start, bytes| Writable::new(dest.wrapping_add(start), bytes);
            (Readable::new(source, bytes), place)
        };
        let mut starts = Vec::with_capacity(group.size() + 1);
        starts.push(0usize);
        let mut all_fitted = true;
        // The length, and the part if it has room beside it.
        let mut mine = Small::default();
        let words = words_together(group);
        let room = (words - 1) * size_of::<u64>();
        mine[0] = bytes as u64;
        if bytes <= room {
            group.copy(source, Writable::from(&mut mine[1..]).part(0, bytes));
        }
        let each = |member: usize, theirs: &[u64]| {
            let (start, length) = (starts[member], theirs[0] as usize);
            let end = start + length;
            if length > 0 {
                group.memory().check(Buffer::Dest, dest as usize, end)?;
            }
            all_fitted &= length <= room;
            if all_fitted {
                group.copy(content(&theirs[1..], length), place(start, length));
            }
            starts.push(end);
            Ok(())
        };
        group.exchange_words(&mine[..words], 0..words, each)?;
        if all_fitted {
            return Ok(None);
        }
        let all = starts[group.size()];
        let whole = CollectResult { dest: place(0, all), parts: Parts::Varying(starts) };
        Ok(Some(Self { whole, source }))
    }

    /// The result.
    pub fn whole(&self) -> &CollectResult<'m> {
        &self.whole
    }

    /// Bytes that `member` contributes.
    pub fn bytes_of(&self, member: usize) -> usize {
        self.whole.parts.bytes(member, member + 1)
    }

    /// Copies `member`'s part from its source, which it has announced, to its place in dest.
    ///
    /// # Errors
    /// Those of the group.
    pub fn fetch<G: Reach>(&self, group: &G, member: usize) -> Outcome<G> {
        let from = group.source(self.source, member)?;
        // SAFETY: the part is as long as the member's source: as this PE's, or as the member itself
        // reported.
        let from = unsafe { Remote::new(Readable::new(from.range().at(), self.bytes_of(member))) };
        // The dests of all members, and their sources, which are as large as one dest.
        let together = self.whole.dest.bytes().saturating_mul(group.size() + 1);
        group.copy_of_many(from, self.whole.place(member, member + 1), together);
        Ok(())
    }

    /// Copies this PE's own part to its place, unless it is there already.
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
