//! Any range of a peer's regions.

use super::memory::{detach, read, unregion, view, write};
use super::ranks::{memfd, run};
use onenode::{Config, Error, Key, Pages, Scope};

#[test]
fn ranges_by_the_owners_addresses() {
    run(2, |process| {
        let (node, next) = (process.node(), process.next());
        let bytes = 9 << 20;
        let region = node.alloc(Key(1), bytes, Pages::Normal).expect("allocated");
        node.alloc(Key(2), 4096, Pages::Normal).expect("allocated");
        for i in 0..9 {
            write(region.start + (i << 20), i as u64 + 1);
        }
        let starts = process.exchange([region.start as u64, 0, 0, 0, 0, 0, 0, 0]);
        let theirs = starts[next as usize][0] as usize;
        let map = |from: usize, to: usize| node.map(next, theirs + from..theirs + to);
        let one = map(8, 16).expect("mapped");
        let two = map(0, 8).expect("mapped");
        assert_eq!(one.address() - two.address(), 8, "the same piece");
        assert_eq!(read(two.address()), 1);
        let all = map(0, bytes).expect("mapped");
        assert_eq!(all.range().len(), bytes);
        for i in 0..9 {
            assert_eq!(read(all.address() + (i << 20)), i as u64 + 1);
        }
        write(all.address() + bytes - 8, 77 + u64::from(process.index));
        process.barrier();
        assert_eq!(read(region.start + bytes - 8), 77 + u64::from(next));
        let before = all.address();
        drop((one, two, all));
        assert_eq!(map(5 << 20, bytes).expect("kept").address(), before + (5 << 20));
        for (from, to) in [(bytes - 8, bytes + 1), (5, 5), (9, 3)] {
            assert!(matches!(map(from, to), Err(Error::NotMapped { of: Scope::Rank(_), .. })));
        }
        let own = node.map(process.index, region.start..region.start + 5).expect("own");
        assert_eq!(own.address(), region.start);
        assert!(node.map(process.index, 8..16).is_err());
        assert!(matches!(node.map(7, 8..16), Err(Error::NoCard { rank: 7 })));
        process.barrier();
    });
}

#[test]
fn a_region_that_is_another_by_now_is_mapped_anew() {
    run(2, |process| {
        let (node, next) = (process.node(), process.next());
        let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        write(region.start, 1);
        let start = |process: &mut super::ranks::Process, start: usize| {
            process.exchange([start as u64, 0, 0, 0, 0, 0, 0, 0])[next as usize][0] as usize
        };
        let theirs = start(process, region.start);
        assert_eq!(read(node.map(next, theirs..theirs + 8).expect("mapped").address()), 1);
        process.barrier();
        unregion(&node, Key(1)).expect("gone");
        process.barrier();
        assert!(matches!(node.map(next, theirs..theirs + 8), Err(Error::NotMapped { .. })));
        process.barrier();
        let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        write(region.start, 2);
        let theirs = start(process, region.start);
        assert_eq!(read(node.map(next, theirs..theirs + 8).expect("mapped").address()), 2);
        process.barrier();
    });
}

#[test]
fn regions_are_found_in_any_order_and_after_others_have_taken_their_records() {
    const REGIONS: usize = 100;
    run(2, |process| {
        let next = process.next();
        let config = |rank| Config { rank: Some(rank), regions: REGIONS as u32 + 1, ..memfd() };
        let node = process.open(config);
        let list = node.alloc(Key(0), 4096, Pages::Normal).expect("allocated");
        let starts = process.exchange([list.start as u64, 0, 0, 0, 0, 0, 0, 0]);
        let theirs = starts[next as usize][0] as usize;
        let map = |start: usize| node.map(next, start..start + 8);
        let known = node.map(next, theirs..theirs + 4096).expect("mapped");
        for round in 0..3 {
            let remade = (0..REGIONS).filter(|i| round == 0 || i % 3 == round);
            for i in remade.clone() {
                let key = Key(1 + i as u64);
                if round > 0 {
                    unregion(&node, key).expect("gone");
                }
                let region = node.alloc(key, 4096, Pages::Normal).expect("allocated");
                write(region.start, (100 * round + i) as u64);
                write(list.start + 8 * i, region.start as u64);
                assert_eq!(node.region_of(region.start + 4095).expect("found"), region);
                assert!(node.region_of(region.start + 4096).is_err());
            }
            process.barrier();
            for i in
                (0..REGIONS).map(|i| 37 * i % REGIONS).filter(|i| remade.clone().any(|r| r == *i))
            {
                let start = read(known.address() + 8 * i) as usize;
                let one = map(start).expect("mapped");
                assert_eq!(read(one.address()), (100 * round + i) as u64);
                assert!(matches!(map(start + 4096), Err(Error::NotMapped { .. })));
                assert_eq!(map(start).expect("again").address(), one.address());
            }
            process.barrier();
        }
    });
}

#[test]
fn many_pieces_come_and_go() {
    run(2, |process| {
        let (node, next) = (process.node(), process.next());
        let region = node.alloc(Key(1), 400 << 20, Pages::Normal).expect("allocated");
        let (view, _table) = view(&node, &[Key(1)], 2);
        let starts = process.exchange([region.start as u64, 0, 0, 0, 0, 0, 0, 0]);
        let theirs = starts[next as usize][0] as usize;
        let offsets = || (0..200).map(|i| (i << 21) + 8 * i);
        let held: Vec<_> = offsets()
            .map(|at| node.map(next, theirs + at..theirs + at + 8).expect("mapped"))
            .collect();
        for (mapping, at) in held.iter().zip(offsets()) {
            write(mapping.address(), at as u64);
            let there = view.resolve(region.start + at, next).expect("resolved");
            assert_eq!(read(there), at as u64, "one memory");
        }
        let text = node.to_string();
        assert!(text.contains("400 MiB mapped by ranges"), "{text}");
        drop(held);
        let text = node.to_string();
        assert!(text.contains("128 MiB mapped by ranges"), "{text}");
        process.barrier();
        detach(&node, next).expect("detached");
        assert!(node.to_string().contains("0 bytes mapped by ranges"));
    });
}
