//! Collect and fcollect: the concatenation, in the members' order, of all sources. The
//! algorithms are the same for both, over [`Parts`]; some need parts of one length.
#![allow(unsafe_code)]

pub mod bruck;
pub mod direct;
pub mod linear;
pub mod neighbour;
pub mod recursive_doubling;
pub mod ring;
pub mod small;
pub mod two_level;

use super::algorithm::{ANY, EVEN, POWER_OF_TWO, SMALL, algorithms};
use super::group::{Buffer, Outcome, Reach};

/// Where each member's part of the result is, in bytes.
#[derive(Clone, Debug)]
pub enum Parts {
    /// All parts have this many bytes: fcollect.
    Equal(usize),
    /// Of any lengths: collect.
    Varying {
        /// Where each part starts, and where the last one ends.
        starts: Vec<usize>,
        /// Whether all parts have come with their lengths: dest is complete.
        all_fitted: bool,
    },
}

impl Parts {
    /// Where `member`'s part starts; that of the one after the last is the end of all.
    pub fn start(&self, member: usize) -> usize {
        match self {
            Self::Equal(bytes) => member * bytes,
            Self::Varying { starts, .. } => starts[member],
        }
    }

    /// Bytes of the parts of members `first .. end`.
    pub fn bytes(&self, first: usize, end: usize) -> usize {
        self.start(end) - self.start(first)
    }
}

/// A call of collect. The addresses are this PE's.
#[derive(Clone, Debug)]
pub struct Collect {
    /// Where the result goes.
    pub dest: *mut u8,
    /// This PE's part.
    pub source: *const u8,
    /// All members' parts.
    pub parts: Parts,
}

impl Collect {
    /// Puts this PE's own part in its place, unless it is there.
    ///
    /// # Safety
    /// As for the collect.
    unsafe fn serve_self(&self, group: &impl Reach) {
        let me = group.index();
        let (start, bytes) = (self.parts.start(me), self.parts.bytes(me, me + 1));
        let place = self.dest.wrapping_add(start);
        if !std::ptr::eq(place, self.source) {
            // SAFETY: the caller's promise.
            unsafe { group.copy(self.source, place, bytes) }
        }
    }

    /// Copies the parts of members `first .. end` from `member`, which has them in its
    /// dest.
    ///
    /// # Safety
    /// The member has announced them, and waits before it reuses them.
    unsafe fn take<G: Reach>(
        &self,
        group: &G,
        member: usize,
        first: usize,
        end: usize,
    ) -> Outcome<G> {
        let (start, bytes) = (self.parts.start(first), self.parts.bytes(first, end));
        let from = group.of(Buffer::Dest, self.dest, member)?;
        // SAFETY: the caller's promise.
        unsafe { group.copy(from.add(start), self.dest.add(start), bytes) }
        Ok(())
    }
}

algorithms! {
    /// Algorithms of collect.
    Algorithm of Collect, |group, call: Collect, degree| {
        /// All copy from all.
        direct, ANY => direct::run(group, &call);
        /// One gathers, all copy from it.
        linear, ANY => linear::run(group, &call);
        /// On a ring.
        ring, ANY => ring::run(group, &call);
        /// Partners exchange twice as much in each round.
        recursive_doubling, POWER_OF_TWO => recursive_doubling::run(group, &call);
        /// Bruck's algorithm.
        bruck, ANY => bruck::in_place(group, &call);
        /// Within each node, and among the first of each.
        two_level, ANY => two_level::run(group, &call);
    }
}

algorithms! {
    /// Algorithms of fcollect, whose parts have one length.
    EqualAlgorithm of Fcollect, |group, call: Collect, degree| {
        /// All copy from all.
        direct, ANY => direct::run(group, &call);
        /// One gathers, all copy from it.
        linear, ANY => linear::run(group, &call);
        /// On a ring.
        ring, ANY => ring::run(group, &call);
        /// Partners exchange twice as much in each round.
        recursive_doubling, POWER_OF_TWO => recursive_doubling::run(group, &call);
        /// Bruck's algorithm.
        bruck, ANY => bruck::rotated(group, &call);
        /// Bruck's algorithm, with parts put to their places at once.
        bruck_no_rotation, ANY => bruck::in_place(group, &call);
        /// Neighbours exchange what they have got last.
        neighbour_exchange, EVEN => neighbour::run(group, &call);
        /// Parts travel beside control words.
        small, SMALL => small::run(group, &call);
        /// Within each node, and among the first of each.
        two_level, ANY => two_level::run(group, &call);
    }
}
