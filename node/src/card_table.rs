//! The table on which processes that meet leave their cards: a file at the place where they meet.
#![allow(unsafe_code)]

use crate::Rank;
use crate::card::{self, Card, VERSION_WORD};
use crate::error::Error;
use onenode_core::area::{Shared, SharedArea};
use onenode_core::atomics::{AtomicU32, AtomicU64, Ordering};
use onenode_core::sys::fd;
use std::os::fd::BorrowedFd;

/// "1nodemet" in memory order.
const MAGIC: u64 = u64::from_le_bytes(*b"1nodemet");
const HEADER_BYTES: usize = 128;
/// More ranks than any machine runs.
pub const MOST: u32 = 1 << 20;

#[repr(C, align(128))]
struct Header {
    magic: AtomicU64,
    version: AtomicU32,
    ranks: AtomicU32,
    /// The number of cards on the table.
    arrived: AtomicU32,
}

#[repr(C, align(128))]
struct Entry {
    there: AtomicU32,
    words: [AtomicU64; 8],
}

/// A mapped table.
#[derive(Debug)]
pub struct CardTable {
    area: SharedArea,
    ranks: u32,
}

// SAFETY: nothing but atomics.
unsafe impl Shared for Header {}
// SAFETY: nothing but atomics.
unsafe impl Shared for Entry {}

impl CardTable {
    /// The size of a table for `ranks` ranks.
    pub const fn bytes(ranks: u32) -> usize {
        (HEADER_BYTES + ranks as usize * size_of::<Entry>()).next_multiple_of(4096)
    }

    /// Begins a table for `ranks` ranks, 1 to [`MOST`], in a file of zeros that has its size.
    pub fn begin(file: BorrowedFd, ranks: u32) -> Result<Self, Error> {
        let table = Self::map(file, ranks)?;
        let header = table.header();
        header.version.store(VERSION_WORD, Ordering::Relaxed);
        header.ranks.store(ranks, Ordering::Relaxed);
        header.magic.store(MAGIC, Ordering::Release);
        Ok(table)
    }

    /// Opens a table that another process has begun.
    pub fn open(file: BorrowedFd, ranks: u32) -> Result<Self, Error> {
        let other = || Error::NoWay("the file at the meeting point is not a card table".into());
        let size = fd::size(file)?;
        if size < 4096 {
            return Err(other());
        }
        let head = Self::map(file, 1)?;
        let header = head.header();
        if header.magic.load(Ordering::Acquire) != MAGIC {
            return Err(other());
        }
        card::same_major("meeting point", header.version.load(Ordering::Relaxed))?;
        let theirs = header.ranks.load(Ordering::Relaxed);
        if theirs != ranks {
            let expected = format!("{theirs}, as the first process to come has said");
            return Err(Error::argument("ranks", ranks, expected));
        }
        if size < Self::bytes(ranks) as u64 {
            return Err(other());
        }
        Self::map(file, ranks)
    }

    fn map(file: BorrowedFd, ranks: u32) -> Result<Self, Error> {
        Ok(Self { area: SharedArea::map(file, 0, Self::bytes(ranks))?, ranks })
    }

    fn header(&self) -> &Header {
        self.area.at(0)
    }

    fn entry(&self, rank: Rank) -> &Entry {
        assert!(rank < self.ranks);
        self.area.at(HEADER_BYTES + rank as usize * size_of::<Entry>())
    }

    /// Leaves a card. Returns false if that rank already has one on the table. The caller has
    /// locked the meeting point.
    pub fn leave(&self, rank: Rank, card: &Card) -> bool {
        let entry = self.entry(rank);
        if entry.there.load(Ordering::Relaxed) != 0 {
            return false;
        }
        for (to, word) in entry.words.iter().zip(card.0) {
            to.store(word, Ordering::Relaxed);
        }
        entry.there.store(1, Ordering::Release);
        self.header().arrived.fetch_add(1, Ordering::Release);
        true
    }

    /// Removes this rank's card. Returns false, and removes nothing, if all cards are on the table.
    /// The caller has locked the meeting point.
    pub fn take_away(&self, rank: Rank) -> bool {
        if self.is_complete() {
            return false;
        }
        self.entry(rank).there.store(0, Ordering::Relaxed);
        self.header().arrived.fetch_sub(1, Ordering::Relaxed);
        true
    }

    /// Whether all cards are on the table.
    pub fn is_complete(&self) -> bool {
        self.header().arrived.load(Ordering::Acquire) >= self.ranks
    }

    /// The cards on the table.
    pub fn cards(&self) -> impl Iterator<Item = (Rank, Card)> + '_ {
        let there = |rank: &Rank| self.entry(*rank).there.load(Ordering::Acquire) != 0;
        let card = |rank| {
            let words = &self.entry(rank).words;
            Card(std::array::from_fn(|i| words[i].load(Ordering::Relaxed)))
        };
        (0..self.ranks).filter(there).map(move |rank| (rank, card(rank)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsFd, OwnedFd};

    fn file(ranks: u32) -> OwnedFd {
        let file = fd::memfd(c"table").expect("a memory file");
        let bytes = CardTable::bytes(ranks) as u64;
        fd::resize_and_seal(file.as_fd(), bytes).expect("its size");
        file
    }

    #[test]
    fn a_table_is_complete_when_all_cards_are_there() {
        let file = file(3);
        let table = CardTable::begin(file.as_fd(), 3).expect("begun");
        let same = CardTable::open(file.as_fd(), 3).expect("opened");
        let card = |word| Card([word; 8]);
        assert!(table.leave(2, &card(5)) && same.leave(0, &card(6)));
        assert!(!table.leave(0, &card(7)), "there is one");
        assert!(same.cards().eq([(0, card(6)), (2, card(5))]));
        assert!(table.take_away(2) && same.leave(2, &card(8)) && !same.is_complete());
        assert!(table.leave(1, &card(9)) && same.is_complete() && !table.take_away(1));
        assert_eq!(same.cards().count(), 3);
    }

    #[test]
    fn other_files_are_refused() {
        let file = file(3);
        let table = CardTable::begin(file.as_fd(), 3).expect("begun");
        let refused =
            |ranks| CardTable::open(file.as_fd(), ranks).expect_err("refused").to_string();
        assert!(refused(4).contains("ranks = 4"));
        table.header().ranks.store(1 << 10, Ordering::Relaxed);
        assert!(refused(1 << 10).contains("not a card table"));
        table.header().version.store(7, Ordering::Relaxed);
        assert!(refused(3).contains("version 7.0"));
        table.header().magic.store(7, Ordering::Relaxed);
        assert!(refused(3).contains("not a card table"));
    }
}
