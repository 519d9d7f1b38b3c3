//! Locks of a group, and waits for a word.

use super::memory::Memory;
use super::ranks::{LONG, Process, die, run, statuses};
use onenode::{Error, Group, Node};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

const LOCK: usize = 0;
const COUNT: usize = 64;
const FLAG: usize = 128;

fn group(process: &Process, node: &Node) -> Group {
    Group::new(node, 1, &(0..process.count).collect::<Vec<_>>()).expect("a group")
}

#[test]
fn nobody_loses_an_update_under_a_lock() {
    for (count, limit) in [(1, Duration::MAX), (2, Duration::MAX), (4, Duration::MAX), (3, LONG)] {
        run(count, |process| {
            let node = process.node();
            let memory = Memory::new(&node, count);
            let group = group(process, &node);
            for _ in 0..200 {
                group.lock(memory.start + LOCK, &memory.view, limit).expect("locked");
                // Not one atomic operation: only the lock keeps it whole.
                let counted = memory.word_of(COUNT, 0).load(SeqCst);
                memory.word_of(COUNT, 0).store(counted + 1, SeqCst);
                group.unlock(memory.start + LOCK, &memory.view).expect("unlocked");
            }
            process.barrier();
            assert_eq!(memory.word_of(COUNT, 0).load(SeqCst), 200 * u64::from(count));
            process.barrier();
        });
    }
}

#[test]
fn a_limit_ends_the_attempt_and_harms_nobody() {
    run(2, |process| {
        let node = process.node();
        let memory = Memory::new(&node, 2);
        let group = group(process, &node);
        let lock = memory.start + LOCK;
        if process.index == 0 {
            group.lock(lock, &memory.view, Duration::MAX).expect("locked");
        }
        process.barrier();
        if process.index == 1 {
            let error = group.lock(lock, &memory.view, Duration::from_millis(20));
            assert!(matches!(error, Err(Error::Time)), "{error:?}");
            let error = group.unlock(lock, &memory.view).expect_err("the other one's");
            assert!(error.to_string().contains("a lock that this process holds"), "{error}");
            let error = group.lock(lock + 4, &memory.view, LONG).expect_err("not aligned");
            assert!(error.to_string().contains("a multiple of 8"), "{error}");
        }
        process.barrier();
        if process.index == 0 {
            group.unlock(lock, &memory.view).expect("unlocked");
        } else {
            group.lock(lock, &memory.view, LONG).expect("locked");
            group.unlock(lock, &memory.view).expect("unlocked");
        }
        process.barrier();
    });
}

#[test]
fn a_dead_owner_is_told() {
    let ends = statuses(3, |process| {
        let node = process.node();
        let memory = Memory::new(&node, 3);
        let group = group(process, &node);
        let lock = memory.start + LOCK;
        (0..3).for_each(|rank| assert_eq!(memory.word_of(LOCK, rank).load(SeqCst), 0));
        process.barrier();
        if process.index == 1 {
            group.lock(lock, &memory.view, Duration::MAX).expect("locked");
        }
        process.barrier();
        if process.index == 1 {
            die();
        }
        let error = group.lock(lock, &memory.view, Duration::MAX).expect_err("its owner is dead");
        assert!(matches!(error, Error::Died { rank: 1 }), "{error}");
        // The lock's word is in the first rank's memory, which is given back when it leaves.
        process.barrier();
    });
    assert_eq!(ends, [0, libc::SIGKILL, 0]);
}

#[test]
fn a_wait_ends_with_the_word_the_time_or_the_writer() {
    let ends = statuses(2, |process| {
        let node = process.node();
        let memory = Memory::new(&node, 2);
        let own = std::ptr::from_ref(memory.word_of(FLAG, process.index)).cast::<u64>();
        let other = 1 - process.index;
        let wait_at = |own, value, from, limit| {
            // SAFETY: `own` or four bytes further on: eight bytes of this process's region, which are
            // readable and written as atomics only.
            unsafe { node.wait(own, |word| word >= value, from, limit) }
        };
        let wait = |value, from, limit| wait_at(own, value, from, limit);
        for turn in 1..=100 {
            if turn % 2 == u64::from(process.index) {
                wait(turn, Some(other), LONG).expect("written");
            } else {
                memory.word_of(FLAG, other).store(turn, SeqCst);
            }
        }
        process.barrier();
        let began = Instant::now();
        assert!(matches!(wait(1000, None, Duration::from_millis(20)), Err(Error::Time)));
        assert!(began.elapsed() >= Duration::from_millis(20));
        let misaligned = wait_at(own.wrapping_byte_add(4), 0, None, LONG);
        assert!(matches!(misaligned, Err(Error::Argument { .. })), "{misaligned:?}");
        process.barrier();
        if process.index == 1 {
            die();
        }
        let died = wait(1000, Some(other), Duration::MAX);
        assert!(matches!(died, Err(Error::Died { rank: 1 })), "{died:?}");
    });
    assert_eq!(ends, [0, libc::SIGKILL]);
}
