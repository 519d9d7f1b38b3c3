//! Each source of memory, from the owner to a peer and back.

use super::ranks::{LONG, Process, run};
use onenode::{Error, HeapTable, Key, Node, Pages, Region, State, View};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

fn words<'m>(at: usize, count: usize) -> &'m [AtomicU64] {
    // SAFETY: memory of regions that live as long as the test; atomics are valid for any bytes.
    unsafe { std::slice::from_raw_parts(at as *const AtomicU64, count) }
}

fn write(at: usize, value: u64) {
    words(at, 1)[0].store(value, SeqCst);
}

fn read(at: usize) -> u64 {
    words(at, 1)[0].load(SeqCst)
}

/// All processes write in their neighbour's region and see what was written in their own, at its
/// first and last word.
fn check(process: &mut Process, view: &View, table: &HeapTable, region: Region) {
    let (me, next) = (u64::from(process.index), process.next());
    let ends = [region.start.next_multiple_of(8), (region.start + region.bytes) / 8 * 8 - 8];
    assert_eq!(table.at(ends[0], process.index as usize), Some(ends[0]), "one's own");
    process.barrier();
    for (i, own) in (0..).zip(ends) {
        let there = view.resolve(own, next).expect("resolved");
        assert_eq!(table.at(own, next as usize), Some(there));
        write(there, 100 * i + me);
    }
    process.barrier();
    let before = u64::from((process.index + process.count - 1) % process.count);
    for (i, own) in (0..).zip(ends) {
        assert_eq!(read(own), 100 * i + before);
    }
    assert!(matches!(
        view.resolve(region.start + region.bytes, next),
        Err(Error::NotMapped { rank: None, .. })
    ));
    assert_eq!(table.at(region.start + region.bytes, next as usize), None);
    process.barrier();
}

fn view(node: &Node, keys: &[Key], ranks: u32) -> (View, Arc<HeapTable>) {
    let table = Arc::new(HeapTable::new(ranks as usize));
    (node.view(keys, table.clone()).expect("a view"), table)
}

#[test]
fn new_memory() {
    for count in [1, 2, 5] {
        run(count, |process| {
            let node = process.node();
            let region = node.alloc(Key(7), 3 << 20, Pages::Normal).expect("allocated");
            assert_eq!(region.start % (2 << 20), 0);
            assert!(
                words(region.start, region.bytes / 8).iter().all(|word| word.load(SeqCst) == 0)
            );
            let (view, table) = view(&node, &[Key(7)], count);
            check(process, &view, &table, region);
        });
    }
}

#[test]
fn the_programs_data() {
    static WORD: AtomicU64 = AtomicU64::new(41);
    run(3, |process| {
        let node = process.node();
        WORD.store(u64::from(process.index), SeqCst);
        // SAFETY: a forked child with one thread.
        let region = unsafe { node.adopt_program(Key(1)) }.expect("adopted");
        let address = &raw const WORD as usize;
        assert!(region.range().contains(&address));
        assert_eq!(WORD.load(SeqCst), u64::from(process.index), "its content stays");
        let (view, table) = view(&node, &[Key(1)], process.count);
        let next = process.next();
        node.attach(next, LONG).expect("attached");
        assert_eq!(node.state(next), State::Attached);
        let there = table.at(address, next as usize).expect("translated");
        assert_eq!(read(there), u64::from(next));
        assert_eq!(view.resolve(address, next).expect("resolved"), there);
        process.barrier();
        write(there, 1000);
        process.barrier();
        assert_eq!(black_box(&WORD).load(SeqCst), 1000);
    });
}
