//! The memory of peers that this process has mapped, in a list that a signal handler can read: no
//! entry ever moves, and reading takes no lock.
#![allow(unsafe_code)]

use crate::{Key, Rank};
use onenode_core::atomics::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::ops::Range;
use std::ptr::null_mut;

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
pub struct Place {
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
    first: AtomicPtr<Block>,
}

const IN_A_BLOCK: usize = 32;

#[derive(Debug, Default)]
struct Block {
    slots: [Slot; IN_A_BLOCK],
    next: AtomicPtr<Block>,
}

/// A place, or room for one.
#[derive(Debug, Default)]
struct Slot {
    /// [`FREE`], [`TAKEN`], or the kind.
    state: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    rank: AtomicUsize,
    key: AtomicU64,
    there: AtomicUsize,
}

const FREE: usize = 0;
const TAKEN: usize = 1;
const REGION: usize = 2;
const VIEW: usize = 3;
const HEADER: usize = 4;

/// A place in the list, which stays there until it is removed.
#[derive(Debug)]
#[must_use]
pub struct Token(*const Slot);

// SAFETY: the pointer is only compared, or followed while its list lives; a slot consists of
// atomics.
unsafe impl Send for Token {}
// SAFETY: as above.
unsafe impl Sync for Token {}

impl Slot {
    fn fill(&self, place: &Place) {
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

    fn read(&self) -> Option<Place> {
        let kind = match self.state.load(Ordering::Acquire) {
            REGION => MappingKind::Region(Key(self.key.load(Ordering::Relaxed))),
            VIEW => MappingKind::View,
            HEADER => MappingKind::Header,
            _ => return None,
        };
        Some(Place {
            here: self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Relaxed),
            rank: self.rank.load(Ordering::Relaxed) as Rank,
            kind,
            there: self.there.load(Ordering::Relaxed),
        })
    }
}

impl Places {
    /// Adds a place.
    pub fn add(&self, place: &Place) -> Token {
        let take = |slot: &&Slot| {
            let (new, old) = (Ordering::Acquire, Ordering::Relaxed);
            slot.state.compare_exchange(FREE, TAKEN, new, old).is_ok()
        };
        if let Some(slot) = self.slots().find(take) {
            slot.fill(place);
            return Token(slot);
        }
        let block = Box::new(Block::default());
        block.slots[0].fill(place);
        let token = Token(&raw const block.slots[0]);
        let block = Box::into_raw(block);
        let mut next = self.first.load(Ordering::Relaxed);
        loop {
            // SAFETY: made just now, and no other thread knows of it.
            unsafe { (*block).next.store(next, Ordering::Relaxed) };
            let (new, old) = (Ordering::Release, Ordering::Relaxed);
            match self.first.compare_exchange(next, block, new, old) {
                Ok(_) => return token,
                Err(now) => next = now,
            }
        }
    }

    /// Removes a place of this list.
    pub fn remove(&self, token: &Token) {
        // SAFETY: blocks live as long as the list, and the token is of this list.
        unsafe { (*token.0).state.store(FREE, Ordering::Release) };
    }

    /// All places. Safe in a signal handler.
    pub fn all(&self) -> impl Iterator<Item = Place> + '_ {
        self.slots().filter_map(Slot::read)
    }

    /// The place that contains an address. Regions take precedence over the views around them. Safe
    /// in a signal handler.
    pub fn find(&self, address: usize) -> Option<Place> {
        let at = || self.all().filter(|place| place.here.contains(&address));
        at().find(|place| place.kind != MappingKind::View).or_else(|| at().next())
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> + '_ {
        let mut at = self.first.load(Ordering::Acquire);
        let blocks = std::iter::from_fn(move || {
            // SAFETY: null, or a block, which lives as long as the list.
            let block: &Block = unsafe { at.as_ref() }?;
            at = block.next.load(Ordering::Acquire);
            Some(block)
        });
        blocks.flat_map(|block| block.slots.iter())
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let mut at = std::mem::replace(&mut self.first, AtomicPtr::new(null_mut())).into_inner();
        while !at.is_null() {
            // SAFETY: each block was made by `Box::into_raw` and is in the list once.
            at = unsafe { Box::from_raw(at) }.next.load(Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(start: usize, rank: Rank, kind: MappingKind) -> Place {
        Place { here: start..start + 100, rank, kind, there: 7 }
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
