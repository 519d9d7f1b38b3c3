//! Each source of memory, from the owner to a peer and back.

use super::memory::{adopt, adopt_program, read, unregion, view, words, write};
use super::ranks::{LONG, Process, run, state_of};
use onenode::{Alloc, Error, HeapTable, Key, Pages, Region, Scope, State, View};
use onenode_core::sys::map::{self, OwnMapping};
use onenode_core::sys::{fd, huge};
use std::fs::File;
use std::hint::black_box;
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

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
        Err(Error::NotMapped { of: Scope::View, .. })
    ));
    assert_eq!(table.at(region.start + region.bytes, next as usize), None);
    process.barrier();
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
        let region = adopt_program(&node, Key(1));
        let address = &raw const WORD as usize;
        assert!(region.range().contains(&address));
        assert_eq!(WORD.load(SeqCst), u64::from(process.index), "its content stays");
        let (view, table) = view(&node, &[Key(1)], process.count);
        let next = process.next();
        node.attach(next, LONG).expect("attached");
        assert_eq!(state_of(&node, next), State::Attached);
        let there = table.at(address, next as usize).expect("translated");
        assert_eq!(read(there), u64::from(next));
        assert_eq!(view.resolve(address, next).expect("resolved"), there);
        process.barrier();
        write(there, 1000);
        process.barrier();
        assert_eq!(black_box(&WORD).load(SeqCst), 1000);
    });
}

/// Private pages of this process, of which the second half was never touched.
fn private(bytes: usize) -> usize {
    let at = map::private_anywhere(bytes).expect("private memory");
    words(at, bytes / 16).iter().zip(0..).for_each(|(word, i)| word.store(i, SeqCst));
    at
}

#[test]
fn pages_that_are_there() {
    run(3, |process| {
        let (node, bytes) = (process.node(), 1 << 20);
        let at = private(bytes);
        let region = adopt(&node, Key(5), at..at + bytes - 100).expect("adopted");
        assert_eq!(region.range(), at..at + bytes, "whole pages");
        let content = words(at, bytes / 8).iter().map(|word| word.load(SeqCst));
        let expected = (0..bytes as u64 / 8).map(|i| if i < bytes as u64 / 16 { i } else { 0 });
        assert!(content.eq(expected), "its content stays");
        let (view, table) = view(&node, &[Key(5)], process.count);
        check(process, &view, &table, region);
        drop(view);
        drop(node);
        words(at, bytes / 8)[100].fetch_add(1, SeqCst);
    });
}

#[test]
fn what_cannot_be_adopted_is_refused() {
    run(1, |process| {
        let node = process.node();
        let page = map::page_size();
        let refused = |range: Range<usize>, why: &str| {
            let error = adopt(&node, Key(1), range).expect_err("refused").to_string();
            assert!(error.contains("expected") && error.contains(why), "{error}");
        };
        // Three pages, with nothing behind them, of which the second is not accessible at first.
        let at = OwnMapping::reserve(4 * page).expect("a place").range().start;
        let pages = OwnMapping::reserve_at(at, 3 * page).expect("the place");
        let zeros = |range: Range<usize>| pages.part(range).zeros().expect("mapped");
        [at..at + page, at + 2 * page..at + 3 * page].into_iter().for_each(zeros);
        refused(0..page, "0x0");
        refused(at + 4 * page..at, "memory");
        refused(at + 8..at + page, "start");
        refused(at..at + 3 * page, "cannot be written");
        zeros(at + page..at + 2 * page);
        refused(at..at + 4 * page, "mapped");
        let file = fd::memfd(c"client").expect("a memory file");
        File::from(file.try_clone().expect("a copy")).set_len(page as u64).expect("its size");
        let shared = OwnMapping::shared(file.as_fd(), 0, page).expect("mapped").keep();
        refused(shared..shared + page, "can shrink");
        drop(file);
        refused(shared..shared + page, "no descriptor");
        let error = node.alloc(Key(1), 0, Pages::Normal).expect_err("nothing").to_string();
        assert!(error.contains("bytes = 0"), "{error}");
        // SAFETY: this test's own memory.
        let error = unsafe { node.export(Key(1), at..at + 5) }.expect_err("no way");
        assert!(matches!(&error, Error::NoWay(why) if why.contains("xpmem")), "{error}");
        let text = node.to_string();
        assert!(!text.contains("region"), "nothing of it has stayed: {text}");
    });
}

#[test]
fn memory_files_of_the_client() {
    run(2, |process| {
        let (node, page) = (process.node(), map::page_size());
        let file = fd::memfd(c"client").expect("a memory file");
        fd::resize_and_seal(file.as_fd(), 10 * page as u64).expect("its size");
        let at = OwnMapping::shared(file.as_fd(), page as u64, 8 * page).expect("mapped").keep();
        // Neither begins nor ends with a page.
        let what = at + page + 8..at + 7 * page - 24;
        let (fd, offset) = (file.as_fd(), 2 * page as u64 + 8);
        let publish = |offset| {
            // SAFETY: this test's own memory, which stays, and which it accesses as atomics.
            unsafe { node.file(Key(2), what.clone(), fd, offset) }
        };
        let wrong = publish(offset + 4096).expect_err("another offset").to_string();
        assert!(wrong.contains("from the file"), "{wrong}");
        let region = publish(offset).expect("published");
        assert_eq!(region.range(), what);
        drop(file);
        let (view, table) = view(&node, &[Key(2)], process.count);
        check(process, &view, &table, region);
    });
}

#[test]
fn what_another_client_has_adopted() {
    run(2, |process| {
        let (one, other) = (process.node(), process.node());
        let at = private(1 << 16);
        adopt(&one, Key(1), at..at + (1 << 16)).expect("adopted");
        adopt_program(&one, Key(2));
        // Part of it, under another name.
        let region = adopt(&other, Key(9), at + 4096..at + (1 << 15)).expect("published");
        adopt_program(&other, Key(8));
        let tables = [view(&one, &[Key(1)], 2), view(&other, &[Key(9)], 2)];
        check(process, &tables[1].0, &tables[1].1, region);
        let next = process.next();
        let there = tables.each_ref().map(|(view, _)| view.resolve(region.start, next));
        let [a, b] = there.map(|there| there.expect("resolved"));
        write(a, 77);
        assert_eq!(read(b), 77, "both are the one memory of the peer");
        process.barrier();
        drop(tables);
        // Its file has no descriptor any more.
        drop((one, other));
        let last = process.node();
        let region = adopt(&last, Key(1), at..at + (1 << 16)).expect("adopted again");
        assert_eq!(read(at + 4096), 77);
        assert_eq!(read(at + 8), 1);
        let (view, table) = view(&last, &[Key(1)], 2);
        check(process, &view, &table, region);
    });
}

#[test]
fn pages_of_all_sizes() {
    let mut sizes = vec![Pages::Transparent];
    let free = |size: &usize| huge::available(*size).is_some_and(|(free, _)| free >= 4);
    sizes.extend(huge::sizes().into_iter().filter(free).map(Pages::Explicit));
    run(2, |process| {
        let node = process.node();
        for (key, pages) in (0..).map(Key).zip(&sizes) {
            let region = match node.alloc(key, 3 << 20, *pages) {
                Ok(region) => region,
                Err(error) => {
                    let text = error.to_string();
                    assert!(*pages == Pages::Transparent && text.contains("shmem"), "{text}");
                    continue;
                }
            };
            assert_eq!(region.bytes % pages.size(), 0);
            let (view, table) = view(&node, &[key], 2);
            check(process, &view, &table, region);
        }
    });
}

#[test]
fn hints_are_followed() {
    run(1, |process| {
        let node = process.node();
        let hint = 0x3000_0000_0000;
        let alloc = |key, hint, align| {
            let wanted = Alloc { bytes: 5000, pages: Pages::Normal, align, hint };
            node.alloc_as(Key(key), &wanted)
        };
        assert_eq!(alloc(1, hint, 0).expect("there").start, hint);
        assert_ne!(alloc(2, hint, 0).expect("elsewhere").start, hint, "taken");
        assert_eq!(alloc(3, 0, 1 << 30).expect("aligned").start % (1 << 30), 0);
        assert!(alloc(4, 0, 3).expect_err("no power of two").to_string().contains("align = 3"));
        let same = alloc(1, 0, 0).expect_err("taken").to_string();
        assert!(same.contains("key = 0x1"), "{same}");
        unregion(&node, Key(1)).expect("gone");
        assert!(!map::is_mapped(hint));
        assert_eq!(alloc(1, hint, 0).expect("there again").start, hint);
        let unknown = unregion(&node, Key(9)).expect_err("no such region").to_string();
        assert!(unknown.contains("key = 0x9"), "{unknown}");
    });
}
