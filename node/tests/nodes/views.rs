//! Views: many regions, many ranks, and what comes late.

use super::memory::{read, view, words, write};
use super::ranks::{LONG, memfd, run, state_of};
use onenode::{Config, Error, Key, Node, Pages, Rank, State, Table};
use onenode_core::sys::map;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

#[test]
fn one_to_sixteen_regions() {
    for count in [1, 2, 7, 16] {
        run(2, |process| {
            let (node, next) = (process.node(), process.next());
            let me = u64::from(process.index);
            // In another order, and elsewhere, on each rank.
            let mut order: Vec<u64> = (0..count).collect();
            order.rotate_left(process.index as usize % count as usize);
            if process.index == 1 {
                node.alloc(Key(1000), 12345, Pages::Normal).expect("in between");
            }
            let bytes = |key: u64| (key as usize + 1) * 4096 * 3;
            for key in &order {
                node.alloc(Key(*key), bytes(*key), Pages::Normal).expect("allocated");
            }
            // Distances differ from rank to rank, so each view has its own here.
            let keys: Vec<Key> = order.iter().copied().map(Key).collect();
            let (view, table) = view(&node, &keys, 2);
            let pieces = view.bounds().pieces.to_vec();
            assert_eq!(pieces.len(), count as usize);
            process.barrier();
            for piece in &pieces {
                let length = piece.len() as u64;
                for own in [piece.start, piece.end - 8] {
                    let there = view.resolve(own, next).expect("resolved");
                    assert_eq!(table.at(own, next as usize), Some(there));
                    write(there, length << 8 | me);
                    assert_eq!(view.own(there, node.rank().expect("a rank")).ok(), None);
                }
            }
            process.barrier();
            for piece in &pieces {
                let expected = (piece.len() as u64) << 8 | (1 - me);
                assert_eq!([piece.start, piece.end - 8].map(read), [expected; 2]);
            }
            process.barrier();
            // Between two regions is nothing, and a fault there is explained.
            if let Some(two) = pieces.windows(2).find(|two| two[0].end < two[1].start) {
                let hole = two[0].end;
                assert!(matches!(view.resolve(hole, next), Err(Error::NotMapped { .. })));
                let there = table.at(hole, next as usize).expect("translated");
                assert!(explained(&node, there).contains("in no region of the view"));
            }
            let there = table.at(pieces[0].start + 5, next as usize).expect("translated");
            let text = explained(&node, there);
            assert!(text.contains(&format!("rank {next}, in its region")), "{text}");
            let null = (there - 5).wrapping_sub(pieces[0].start).wrapping_add(16);
            let text = explained(&node, null);
            assert!(text.contains("null pointer (0x10)"), "{text}");
            assert_eq!(explained(&node, &raw const text as usize), "");
        });
    }
}

fn explained(node: &Node, address: usize) -> String {
    let mut text = [0; 300];
    let used = node.explain(address, &mut text);
    let short = node.explain(address, &mut text[..10.min(used)]);
    assert_eq!(short, 10.min(used));
    String::from_utf8_lossy(&text[..used]).into_owned()
}

#[test]
fn addresses_of_the_owner() {
    run(2, |process| {
        let node = process.node();
        if process.index == 1 {
            node.alloc(Key(9), 123 << 20, Pages::Normal).expect("in between");
        }
        let region = node.alloc(Key(1), 8192, Pages::Normal).expect("allocated");
        let starts = process.exchange([region.start as u64, 0, 0, 0, 0, 0, 0, 0]);
        let theirs = starts[process.next() as usize][0] as usize;
        assert_ne!(theirs, region.start);
        let (view, _table) = view(&node, &[Key(1)], 2);
        let next = process.next();
        assert_eq!(view.own(theirs + 777, next).expect("known"), region.start + 777);
        assert_eq!(view.own(region.start + 7, process.index).expect("own"), region.start + 7);
        let lost = view.own(theirs + 8192, next).expect_err("past the end").to_string();
        assert!(lost.contains(&format!("region of rank {next}")), "{lost}");
        process.barrier();
    });
}

#[test]
fn numbers_with_holes_and_beyond_the_table() {
    static TABLE: Table<70> = Table::new();
    const RANKS: [Rank; 4] = [3, 64, 1 << 20, Rank::MAX - 1];
    run(4, |process| {
        let rank = |index: u32| RANKS[index as usize];
        let me = rank(process.index);
        let node = Node::open(Config { rank: Some(me), ..memfd() }).expect("opened");
        process.meet(&node, rank);
        let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        let view = node.view(&[Key(1)], &TABLE).expect("a view");
        write(region.start, u64::from(me));
        process.barrier();
        for rank in RANKS {
            let there = view.resolve(region.start, rank).expect("resolved");
            assert_eq!(read(there), u64::from(rank));
            let listed = TABLE.at(region.start, rank as usize);
            assert_eq!(listed, (rank < 70).then_some(there));
            assert_eq!(view.resolve(region.start, rank).expect("again"), there);
        }
        for unknown in [0, 65, Rank::MAX] {
            assert!(matches!(view.resolve(region.start, unknown), Err(Error::NoCard { .. })));
            assert_eq!(state_of(&node, unknown), State::Unknown);
        }
        process.barrier();
    });
}

#[test]
fn regions_that_come_late() {
    run(2, |process| {
        let (node, next) = (process.node(), process.next());
        if process.index == 0 {
            node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
            let (view, _table) = view(&node, &[Key(1)], 2);
            let own = view.bounds().origin;
            let error = node.attach(next, Duration::from_millis(20)).expect_err("not there yet");
            assert!(matches!(error, Error::Time), "{error}");
            process.barrier();
            let there = view.resolve(own, next).expect("there, at last");
            // It is there before its owner has written to it.
            while read(there) == 0 {
                thread::yield_now();
            }
            assert_eq!(read(there), 5);
            process.barrier();
        } else {
            process.barrier();
            thread::sleep(Duration::from_millis(50));
            let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
            write(region.start, 5);
            process.barrier();
        }
    });
}

#[test]
fn waits_call_the_client() {
    run(2, |process| {
        let node = process.open(|rank| Config {
            rank: Some(rank),
            progress: Some(Box::new(|| Err(Error::Stopped))),
            ..memfd()
        });
        node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        if process.index == 0 {
            let (_view, _table) = view(&node, &[Key(1)], 2);
            node.alloc(Key(2), 4096, Pages::Normal).expect("allocated");
            let (late, _table) = view(&node, &[Key(2)], 2);
            let error = node.attach(1, LONG).expect_err("stopped");
            assert!(matches!(error, Error::Stopped), "{error}");
            let error = late.resolve(late.bounds().origin, 1).expect_err("stopped");
            assert!(matches!(error, Error::Stopped), "{error}");
        }
        process.barrier();
    });
}

#[test]
fn threads_attach_once() {
    run(3, |process| {
        let node = process.node();
        let region = node.alloc(Key(1), 1 << 20, Pages::Normal).expect("allocated");
        write(region.start, u64::from(process.index));
        let (view, table) = view(&node, &[Key(1)], 3);
        process.barrier();
        let (view, table) = (Arc::new(view), &table);
        let found: Vec<Vec<usize>> = thread::scope(|scope| {
            let one = |_| {
                let view = view.clone();
                scope.spawn(move || {
                    (0..3).map(|rank| view.resolve(region.start, rank).expect("resolved")).collect()
                })
            };
            let threads: Vec<_> = (0..8).map(one).collect();
            threads.into_iter().map(|thread| thread.join().expect("joined")).collect()
        });
        assert!(found.iter().all(|places| *places == found[0]));
        for (rank, there) in found[0].iter().enumerate() {
            assert_eq!(table.at(region.start, rank), Some(*there));
            assert_eq!(read(*there), rank as u64);
        }
        process.barrier();
    });
}

#[test]
fn two_nodes_know_nothing_of_each_other() {
    run(2, |process| {
        let (one, two) = (process.node(), process.node());
        let (a, b) = (
            one.alloc(Key(1), 4096, Pages::Normal).expect("allocated"),
            two.alloc(Key(1), 8192, Pages::Normal).expect("allocated"),
        );
        let (one_view, one_table) = view(&one, &[Key(1)], 2);
        let (two_view, two_table) = view(&two, &[Key(1)], 2);
        process.barrier();
        let next = process.next();
        write(one_view.resolve(a.start, next).expect("resolved"), 1);
        write(two_view.resolve(b.start + 4096, next).expect("resolved"), 2);
        process.barrier();
        assert_eq!((read(a.start), read(b.start), read(b.start + 4096)), (1, 0, 2));
        assert_eq!(one_table.at(b.start, next as usize), None);
        drop((one_view, one));
        assert_eq!(one_table.at(a.start, next as usize), None, "closed");
        assert!(two_table.at(b.start, next as usize).is_some());
        process.barrier();
        assert_eq!(state_of(&two, next), State::Attached);
        assert!(!map::is_mapped(a.start), "new memory goes with its node");
        process.barrier();
    });
}

#[test]
fn peers_without_numbers_get_some() {
    run(3, |process| {
        let node = Node::open(memfd()).expect("opened");
        let cards = process.exchange(node.card().expect("a card").0);
        let others: Vec<_> = (0..3).filter(|index| *index != process.index as usize).collect();
        let know = |index: usize| node.know(None, &onenode::Card(cards[index])).expect("known");
        assert_eq!(others.iter().map(|index| know(*index)).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(know(others[1]), 1, "the same one again");
        let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        words(region.start, 2)[1].store(others[0] as u64, std::sync::atomic::Ordering::SeqCst);
        write(region.start, u64::from(process.index));
        let (view, _table) = view(&node, &[Key(1)], 3);
        process.barrier();
        for (rank, index) in (0..).zip(others) {
            assert_eq!(read(view.resolve(region.start, rank).expect("resolved")), index as u64);
        }
        process.barrier();
    });
}
