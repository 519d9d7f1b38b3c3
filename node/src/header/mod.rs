//! A rank's header: shared memory with what it publishes for its peers and what they write for it.
//!
//! ```text
//!  0        4 KiB                                                     MEMORY
//!  | Head | Record x regions | GroupSlot x 1024 | words | extra | ... | the regions' memory
//! ```
//!
//! All of it starts as zero pages, so in every field zero means "not yet". Only atomics live here:
//! a reference to one is sound whatever other processes do. Anything read from a peer's header is
//! copied and checked before it is used.
#![allow(unsafe_code)]

mod record;

use crate::card::{self, VERSION_WORD};
use crate::error::Error;
use onenode_core::area::{Shared, SharedArea};
use onenode_core::atomics::{AtomicU32, AtomicU64, Ordering, fence};
use record::WORDS;
use std::fmt;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

pub use record::{MemoryLocation, Published};

/// "onenode1" in memory order.
const MAGIC: u64 = u64::from_le_bytes(*b"onenode1");
const HEAD_BYTES: usize = 4096;
const PAGE: usize = 4096;

/// The maximum number of groups that a rank can be in at a time.
pub const GROUPS: usize = 1024;
/// Bytes of a rank's own control words in one group.
pub const GROUP_BYTES: usize = 2944;
/// The maximum number of regions of a rank at a time.
pub const MOST_REGIONS: u32 = 1 << 16;
/// The maximum number of bytes of a header for the client.
pub const MOST_EXTRA: u64 = 1 << 40;

/// Where the regions' memory starts, as an offset from the header.
pub const MEMORY: u64 = 1 << 41;

/// Words of the rank as a whole.
#[repr(C, align(128))]
struct Head {
    magic: AtomicU64,
    /// Major and minor.
    version: AtomicU32,
    /// [`OPEN`], then [`CLOSED`].
    stage: AtomicU32,
    /// The mark, as on the card.
    mark: AtomicU64,
    /// The process, and when it started.
    pid: AtomicU32,
    regions: AtomicU32,
    started: AtomicU64,
    extra: AtomicU64,
    /// The backend that makes its regions reachable: the first eight bytes of its name.
    backend: AtomicU64,
    /// The rank plus 1; 0 if it has none of its own.
    rank: AtomicU64,
}

const OPEN: u32 = 1;
const CLOSED: u32 = 2;

/// A region, as its owner publishes it.
#[repr(C, align(128))]
struct Record {
    /// Odd while the record is free or being written. Only grows.
    version: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// A group that the rank is in, or has been in.
#[repr(C)]
struct GroupSlot {
    /// [`FREE`], [`MAKING`], [`READY`] or [`LEFT`].
    state: AtomicU64,
    id: AtomicU64,
}

const FREE: u64 = 0;
const MAKING: u64 = 1;
const READY: u64 = 2;
/// The rank has left the group, but others may still read its control words.
const LEFT: u64 = 3;

/// The sizes of the parts of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderSizes {
    /// The maximum number of regions.
    pub regions: u32,
    /// Bytes for the client.
    pub extra: u64,
}

impl HeaderSizes {
    fn is_sound(&self) -> bool {
        (1..=MOST_REGIONS).contains(&self.regions) && self.extra <= MOST_EXTRA
    }
    const fn groups(&self) -> usize {
        HEAD_BYTES + self.regions as usize * size_of::<Record>()
    }
    const fn words(&self) -> usize {
        (self.groups() + GROUPS * size_of::<GroupSlot>()).next_multiple_of(PAGE)
    }
    const fn extra_at(&self) -> usize {
        self.words() + GROUPS * GROUP_BYTES
    }
    /// Bytes of the header.
    pub const fn bytes(&self) -> usize {
        (self.extra_at() + self.extra as usize).next_multiple_of(PAGE)
    }
}

/// The owner of a header, as its header names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The mark, as on its card.
    pub mark: u64,
    /// The process.
    pub pid: u32,
    /// When it started.
    pub started: u64,
    /// Its rank, if it has one of its own.
    pub rank: Option<crate::Rank>,
    /// The backend's name as a word.
    pub backend: u64,
}

/// A mapped header.
#[derive(Debug)]
pub struct Header {
    area: SharedArea,
    shape: HeaderSizes,
}

// SAFETY: nothing but atomics.
unsafe impl Shared for Head {}
// SAFETY: nothing but atomics.
unsafe impl Shared for Record {}
// SAFETY: nothing but atomics.
unsafe impl Shared for GroupSlot {}

impl Header {
    /// Makes this process's header at `offset` of `file`, where the file has zeros.
    pub fn make(
        file: BorrowedFd,
        offset: u64,
        shape: HeaderSizes,
        owner: &Owner,
    ) -> Result<Self, Error> {
        assert!(shape.is_sound());
        let header = Self { area: SharedArea::map(file, offset, shape.bytes())?, shape };
        let head = header.head();
        head.version.store(VERSION_WORD, Ordering::Relaxed);
        head.mark.store(owner.mark, Ordering::Relaxed);
        head.pid.store(owner.pid, Ordering::Relaxed);
        head.started.store(owner.started, Ordering::Relaxed);
        head.regions.store(shape.regions, Ordering::Relaxed);
        head.extra.store(shape.extra, Ordering::Relaxed);
        head.backend.store(owner.backend, Ordering::Relaxed);
        head.rank.store(owner.rank.map_or(0, |rank| u64::from(rank) + 1), Ordering::Relaxed);
        (0..shape.regions).for_each(|i| header.record(i).version.store(1, Ordering::Relaxed));
        head.stage.store(OPEN, Ordering::Relaxed);
        head.magic.store(MAGIC, Ordering::Release);
        Ok(header)
    }

    /// Opens a peer's header at `offset` of `file`, at most `most` bytes long. `None` if it is not
    /// made yet. The caller has checked that the file has these bytes and cannot shrink.
    pub fn find(file: BorrowedFd, offset: u64, most: u64) -> Result<Option<Self>, Error> {
        if most < HEAD_BYTES as u64 {
            return Err(damaged(format_args!("there are {most} bytes for it")));
        }
        // The head alone first: the size of the rest depends on it.
        let first = SharedArea::map(file, offset, HEAD_BYTES)?;
        let head: &Head = first.at(0);
        match head.magic.load(Ordering::Acquire) {
            0 => return Ok(None),
            MAGIC => card::same_major("header", head.version.load(Ordering::Relaxed))?,
            other => return Err(damaged(format_args!("it begins with {other:#x}"))),
        }
        let regions = head.regions.load(Ordering::Relaxed);
        let shape = HeaderSizes { regions, extra: head.extra.load(Ordering::Relaxed) };
        if !shape.is_sound() || shape.bytes() as u64 > most {
            return Err(damaged(format_args!("it says {shape:?}")));
        }
        let area = SharedArea::map(file, offset, shape.bytes())?;
        // A forked child is no rank, and uses no header.
        area.mark_foreign();
        Ok(Some(Self { area, shape }))
    }

    fn head(&self) -> &Head {
        self.area.at(0)
    }

    /// The owner of the header.
    pub fn owner(&self) -> Owner {
        let head = self.head();
        Owner {
            mark: head.mark.load(Ordering::Relaxed),
            pid: head.pid.load(Ordering::Relaxed),
            started: head.started.load(Ordering::Relaxed),
            rank: head.rank.load(Ordering::Relaxed).checked_sub(1).map(|rank| rank as u32),
            backend: head.backend.load(Ordering::Relaxed),
        }
    }

    /// Whether its owner has closed its node.
    pub fn is_closed(&self) -> bool {
        self.head().stage.load(Ordering::Acquire) == CLOSED
    }

    /// Marks the header as closed. Only its owner calls this.
    pub fn close(&self) {
        self.head().stage.store(CLOSED, Ordering::Release);
    }

    /// Withholds it from forked children, which are no ranks and do not use it.
    pub fn withhold(&self) {
        self.area.withhold();
    }

    /// Its address range in this process.
    pub fn range(&self) -> Range<usize> {
        self.area.range()
    }

    /// The client's part.
    pub fn extra(&self) -> NonNull<u8> {
        self.area.bytes_at(self.shape.extra_at(), self.shape.extra as usize)
    }

    fn record(&self, index: u32) -> &Record {
        assert!(index < self.shape.regions);
        self.area.at(HEAD_BYTES + index as usize * size_of::<Record>())
    }

    /// Publishes a region of this process in a free record.
    pub fn publish(&self, index: u32, region: &Published) {
        let record = self.record(index);
        for (to, word) in record.words.iter().zip(region.words()) {
            to.store(word, Ordering::Relaxed);
        }
        let version = record.version.load(Ordering::Relaxed);
        // Release: a peer that sees the version sees the words and the content of the memory.
        record.version.store(version + 1, Ordering::Release);
    }

    /// Withdraws a region of this process.
    pub fn withdraw(&self, index: u32) {
        let record = self.record(index);
        let version = record.version.load(Ordering::Relaxed);
        record.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
    }

    /// The owner's regions with their records' numbers, from record `first` on and then from the beginning,
    /// without those that make no sense.
    pub fn regions(&self, first: u32) -> impl Iterator<Item = (u32, Published)> + '_ {
        let all = self.shape.regions;
        let numbers = (first.min(all)..all).chain(0..first.min(all));
        numbers.filter_map(|index| Some((index, self.region(index)?)))
    }

    /// A copy of one record; `None` if it is free or garbage.
    pub fn region(&self, index: u32) -> Option<Published> {
        /// A record is rarely written, so a peer that writes it all the time is not waited for.
        const TRIES: usize = 1000;
        let record = self.record(index);
        let words = (0..TRIES).find_map(|_| {
            let before = record.version.load(Ordering::Acquire);
            let words = std::array::from_fn(|i| record.words[i].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            let after = record.version.load(Ordering::Relaxed);
            (before == after).then_some((before, words))
        });
        let (version, words) = words?;
        if version % 2 == 1 { None } else { Published::from_words(&words) }
    }

    fn group(&self, slot: usize) -> &GroupSlot {
        assert!(slot < GROUPS);
        self.area.at(self.shape.groups() + slot * size_of::<GroupSlot>())
    }

    /// The owner's control words in the group of a slot: [`GROUP_BYTES`] bytes, aligned to a pair
    /// of cache lines. All zero when the owner enters the group.
    pub fn group_words(&self, slot: usize) -> NonNull<u8> {
        self.area.bytes_at(self.words_at(slot), GROUP_BYTES)
    }

    fn words_at(&self, slot: usize) -> usize {
        assert!(slot < GROUPS);
        self.shape.words() + slot * GROUP_BYTES
    }

    /// Enters group `id` and returns its slot; `None` if this process is in the maximum number of
    /// groups. Only the header's owner calls this.
    pub fn enter_group(&self, id: u64) -> Option<usize> {
        let free = |slot: &usize| {
            let state = &self.group(*slot).state;
            state.compare_exchange(FREE, MAKING, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let slot = (0..GROUPS).find(free)?;
        let words = GROUP_BYTES / size_of::<AtomicU64>();
        for word in self.area.slice::<AtomicU64>(self.words_at(slot), words) {
            word.store(0, Ordering::Relaxed);
        }
        self.group(slot).id.store(id, Ordering::Relaxed);
        self.group(slot).state.store(READY, Ordering::Release);
        Some(slot)
    }

    /// Leaves the group of a slot. Its words stay as they are until
    /// [`free_group`](Self::free_group). Only the header's owner calls this.
    pub fn leave_group(&self, slot: usize) {
        self.group(slot).state.store(LEFT, Ordering::Release);
    }

    /// Frees the slot of a group that this process has left and whose words no other member reads
    /// any more. Only the header's owner calls this.
    pub fn free_group(&self, slot: usize) {
        self.group(slot).state.store(FREE, Ordering::Release);
    }

    /// Whether the owner is in group `id`, at this slot.
    pub fn is_in_group(&self, slot: usize, id: u64) -> bool {
        let group = self.group(slot);
        group.state.load(Ordering::Acquire) == READY && group.id.load(Ordering::Relaxed) == id
    }

    /// The slot of group `id`, if the owner is in it.
    pub fn find_group(&self, id: u64) -> Option<usize> {
        (0..GROUPS).find(|slot| self.is_in_group(*slot, id))
    }
}

fn damaged(what: fmt::Arguments) -> Error {
    Error::NoWay(format!("the peer's header is damaged: {what}"))
}

#[cfg(test)]
mod tests;
