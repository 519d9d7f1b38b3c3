//! Recorded events: calls, and what happens in them.

use crate::stats::{CLASSES, Class};

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An operation.
    Operation(Class),
    /// Waiting for others inside a collective.
    Blocked,
    /// An allocation, at one time.
    Allocated,
    /// A release, at one time.
    Freed,
    /// A step of initialisation.
    Step,
}

impl Kind {
    const OTHERS: [Self; 4] = [Self::Blocked, Self::Allocated, Self::Freed, Self::Step];

    pub(super) fn encode(self) -> u8 {
        let other = |kind| Self::OTHERS.iter().position(|it| *it == kind).unwrap_or(0);
        match self {
            Self::Operation(class) => class as u8,
            kind => (CLASSES + other(kind)) as u8,
        }
    }

    pub(super) fn decode(number: u8) -> Option<Self> {
        let number = usize::from(number);
        let operation = Class::ALL.get(number).map(|class| Self::Operation(*class));
        operation.or_else(|| Self::OTHERS.get(number.checked_sub(CLASSES)?).copied())
    }

    /// Its name in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Operation(class) => class.name(),
            Self::Blocked => "blocked",
            Self::Allocated => "allocated",
            Self::Freed => "freed",
            Self::Step => "init",
        }
    }
}

/// A PE that events name, if there is one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// None.
    None,
    /// This one.
    Pe(usize),
    /// Several: the event stands for operations on them.
    Several,
}

/// One event, or several of one routine that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it began and ended, in nanoseconds of the host's clock.
    pub begin: u64,
    /// See `begin`.
    pub end: u64,
    /// Its kind.
    pub kind: Kind,
    /// The number of the routine's name, and of an algorithm's, among the ring's names; 0 for none.
    pub names: [u16; 2],
    /// The thread, from 0.
    pub thread: u16,
    /// How many calls it stands for.
    pub calls: u32,
    /// Bytes moved, or allocated.
    pub bytes: u64,
    /// The PE that it accesses.
    pub peer: Peer,
    /// A number for the symmetric variable that it updates or waits for, the same on all PEs; 0 for none.
    pub place: u64,
    /// Where the program has made the first call, as an address in its file; 0 if that is not known.
    pub called: u64,
}

/// Operations of so many bytes are events of their own.
const SINGLE_BYTES: u64 = 4096;
/// Operations with more time between them, or over a longer time, in nanoseconds, are not one event.
const GAP: u64 = 20_000;
const LENGTH: u64 = 1_000_000;

impl Event {
    /// Whether a later event can be added to it: both are short operations on memory, by the same routine and
    /// thread.
    fn is_like(&self, later: &Self) -> bool {
        let is_access =
            matches!(self.kind, Kind::Operation(Class::Put | Class::Get | Class::Atomic));
        is_access
            && (self.kind, self.names, self.thread) == (later.kind, later.names, later.thread)
            && later.bytes < SINGLE_BYTES
            && self.bytes / u64::from(self.calls) < SINGLE_BYTES
            && later.begin.saturating_sub(self.end) < GAP
            && later.end.saturating_sub(self.begin) < LENGTH
    }

    /// Adds a later event, if it is like this one.
    pub fn with(&self, later: &Self) -> Option<Self> {
        self.is_like(later).then(|| Self {
            begin: self.begin,
            bytes: self.bytes.saturating_add(later.bytes),
            calls: self.calls.saturating_add(later.calls),
            peer: if self.peer == later.peer { self.peer } else { Peer::Several },
            place: if self.place == later.place { self.place } else { 0 },
            called: self.called,
            ..*later
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(begin: u64, bytes: u64) -> Event {
        Event {
            begin,
            end: begin + 100,
            kind: Kind::Operation(Class::Put),
            names: [1, 0],
            thread: 0,
            calls: 1,
            bytes,
            peer: Peer::Pe(1),
            place: 7,
            called: 0,
        }
    }

    #[test]
    fn kinds_have_numbers() {
        for number in 0..=u8::MAX {
            if let Some(kind) = Kind::decode(number) {
                assert_eq!(kind.encode(), number);
            }
        }
        assert!(Kind::decode((CLASSES + Kind::OTHERS.len()) as u8).is_none());
    }

    #[test]
    fn short_operations_that_follow_each_other_are_one_event() {
        let two = put(0, 8).with(&put(200, 16)).expect("alike");
        assert_eq!((two.begin, two.end, two.calls, two.bytes), (0, 300, 2, 24));
        assert_eq!((two.peer, two.place), (Peer::Pe(1), 7));
        let three = two.with(&Event { peer: Peer::Pe(2), place: 8, ..put(400, 8) }).expect("alike");
        assert_eq!((three.calls, three.peer, three.place), (3, Peer::Several, 0));
    }

    #[test]
    fn others_are_not() {
        let first = put(0, 8);
        for later in [
            put(100 + GAP, 8),
            put(200, SINGLE_BYTES),
            Event { names: [2, 0], ..put(200, 8) },
            Event { thread: 1, ..put(200, 8) },
            Event { kind: Kind::Operation(Class::Get), ..put(200, 8) },
            Event { end: LENGTH, ..put(200, 8) },
        ] {
            assert_eq!(first.with(&later), None, "{later:?}");
        }
        assert_eq!(put(0, SINGLE_BYTES).with(&put(200, 8)), None);
        let barrier = Event { kind: Kind::Operation(Class::Collective), ..put(0, 0) };
        assert_eq!(barrier.with(&barrier), None);
    }
}
