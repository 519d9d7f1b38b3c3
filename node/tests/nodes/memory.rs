//! Memory of regions, which tests reach by addresses and as atomics only: there are no references into
//! what a test gives up.

use super::ranks::LONG;
use onenode::{Collective, Error, Group, HeapTable, Key, Node, Pages, Rank, Region, View};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

/// Memory that processes share, or will.
pub fn words<'m>(at: usize, count: usize) -> &'m [AtomicU64] {
    // SAFETY: memory of regions that live as long as the test; atomics are valid for any bytes.
    unsafe { std::slice::from_raw_parts(at as *const AtomicU64, count) }
}

pub fn write(at: usize, value: u64) {
    words(at, 1)[0].store(value, SeqCst);
}

pub fn read(at: usize) -> u64 {
    words(at, 1)[0].load(SeqCst)
}

/// A view with a table for so many ranks.
pub fn view(node: &Node, keys: &[Key], ranks: u32) -> (View, Arc<HeapTable>) {
    let table = Arc::new(HeapTable::new(ranks as usize));
    (node.view(keys, table.clone()).expect("a view"), table)
}

/// Bytes of a [`Memory`].
pub const BYTES: usize = 4 << 20;

/// Region 1 of a process, and a view of the others'.
pub struct Memory {
    pub start: usize,
    pub view: View,
}

impl Memory {
    pub fn new(node: &Node, count: u32) -> Self {
        let region = node.alloc(Key(1), BYTES, Pages::Normal).expect("allocated");
        Self { start: region.start, view: view(node, &[Key(1)], count).0 }
    }

    /// The word at an offset of this process's region.
    pub fn word(&self, at: usize) -> &AtomicU64 {
        &words(self.start + at, 1)[0]
    }

    /// The word at an offset of a rank's region.
    pub fn word_of(&self, at: usize, rank: Rank) -> &AtomicU64 {
        &words(self.view.resolve(self.start + at, rank).expect("reached"), 1)[0]
    }
}

/// Adopts memory of the test's own.
pub fn adopt(node: &Node, key: Key, what: Range<usize>) -> Result<Region, Error> {
    // SAFETY: only this test accesses the memory, as atomics, in a process with one thread.
    unsafe { node.adopt(key, what) }
}

/// Adopts the data of the test's program.
pub fn adopt_program(node: &Node, key: Key) -> Region {
    // SAFETY: a forked child with one thread, which keeps its data where they are.
    unsafe { node.adopt_program(key) }.expect("adopted")
}

/// Gives up a region whose memory the test uses no more.
pub fn unregion(node: &Node, key: Key) -> Result<(), Error> {
    // SAFETY: nobody uses the memory.
    unsafe { node.unregion(key) }
}

/// Gives up a rank whose memory the test uses no more.
pub fn detach(node: &Node, rank: Rank) -> Result<(), Error> {
    // SAFETY: nobody uses the rank's memory.
    unsafe { node.detach(rank) }
}

/// Calls a collective, whose buffers are parts of a region without references.
pub fn call(group: &mut Group, call: &Collective<'_>, limit: Duration) -> Result<(), Error> {
    // SAFETY: the buffers are apart in a region, which nobody else accesses now; others are refused.
    unsafe { group.run(call, limit) }
}

/// Calls a collective with time enough.
pub fn carry_out(group: &mut Group, collective: &Collective<'_>) {
    call(group, collective, LONG).expect("carried out");
}
