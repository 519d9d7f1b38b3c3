//! Cards and headers that are garbage, regions that do not fit, and what errors say.

use super::memory::{detach, read, unregion, view, write};
use super::ranks::{LONG, memfd, run, state_of};
use onenode::{BackendChoice, Card, Config, Error, HeapTable, Key, Node, Pages, State};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn any_bit_of_a_card_may_be_wrong() {
    run(2, |process| {
        let node = process.node();
        let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        write(region.start, 1);
        let cards = process.exchange(node.card().expect("a card").0);
        let theirs = cards[process.next() as usize];
        for bit in 0..512 {
            let mut card = Card(theirs);
            card.0[bit / 64] ^= 1 << (bit % 64);
            let rank = 100 + bit as u32;
            if node.know(Some(rank), &card).is_err() {
                continue;
            }
            let (view, _table) = view(&node, &[Key(1)], 2);
            // Whatever it is taken for, it is told, and nothing is mapped.
            let error = match node.attach(rank, Duration::from_secs(1)) {
                Err(error) => error,
                Ok(()) => panic!("bit {bit} of a card does not matter: {:?}", view.bounds()),
            };
            assert!(error.code() < 0 && !error.to_string().is_empty());
        }
        process.barrier();
    });
}

#[test]
fn who_is_elsewhere_is_told_why() {
    run(2, |process| {
        let node = process.node();
        let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        let (view, table) = view(&node, &[Key(1)], 100);
        let card = process.exchange(node.card().expect("a card").0)[process.next() as usize];
        let whys = [(1, u64::MAX, "machine"), (4, 1, "namespace"), (4, 1 << 32, "user")];
        for (rank, (word, bits, why)) in (10..).zip(whys) {
            let mut card = card;
            card[word] ^= bits;
            node.know(Some(rank), &Card(card)).expect("known");
            assert_eq!(state_of(&node, rank), State::Elsewhere);
            let error = view.resolve(region.start, rank).expect_err("elsewhere");
            assert!(matches!(error, Error::Elsewhere { .. }) && error.to_string().contains(why));
            assert_eq!(table.at(region.start, rank as usize), None);
            assert!(node.extra(rank).is_err());
        }
        process.barrier();
    });
}

#[test]
fn regions_that_do_not_fit_are_told() {
    run(2, |process| {
        let (node, next) = (process.node(), process.next());
        let bytes = 4096 * (1 + process.index as usize);
        node.alloc(Key(1), bytes, Pages::Normal).expect("allocated");
        let (view, _table) = view(&node, &[Key(1)], 2);
        let error = view.resolve(view.bounds().origin, next).expect_err("unlike");
        let text = error.to_string();
        assert!(matches!(error, Error::Unlike { .. }), "{text}");
        assert!(text.contains("8192") && text.contains("4096"), "{text}");
        process.barrier();
        // A card that is another rank's.
        let card = Card(process.exchange(node.card().expect("a card").0)[next as usize]);
        node.know(Some(17), &card).expect("known");
        let error = node.attach(17, LONG).expect_err("unlike").to_string();
        assert!(error.contains(&format!("is that of rank {next}")), "{error}");
        process.barrier();
    });
}

#[test]
fn settings_and_arguments_are_checked() {
    run(1, |_| {
        let refused = |config: Config, why: &str| {
            let error = Node::open(config).expect_err("refused");
            assert!(matches!(error, Error::Argument { .. }) && error.to_string().contains(why));
        };
        refused(Config { regions: 1 << 20, ..memfd() }, "regions = 1048576");
        refused(Config { extra: 1 << 50, ..memfd() }, "extra");
        let node = Node::open(Config { rank: Some(0), regions: 2, extra: 100, ..memfd() });
        let node = node.expect("opened");
        assert_eq!((state_of(&node, 0), state_of(&node, 1)), (State::Attached, State::Unknown));
        let extra = node.extra(0).expect("one's own").as_ptr() as usize;
        write(extra, 5);
        assert!(detach(&node, 0).expect_err("own").to_string().contains("rank = 0"));
        let own = node.card().expect("a card");
        assert_eq!(node.know(Some(0), &own).expect("its own"), 0);
        let other = Node::open(Config { rank: Some(0), ..memfd() }).expect("opened");
        assert!(node.know(Some(0), &other.card().expect("a card")).is_err(), "another node's");

        let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        let table = Arc::new(HeapTable::new(1));
        let refused = |keys: &[Key], table: &Arc<HeapTable>, why: &str| {
            let error = node.view(keys, table.clone()).expect_err("refused").to_string();
            assert!(error.contains(why), "{error}");
        };
        refused(&[], &table, "keys = none");
        refused(&[Key(3)], &table, "key = 0x3");
        refused(&[Key(1), Key(1)], &table, "overlap");
        let view = node.view(&[Key(1)], table.clone()).expect("a view");
        assert_eq!(table.at(region.start, 0), Some(region.start));
        refused(&[Key(1)], &table, "table");
        let error = unregion(&node, Key(1)).expect_err("in a view").to_string();
        assert!(error.contains("close the view"), "{error}");
        drop(view);
        node.alloc(Key(2), 4096, Pages::Normal).expect("allocated");
        let error = node.alloc(Key(3), 4096, Pages::Normal).expect_err("too many").to_string();
        assert!(error.contains("2 regions"), "{error}");

        let far = Node::open(memfd()).expect("opened");
        for (key, hint) in [(1, 0x1000_0000_0000), (2, 0x3000_0000_0000)] {
            let wanted = onenode::Alloc { bytes: 4096, pages: Pages::Normal, align: 0, hint };
            assert_eq!(far.alloc_as(Key(key), &wanted).expect("there").start, hint);
        }
        let error = far.view(&[Key(1), Key(2)], HeapTable::new(1)).expect_err("far apart");
        assert!(matches!(error, Error::NoWay(_)) && error.to_string().contains("two views"));
        if !std::path::Path::new("/dev/xpmem").exists() {
            let error = Node::open(Config { backend: BackendChoice::Xpmem, ..Config::default() });
            assert!(matches!(error, Err(Error::NoWay(why)) if why.contains("/dev/xpmem")));
        }
    });
}

/// Where this process's header is mapped: the node has just been opened.
fn header() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("/proc");
    let is_home = |line: &&str| line.contains("rw-s 00000000") && line.contains("/memfd:onenode ");
    let lines: Vec<&str> = maps.lines().filter(is_home).collect();
    // The sign of life is a page of the same file.
    let range = |line: &str| {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        let hex = |text| usize::from_str_radix(text, 16).ok();
        Some(hex(start)?..hex(end)?)
    };
    let ranges = lines.into_iter().filter_map(range);
    ranges.max_by_key(ExactSizeIterator::len).expect("a header").start
}

#[test]
fn any_bit_of_a_home_may_be_wrong() {
    /// The header's words, and those of the first record.
    const WORDS: [usize; 2] = [0, 4096 / 8];
    run(2, |process| {
        let open = || Node::open(Config { rank: Some(0), regions: 4, ..memfd() }).expect("opened");
        let owner = process.index == 1;
        let peer = Config { rank: Some(1), regions: 4, ..memfd() };
        let node = if owner { Node::open(peer).expect("opened") } else { open() };
        let region = node.alloc(Key(1), 3 << 12, Pages::Normal).expect("allocated");
        write(region.start, 77);
        let card = Card(process.exchange(node.card().expect("a card").0)[1]);
        let header = if owner { header() } else { 0 };
        let (mut attached, mut refused) = (0, 0);
        for bit in (0..2 * 12 * 64).map(|i| WORDS[i / (12 * 64)] * 64 + i % (12 * 64)) {
            let word = header + bit / 64 * 8;
            if owner {
                write(word, read(word) ^ 1 << (bit % 64));
                process.barrier();
                process.barrier();
                write(word, read(word) ^ 1 << (bit % 64));
                continue;
            }
            process.barrier();
            let node = open();
            let own = node.alloc(Key(1), 3 << 12, Pages::Normal).expect("allocated");
            let (view, table) = view(&node, &[Key(1)], 2);
            node.know(Some(1), &card).expect("known");
            match node.attach(1, Duration::from_millis(3)) {
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
                Ok(()) => {
                    // Whatever it is, it is there.
                    for at in [own.start, own.start + own.bytes - 1] {
                        let there = table.at(at, 1).expect("attached");
                        // SAFETY: what the test is about.
                        unsafe { (there as *const u8).read_volatile() };
                    }
                    attached += 1;
                }
            }
            drop(view);
            let _ = node.extra(1).map(|extra| extra.as_ptr());
            process.barrier();
        }
        if !owner {
            assert!(attached > 100 && refused > 500, "{attached} attached, {refused} refused");
            node.know(Some(1), &card).expect("known");
            node.attach(1, LONG).expect("all is as it was");
        }
        process.barrier();
    });
}
