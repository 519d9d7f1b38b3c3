//! The regions of a node: what they consist of, and how they are freed.
#![allow(unsafe_code)]

use super::Inner;
use super::adopt;
use super::backing::{Backing, Room};
use crate::Key;
use crate::config::Fork;
use crate::error::Error;
use crate::header::{MemoryLocation, Published};
use onenode_core::backend::BackendResource;
use onenode_core::pages::Pages;
use onenode_core::sys::fd;
use onenode_core::sys::map::{self, OwnMapping};
use onenode_core::sys::mutex;
use std::collections::BTreeMap;
use std::ops::{Range, RangeBounds};
use std::os::fd::OwnedFd;

/// Memory of this process that peers can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The client's name for it.
    pub key: Key,
    /// First address.
    pub start: usize,
    /// Bytes.
    pub bytes: usize,
}

impl Region {
    /// Its addresses.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.bytes
    }
}

/// The first key that a node chooses.
const CHOSEN: u64 = 1 << 63;

/// This node's regions.
pub(super) struct Regions {
    known: BTreeMap<Key, Owned>,
    /// Their keys by their first addresses. No two overlap.
    starts: BTreeMap<usize, Key>,
    /// Where the file has room for the next region.
    pub room: Room,
    /// Records in the header: the total, how many have been used, and which are free again.
    records: u32,
    used: u32,
    free: Vec<u32>,
    /// The key for the next region whose key the node chooses. No region has it.
    next_key: Key,
    /// Where the last new memory was placed.
    pub last: Option<usize>,
}

/// A region and what it consists of.
pub(super) struct Owned {
    pub region: Region,
    /// The record that peers find.
    pub published: Published,
    record: u32,
    /// The reservation for new memory, which lives as long as the region.
    reserved: Option<OwnMapping>,
    /// The file, if it is not the header's.
    _file: Option<OwnedFd>,
    /// The right of peers to attach it.
    held: Option<BackendResource>,
}

/// The properties of a region.
pub(super) struct RegionProperties {
    pub pages: Pages,
    /// The program's fingerprint if this is its data segment, otherwise 0.
    pub image: u64,
    /// The reservation for new memory.
    pub reserved: Option<OwnMapping>,
}

impl Default for RegionProperties {
    fn default() -> Self {
        Self { pages: Pages::Normal, image: 0, reserved: None }
    }
}

impl Regions {
    pub fn new(room: Room, records: u32) -> Self {
        let (known, starts, free) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { known, starts, room, records, used: 0, free, next_key: Key(CHOSEN), last: None }
    }

    pub fn get(&self, key: Key) -> Option<&Owned> {
        self.known.get(&key)
    }

    pub fn all(&self) -> impl Iterator<Item = &Owned> {
        self.known.values()
    }

    pub fn remove(&mut self, key: Key) -> Option<Owned> {
        let owned = self.known.remove(&key)?;
        self.starts.remove(&owned.region.start);
        self.free.push(owned.record);
        Some(owned)
    }

    /// The record and the key for a new region of memory that no other region has. The key is the
    /// one given, or chosen here.
    pub fn record(&self, key: Key, memory: &Range<usize>) -> Result<(u32, Key), Error> {
        let key = if key == Key::ANY { self.next_key } else { key };
        if let Some(owned) = self.known.get(&key) {
            let Region { start, bytes, .. } = owned.region;
            let expected =
                format!("a key that no region has: it is that of {start:#x} (+ {bytes} bytes)");
            return Err(Error::argument("key", format_args!("{:#x}", key.0), expected));
        }
        let below = self.last_from(..memory.end);
        if let Some(region) = below.filter(|region| memory.start < region.range().end) {
            let value = format!("{:#x}..{:#x}", memory.start, memory.end);
            let expected = format!(
                "memory of no other region of this node: region {:#x} has {:#x}..{:#x} (withdraw a \
                 region before its memory is unmapped)",
                region.key.0,
                region.start,
                region.range().end
            );
            return Err(Error::argument("range", value, expected));
        }
        let fresh = (self.used < self.records).then_some(self.used);
        match self.free.last().copied().or(fresh) {
            Some(record) => Ok((record, key)),
            None => Err(Error::NoWay(format!(
                "there are {} regions already; Config::regions says how many there can be",
                self.records
            ))),
        }
    }

    /// The region that has an address.
    pub fn of(&self, address: usize) -> Option<Region> {
        self.last_from(..=address).filter(|region| region.range().contains(&address))
    }

    /// The last region that starts at one of these addresses.
    fn last_from(&self, starts: impl RangeBounds<usize>) -> Option<Region> {
        let (_, key) = self.starts.range(starts).next_back()?;
        Some(self.known[key].region)
    }
}

/// The error for a key that no region has.
pub(super) fn unknown(key: Key) -> Error {
    Error::argument("key", format_args!("{:#x}", key.0), "the key of a region of this node")
}

impl Inner {
    /// Publishes a region and stores what it consists of.
    ///
    /// # Safety
    /// Peers may access the region's memory. Under [`Fork::Drops`], forked children do not use it.
    pub(super) unsafe fn keep(
        &self,
        regions: &mut Regions,
        record: u32,
        region: Region,
        kind: RegionProperties,
        backing: Backing,
    ) -> Region {
        let RegionProperties { pages, image, reserved } = kind;
        let (start, bytes, place) = (region.start, region.bytes, backing.place);
        let published =
            Published { key: region.key, start, bytes, place, pages: pages.word(), image };
        if self.fork == Fork::Drops {
            // SAFETY: the caller guarantees that no child uses it.
            unsafe { map::withhold(&region.range()) };
        }
        self.header.publish(record, &published);
        if regions.free.pop().is_none() {
            regions.used += 1;
        }
        let owned =
            Owned { region, published, record, reserved, _file: backing.file, held: backing.held };
        regions.known.insert(region.key, owned);
        regions.starts.insert(region.start, region.key);
        while regions.known.contains_key(&regions.next_key) {
            regions.next_key.0 += 1;
        }
        region
    }

    /// Fails if something else than the region's memory is mapped in its place, so that peers and this
    /// process would no longer see the same. The data segment has gaps, and is not looked at; nor is
    /// memory in place.
    pub(super) fn check_mapped(&self, owned: &Owned) -> Result<(), Error> {
        let header = || fd::inode(self.file().ok()?).ok();
        let (inode, offset) = match owned.published.place {
            MemoryLocation::Header(offset) => (header(), offset),
            MemoryLocation::File { inode, offset, .. } => (Some(inode), offset),
            MemoryLocation::Segment(_) => return Ok(()),
        };
        // Where the program has closed the file, or there is no `/proc`, nothing is known.
        let Some(inode) = inode else { return Ok(()) };
        let unit = Pages::from_word(owned.published.pages).size();
        let Range { start, end } = owned.region.range();
        let pages = start / unit * unit..end.next_multiple_of(unit);
        let moved = adopt::check_file(&pages, inode, offset);
        if owned.published.image != 0 || !matches!(moved, Err(Error::Argument { .. })) {
            return Ok(());
        }
        let value = format!("{:#x}, of {start:#x}..{end:#x}", owned.region.key.0);
        let expected = "a region whose memory is still mapped there: it was unmapped, moved or mapped \
                        over without being withdrawn first";
        Err(Error::argument("key", value, expected))
    }

    /// Withdraws a region and frees the memory that was made for it.
    pub(super) fn give_back(&self, owned: Owned) {
        self.header.withdraw(owned.record);
        let Owned { region, published, reserved, held, .. } = owned;
        // Must go before its memory.
        drop(held);
        let Some(reserved) = reserved else { return };
        if let (MemoryLocation::Header(offset), Ok(file)) = (published.place, self.file()) {
            self.backend.free(&reserved.part(region.range()), Some((file.into(), offset)));
        }
        drop(reserved);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let regions = std::mem::take(&mut mutex::lock(&self.regions).known);
        regions.into_values().for_each(|owned| self.give_back(owned));
    }
}
