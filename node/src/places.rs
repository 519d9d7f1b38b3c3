//! The memory of peers that this process has mapped, in a list that a signal handler can read: no
//! entry ever moves, and reading takes no lock. Who changes it takes one, which knows the free entries.

use crate::{Key, Rank};
use onenode_core::atomics::{AtomicU64, AtomicUsize, Ordering};
use onenode_core::sys::mutex;
use std::iter::successors;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

/// Why something is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingKind {
    /// A region of the rank.
    Region(Key),
    /// The range that holds a view's regions of the rank, including the gaps between them.
    View,
    /// The rank's header.
    Header,
}

/// A range of this process that corresponds to memory of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedRange {
    /// The range in this process.
    pub here: Range<usize>,
    /// The owner of the memory.
    pub rank: Rank,
    /// Why it is mapped.
    pub kind: MappingKind,
    /// For a region, its first address at the rank; for a view, the address of this process that
    /// its first byte stands for.
    pub there: usize,
}

/// All places.
#[derive(Debug, Default)]
pub struct Places {
    first: Block,
    room: Mutex<FreeSlots>,
}

/// Which slots are free: these, and all from `fresh` on.
#[derive(Debug, Default)]
struct FreeSlots {
    free: Vec<usize>,
    fresh: usize,
}

const IN_A_BLOCK: usize = 32;

#[derive(Debug, Default)]
struct Block {
    slots: [Slot; IN_A_BLOCK],
    next: OnceLock<Box<Block>>,
}

/// A place, or room for one.
#[derive(Debug, Default)]
struct Slot {
    /// [`FREE`], or the kind.
    state: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    rank: AtomicUsize,
    key: AtomicU64,
    there: AtomicUsize,
}

const FREE: usize = 0;
const REGION: usize = 1;
const VIEW: usize = 2;
const HEADER: usize = 3;

/// A place in the list, by its number, which stays there until it is removed.
#[derive(Debug)]
#[must_use]
pub struct RangeId(usize);

impl Slot {
    fn fill(&self, place: &MappedRange) {
        self.start.store(place.here.start, Ordering::Relaxed);
        self.end.store(place.here.end, Ordering::Relaxed);
        self.rank.store(place.rank as usize, Ordering::Relaxed);
        self.there.store(place.there, Ordering::Relaxed);
        let (kind, key) = match place.kind {
            MappingKind::Region(key) => (REGION, key.0),
            MappingKind::View => (VIEW, 0),
            MappingKind::Header => (HEADER, 0),
        };
        self.key.store(key, Ordering::Relaxed);
        self.state.store(kind, Ordering::Release);
    }

    fn read(&self) -> Option<MappedRange> {
        let kind = match self.state.load(Ordering::Acquire) {
            REGION => MappingKind::Region(Key(self.key.load(Ordering::Relaxed))),
            VIEW => MappingKind::View,
            HEADER => MappingKind::Header,
            _ => return None,
        };
        Some(MappedRange {
            here: self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Relaxed),
            rank: self.rank.load(Ordering::Relaxed) as Rank,
            kind,
            there: self.there.load(Ordering::Relaxed),
        })
    }
}

impl Places {
    /// Adds a place.
    pub fn add(&self, place: &MappedRange) -> RangeId {
        let mut room = mutex::lock(&self.room);
        let index = room.free.pop().unwrap_or_else(|| {
            room.fresh += 1;
            room.fresh - 1
        });
        self.slot(index).fill(place);
        RangeId(index)
    }

    /// Removes a place of this list.
    pub fn remove(&self, token: &RangeId) {
        let mut room = mutex::lock(&self.room);
        self.slot(token.0).state.store(FREE, Ordering::Release);
        room.free.push(token.0);
    }

    fn slot(&self, index: usize) -> &Slot {
        let mut block = &self.first;
        for _ in 0..index / IN_A_BLOCK {
            block = block.next.get_or_init(Box::default);
        }
        &block.slots[index % IN_A_BLOCK]
    }

    /// All places. Safe in a signal handler.
    pub fn all(&self) -> impl Iterator<Item = MappedRange> + '_ {
        self.slots().filter_map(Slot::read)
    }

    /// The place that contains an address. Regions take precedence over the views around them. Safe
    /// in a signal handler.
    pub fn find(&self, address: usize) -> Option<MappedRange> {
        let at = || self.all().filter(|place| place.here.contains(&address));
        at().find(|place| place.kind != MappingKind::View).or_else(|| at().next())
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> + '_ {
        let blocks = successors(Some(&self.first), |block| block.next.get().map(|next| &**next));
        blocks.flat_map(|block| block.slots.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(start: usize, rank: Rank, kind: MappingKind) -> MappedRange {
        MappedRange { here: start..start + 100, rank, kind, there: 7 }
    }

    #[test]
    fn places_are_found_until_they_are_removed() {
        let places = Places::default();
        assert_eq!(places.find(0), None);
        let tokens: Vec<_> =
            (0..100).map(|i| places.add(&place(i * 1000, i as Rank, MappingKind::View))).collect();
        let inner = place(5010, 5, MappingKind::Region(Key(9)));
        let token = places.add(&inner);
        assert_eq!(places.find(5050), Some(inner));
        assert_eq!(places.find(5005), Some(place(5000, 5, MappingKind::View)));
        assert_eq!(places.find(5150), None);
        assert_eq!(places.all().count(), 101);
        places.remove(&token);
        assert_eq!(places.find(5050), Some(place(5000, 5, MappingKind::View)));
        tokens.into_iter().for_each(|token| places.remove(&token));
        assert_eq!(places.all().count(), 0);
        let blocks = places.slots().count();
        let _kept = places.add(&place(0, 0, MappingKind::Header));
        assert_eq!(places.slots().count(), blocks, "room is used again");
    }
}
