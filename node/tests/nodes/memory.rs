//! Words of shared memory, and views of it.

use onenode::{HeapTable, Key, Node, View};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

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
