//! The regions of a PE, by its own addresses and by those of the other PEs.

use onenode::{Bounds, Entries, Entry, Error, HeapTable, Key, Node, Rank, Region, Scope, View};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A region's name: the same for the members that allocate it together, and for no other region.
pub(crate) fn key_of(members: &[usize], count: u64) -> Key {
    /// FNV-1a, 64 bits: <http://www.isthe.com/chongo/tech/comp/fnv/>.
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let words = members.iter().map(|pe| *pe as u64).chain([count]);
    let bytes = words.flat_map(u64::to_le_bytes);
    Key(bytes.fold(BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)))
}

/// The table that a view fills in: where each PE's part is mapped here, and its address in that PE.
struct Parts {
    table: HeapTable,
    starts: Box<[AtomicUsize]>,
}

impl Entries for Parts {
    fn publish(&self, bounds: &Bounds<'_>) -> Result<(), Error> {
        self.table.publish(bounds)
    }
    fn open(&self, rank: Rank, entry: &Entry) {
        self.starts[rank as usize].store(entry.start, Ordering::Relaxed);
        self.table.open(rank, entry);
    }
    fn shut(&self, rank: Rank) {
        self.table.shut(rank);
    }
    fn close(&self) {
        self.table.close();
    }
}

/// Memory that some PEs have allocated together.
pub(crate) struct Allocation {
    own: Region,
    members: Vec<usize>,
    parts: Arc<Parts>,
    _view: View,
}

impl Allocation {
    /// The start of a member's part in that member's address space.
    fn start_at(&self, pe: usize) -> usize {
        self.parts.starts[pe].load(Ordering::Relaxed)
    }
}

/// All allocations of this PE.
pub(crate) struct Regions {
    /// Allocations by address in this PE.
    own: BTreeMap<usize, Allocation>,
    /// For each PE, its addresses mapped to those of this PE.
    theirs: Vec<BTreeMap<usize, usize>>,
}

fn unknown(rank: Option<usize>, start: usize) -> Error {
    let of = rank.map_or(Scope::View, |pe| Scope::Rank(pe as Rank));
    Error::NotMapped { of, start, bytes: 1 }
}

impl Regions {
    /// An empty set, for `pes` PEs.
    pub fn new(pes: usize) -> Self {
        Self { own: BTreeMap::new(), theirs: vec![BTreeMap::new(); pes] }
    }

    /// Attaches the region at all members. Waits until they have it.
    pub fn open(
        node: &Node,
        own: &Region,
        members: &[usize],
        pes: usize,
    ) -> Result<Allocation, Error> {
        let starts = (0..pes).map(|_| AtomicUsize::new(0)).collect();
        let parts = Arc::new(Parts { table: HeapTable::new(pes), starts });
        let view = node.view(&[own.key], parts.clone())?;
        for pe in members {
            view.resolve(own.start, *pe as Rank)?;
        }
        Ok(Allocation { own: *own, members: members.to_vec(), parts, _view: view })
    }

    /// Adds an allocation and returns its address in this PE.
    pub fn insert(&mut self, region: Allocation) -> usize {
        let start = region.own.start;
        for pe in &region.members {
            self.theirs[*pe].insert(region.start_at(*pe), start);
        }
        self.own.insert(start, region);
        start
    }

    /// Removes the allocation that starts at `start` in this PE, and returns its key.
    pub fn remove(&mut self, start: usize) -> Result<Key, Error> {
        let region = self.own.remove(&start).ok_or_else(|| unknown(None, start))?;
        for pe in &region.members {
            // A member that freed its part earlier may have a newer allocation at its address.
            let at = region.start_at(*pe);
            if self.theirs[*pe].get(&at) == Some(&start) {
                self.theirs[*pe].remove(&at);
            }
        }
        Ok(region.own.key)
    }

    fn find(&self, own: usize) -> Option<&Allocation> {
        let (_, region) = self.own.range(..=own).next_back()?;
        region.own.range().contains(&own).then_some(region)
    }

    /// Where a PE's counterpart of an address of this PE is mapped here.
    #[inline]
    pub fn at(&self, pe: usize, own: usize) -> Result<usize, Error> {
        let found = self.find(own).and_then(|region| region.parts.table.at(own, pe));
        found.ok_or_else(|| unknown(Some(pe), own))
    }

    /// The address in this PE that corresponds to a PE's address `theirs`.
    pub fn own(&self, pe: usize, theirs: usize) -> Result<usize, Error> {
        let lost = || unknown(Some(pe), theirs);
        let near = self.theirs.get(pe).and_then(|map| map.range(..=theirs).next_back());
        let (start, own) = near.ok_or_else(lost)?;
        let bytes = self.own.get(own).map_or(0, |region| region.own.bytes);
        let offset = theirs - start;
        if offset < bytes { Ok(own + offset) } else { Err(lost()) }
    }

    /// The address in a PE that corresponds to an address of this PE.
    pub fn theirs(&self, pe: usize, own: usize) -> Result<usize, Error> {
        let lost = || unknown(Some(pe), own);
        let region = self.find(own).filter(|region| region.members.contains(&pe));
        let region = region.ok_or_else(lost)?;
        Ok(region.start_at(pe) + (own - region.own.start))
    }
}
