//! Meeting at a name.

use super::memory::{read, view, write};
use super::ranks::{LONG, Process, die, memfd, run, state_of, statuses};
use onenode::{Config, Error, Key, Node, Pages, State};
use onenode_core::sys::fd;
use onenode_core::sys::map::{self, OwnMapping};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

fn open(process: &Process) -> Node {
    Node::open(Config { rank: Some(process.index), ..memfd() }).expect("opened")
}

/// A key that no other test, or run of the tests, has.
fn key(name: &str) -> Vec<u8> {
    format!("{name} {}", std::process::id()).into_bytes()
}

#[test]
fn all_know_all_by_a_name() {
    for count in [1, 2, 9] {
        let key = key(&format!("all {count}"));
        run(count, |process| {
            for time in 0..3 {
                let node = open(process);
                node.meet(&key, count, LONG).expect("met");
                assert!((0..count).all(|rank| state_of(&node, rank) != State::Unknown));
                let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
                write(region.start, u64::from(process.index) + time);
                let (view, _table) = view(&node, &[Key(1)], count);
                process.barrier();
                for rank in 0..count {
                    let there = view.resolve(region.start, rank).expect("resolved");
                    assert_eq!(read(there), u64::from(rank) + time);
                }
                process.barrier();
            }
        });
    }
}

#[test]
fn who_does_not_come_is_not_waited_for_beyond_the_limit() {
    let key = key("limit");
    run(3, |process| {
        let node = open(process);
        if process.index < 2 {
            let error = node.meet(&key, 3, Duration::from_millis(30)).expect_err("alone");
            assert!(matches!(error, Error::Time), "{error}");
        }
        process.barrier();
        // Nothing of that is in the way.
        node.meet(&key, 3, LONG).expect("met");
        process.barrier();
    });
}

/// Nobody looks for the meeting point for so long: who still waits has left his card.
const WAITS: Duration = Duration::from_millis(300);

/// A word that processes forked later share, and that is 0.
fn flag() -> usize {
    let (file, page) = (fd::memfd(c"flag").expect("a memory file"), map::page_size());
    fd::resize_and_seal(file.as_fd(), page as u64).expect("its size");
    OwnMapping::shared(file.as_fd(), 0, page).expect("mapped").keep()
}

/// Raises the flag once it has been called for so long that the process waits at the card table.
fn raise_when_waiting(flag: usize) -> impl Fn() -> bool {
    let began = Instant::now();
    move || {
        let waits = began.elapsed() >= WAITS;
        if waits {
            write(flag, 1);
        }
        waits
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let (key, flag) = (key("fit"), flag());
    run(2, |process| {
        let nobody = Node::open(memfd()).expect("opened");
        let error = nobody.meet(&key, 2, LONG).expect_err("no rank").to_string();
        assert!(error.contains("rank = none"), "{error}");
        let raise = raise_when_waiting(flag);
        let progress = move || {
            raise();
            Ok(())
        };
        let progress: Option<Box<onenode::Progress>> = match process.index {
            0 => None,
            _ => Some(Box::new(progress)),
        };
        let config = Config { rank: Some(process.index), progress, ..memfd() };
        let node = Node::open(config).expect("opened");
        let error = node.meet(&key, process.index, LONG).expect_err("too few").to_string();
        assert!(error.contains(&format!("ranks = {}", process.index)), "{error}");
        if process.index == 0 {
            while read(flag) == 0 {
                std::thread::yield_now();
            }
            let error = node.meet(&key, 3, LONG).expect_err("another number").to_string();
            assert!(error.contains("ranks = 3") && error.contains("2, as the first"), "{error}");
            let same = Node::open(Config { rank: Some(1), ..memfd() }).expect("opened");
            let error = same.meet(&key, 2, LONG).expect_err("its number").to_string();
            assert!(error.contains("rank = 1"), "{error}");
        }
        node.meet(&key, 2, LONG).expect("met");
        process.barrier();
    });
}

#[test]
fn who_dies_before_all_have_come_is_named() {
    let (key, flag) = (key("dies"), flag());
    let ended = statuses(2, |process| {
        let first = process.index == 0;
        let own = if first { flag } else { flag + 8 };
        let raise = raise_when_waiting(own);
        let progress = move || {
            if raise() && !first && read(flag) == 1 {
                die();
            }
            Ok(())
        };
        let config =
            Config { rank: Some(process.index), progress: Some(Box::new(progress)), ..memfd() };
        let node = Node::open(config).expect("opened");
        let error = node.meet(&key, 3, LONG).expect_err("rank 2 does not come");
        assert!(first && matches!(error, Error::Died { rank: 1 }), "{error}");
    });
    assert_eq!(ended, [0, libc::SIGKILL]);
}
