//! Groups: barriers and collectives between processes, members that die, leave or are late.

use super::memory::{BYTES, Memory, call, carry_out};
use super::ranks::{LONG, Process, die, exit, fork, memfd, run, statuses, wait};
use onenode::{Collective, Config, ElementType, Error, Group, Node, Operation, Rank, Reduction};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// A dead member is told of in this time, also on a busy machine.
const SOON: Duration = Duration::from_secs(20);
/// Dest starts here in the region.
const DEST: usize = BYTES / 2;

fn all(process: &Process) -> Vec<Rank> {
    (0..process.count).collect()
}

impl Memory {
    fn fill(&self, n: usize, value: impl Fn(usize) -> u64) {
        (0..n).for_each(|i| self.word(8 * i).store(value(i), SeqCst));
    }

    fn result(&self, n: usize) -> Vec<u64> {
        (0..n).map(|i| self.word(DEST + 8 * i).load(SeqCst)).collect()
    }

    /// A call of `n` words.
    fn call(&self, operation: Operation, n: usize) -> Collective<'_> {
        let (dest, source) = ((self.start + DEST) as *mut u8, self.start as *const u8);
        Collective { operation, dest, source, bytes: 8 * n, view: &self.view }
    }
}

#[test]
fn barriers_of_1_to_16_ranks() {
    for count in [1, 2, 3, 4, 7, 16] {
        run(count, |process| {
            let node = process.node();
            let memory = Memory::new(&node, count);
            let mut group = Group::new(&node, 5, &all(process)).expect("a group");
            for round in 1..=50 {
                memory.word(0).store(round, SeqCst);
                group.barrier(LONG).expect("all come");
                for rank in 0..count {
                    let theirs = memory.word_of(0, rank).load(SeqCst);
                    assert!(theirs == round || theirs == round + 1, "{theirs} in {round}");
                }
                group.barrier(LONG).expect("all come");
            }
        });
    }
}

#[test]
fn barriers_in_two_halves() {
    run(3, |process| {
        let node = process.node();
        let mut group = Group::new(&node, 5, &all(process)).expect("a group");
        let misuse = group.arrived().expect_err("nothing has arrived");
        assert!(matches!(misuse, Error::Argument { .. }), "{misuse}");
        drop(group);
        let mut group = Group::new(&node, 5, &all(process)).expect("again");
        for round in 0..20 {
            // One is late; nobody is through before it.
            let late = round % 3 == process.index;
            if late {
                process.barrier();
            }
            group.arrive().expect("arrives");
            if !late {
                assert!(!group.arrived().expect("asks"), "one has not arrived");
                let twice = group.arrive().expect_err("once only");
                assert!(matches!(twice, Error::Argument { .. }), "{twice}");
                process.barrier();
            }
            while !group.arrived().expect("asks") {
                std::thread::yield_now();
            }
            process.barrier();
        }
    });
}

#[test]
fn collectives_of_all_sizes() {
    // What travels beside control words, in a block, in slices.
    const SIZES: [usize; 6] = [1, 7, 14, 100, 1000, 10_000];
    for count in [1, 2, 3, 4, 8, 16] {
        run(count, |process| {
            let (node, size, me) = (process.node(), count as usize, u64::from(process.index));
            let memory = Memory::new(&node, count);
            let mut group = Group::new(&node, 9, &all(process)).expect("a group");
            let sum = Reduction::Sum.of(ElementType::U64).expect("a sum");
            let value = |rank: u64, i: usize| (rank + 1) * 1_000_000 + i as u64;
            for n in SIZES {
                let root = n % size;
                memory.fill(n, |i| value(me, i));
                carry_out(&mut group, &memory.call(Operation::Broadcast { root }, n));
                assert!((0..n).map(|i| value(root as u64, i)).eq(memory.result(n)), "broadcast");

                carry_out(&mut group, &memory.call(Operation::Allgather, n));
                let every =
                    (0..u64::from(count)).flat_map(|rank| (0..n).map(move |i| value(rank, i)));
                assert!(every.eq(memory.result(n * size)), "allgather of {n}");

                memory.fill(n * size, |i| value(me, i));
                carry_out(&mut group, &memory.call(Operation::Alltoall, n));
                let own = me as usize * n;
                let parts = (0..u64::from(count))
                    .flat_map(|rank| (own..own + n).map(move |i| value(rank, i)));
                assert!(parts.eq(memory.result(n * size)), "alltoall of {n}");

                carry_out(&mut group, &memory.call(Operation::Allreduce(sum), n));
                let total = |i| (0..u64::from(count)).map(|rank| value(rank, i)).sum::<u64>();
                assert!((0..n).map(total).eq(memory.result(n)), "allreduce of {n}");

                for inclusive in [false, true] {
                    let scan = Operation::Scan { kernel: sum, inclusive };
                    carry_out(&mut group, &memory.call(scan, n));
                    let before =
                        |i| (0..me + u64::from(inclusive)).map(|rank| value(rank, i)).sum::<u64>();
                    assert!((0..n).map(before).eq(memory.result(n)), "scan of {n}");
                }
            }
        });
    }
}

#[test]
fn groups_overlap_and_follow_each_other() {
    run(6, |process| {
        let node = process.node();
        let me = process.index;
        // All, in the reverse order, and the even or the odd ones; with the same number.
        let reverse: Vec<Rank> = (0..6).rev().collect();
        let half: Vec<Rank> = (0..6).filter(|rank| rank % 2 == me % 2).collect();
        let mut all = Group::new(&node, 1, &reverse).expect("a group");
        assert_eq!((all.index(), all.ranks()), (5 - me as usize, &reverse[..]));
        for _ in 0..100 {
            let mut part = Group::new(&node, 1, &half).expect("a group");
            part.barrier(LONG).expect("a half");
            // Who is quick leaves and opens the next one while others are still in this one.
            drop(part);
        }
        all.barrier(LONG).expect("all");
        let mut again = Group::new(&node, 1, &reverse).expect("the same again");
        all.barrier(LONG).expect("all");
        again.barrier(LONG).expect("all");
        // Words of groups that all have left are used again: there are 1024.
        drop((all, again));
        for _ in 0..3000 {
            let mut group = Group::new(&node, 2, &reverse[4..]).ok();
            assert_eq!(group.is_some(), me < 2);
            group.iter_mut().for_each(|group| group.barrier(LONG).expect("two"));
        }
    });
}

#[test]
fn a_killed_member_is_told_of() {
    for count in [2, 5] {
        let ended = statuses(count, |process| {
            let node = process.node();
            let memory = Memory::new(&node, count);
            let mut group = Group::new(&node, 5, &all(process)).expect("a group");
            group.barrier(LONG).expect("all live");
            let victim = count - 1;
            if process.index == victim {
                die();
            }
            let begin = Instant::now();
            let outcome = match process.index {
                0 => group.barrier(LONG),
                1 => call(&mut group, &memory.call(Operation::Allgather, 1000), LONG),
                _ => group.arrive().and_then(|()| {
                    while !group.arrived()? {
                        std::thread::yield_now();
                    }
                    Ok(())
                }),
            };
            let error = outcome.expect_err("one has died");
            assert!(matches!(error, Error::Died { rank } if rank == victim), "{error}");
            assert!(begin.elapsed() < SOON, "told after {:?}", begin.elapsed());
            let error = group.barrier(LONG).expect_err("the group is of no use");
            assert!(matches!(error, Error::Died { rank } if rank == victim), "{error}");
            process.barrier();
            // The others go on without it.
            let left: Vec<Rank> = (0..victim).collect();
            let mut group = Group::new(&node, 5, &left).expect("another group");
            group.barrier(LONG).expect("those who live");
        });
        let (last, others) = ended.split_last().expect("some");
        assert_eq!(*last, libc::SIGKILL);
        assert!(others.iter().all(|status| *status == 0), "{ended:x?}");
    }
}

/// Roots wait for nobody, until there is no room for another message.
#[test]
fn a_root_is_told_of_a_killed_reader() {
    for count in [2, 3] {
        let ended = statuses(count, |process| {
            let node = process.node();
            let memory = Memory::new(&node, count);
            let mut group = Group::new(&node, 5, &all(process)).expect("a group");
            carry_out(&mut group, &memory.call(Operation::Allgather, 1));
            let victim = count - 1;
            if process.index == victim {
                die();
            }
            let begin = Instant::now();
            let broadcast = memory.call(Operation::Broadcast { root: 0 }, 1);
            let calls = if process.index == 0 { 100 } else { 1 };
            let outcome = (0..calls).try_for_each(|_| call(&mut group, &broadcast, LONG));
            if process.index == 0 {
                let error = outcome.expect_err("one has died");
                assert!(matches!(error, Error::Died { rank } if rank == victim), "{error}");
                assert!(begin.elapsed() < SOON, "told after {:?}", begin.elapsed());
            } else {
                outcome.expect("the root has written it");
            }
            process.barrier();
        });
        let (last, others) = ended.split_last().expect("some");
        assert_eq!(*last, libc::SIGKILL);
        assert!(others.iter().all(|status| *status == 0), "{ended:x?}");
    }
}

#[test]
fn a_member_that_leaves_is_told_of_but_not_if_it_has_done_its_part() {
    run(3, |process| {
        let node = process.node();
        for early in [false, true] {
            let mut group = Group::new(&node, 5, &all(process)).expect("a group");
            group.barrier(LONG).expect("all come");
            if process.index == 2 {
                if !early {
                    group.arrive().expect("arrives");
                }
                drop(group);
                process.barrier();
                continue;
            }
            process.barrier();
            if !early {
                group.arrive().expect("arrives");
                while !group.arrived().expect("it came before it left") {
                    std::thread::yield_now();
                }
                continue;
            }
            let error = group.barrier(LONG).expect_err("one has left");
            assert!(matches!(error, Error::Left { rank: 2 }), "{error}");
        }
        // And one that closes its node.
        let mut group = Group::new(&node, 6, &all(process)).expect("a group");
        group.barrier(LONG).expect("all come");
        if process.index == 1 {
            drop(group);
            drop(node);
        } else {
            let error = group.barrier(LONG).expect_err("one has closed");
            assert!(matches!(error, Error::Left { rank: 1 }), "{error}");
        }
    });
}

#[test]
fn a_limit_ends_a_wait() {
    run(2, |process| {
        let node = process.node();
        let memory = Memory::new(&node, 2);
        for limit in [Duration::ZERO, Duration::from_millis(300)] {
            let mut group = Group::new(&node, 5, &all(process)).expect("a group");
            group.barrier(LONG).expect("all come");
            if process.index == 0 {
                let begin = Instant::now();
                let allgather = memory.call(Operation::Allgather, 1000);
                let error = call(&mut group, &allgather, limit).expect_err("nobody else calls it");
                assert!(matches!(error, Error::Time), "{error}");
                assert!((limit..SOON).contains(&begin.elapsed()), "{:?}", begin.elapsed());
                let error = group.barrier(LONG).expect_err("the group is of no use");
                assert!(matches!(error, Error::Time), "{error}");
            }
            process.barrier();
        }
        // A member that has not even opened the group.
        if process.index == 0 {
            let mut group = Group::new(&node, 7, &all(process)).expect("a group");
            let error = group.barrier(Duration::from_millis(50)).expect_err("nobody is there");
            assert!(matches!(error, Error::Time), "{error}");
        }
        process.barrier();
    });
}

#[test]
fn a_call_before_all_have_met_can_be_made_again() {
    run(2, |process| {
        let node = Node::open(Config { rank: Some(process.index), ..memfd() }).expect("opened");
        let groups = [1, 2].map(|id| Group::new(&node, id, &all(process)).expect("a group"));
        let [mut whole, mut halves] = groups;
        if process.index == 0 {
            halves.arrive().expect("arrived");
            for _ in 0..2 {
                let error = whole.barrier(LONG).expect_err("its card has not come");
                assert!(matches!(error, Error::NoCard { rank: 1 }), "{error}");
                let error = halves.arrived().expect_err("its card has not come");
                assert!(matches!(error, Error::NoCard { rank: 1 }), "{error}");
            }
        }
        process.meet(&node, |index| index);
        whole.barrier(LONG).expect("all come");
        match process.index {
            0 => while !halves.arrived().expect("both are known") {},
            _ => halves.barrier(LONG).expect("all come"),
        }
        let ranks = all(process);
        let open = || Group::new(&node, 3, &ranks).expect("a group");
        let first = (process.index == 0).then(|| {
            let mut first = open();
            let error = first.barrier(Duration::from_millis(10)).expect_err("alone");
            assert!(matches!(error, Error::Time), "{error}");
            first
        });
        process.barrier();
        first.unwrap_or_else(open).barrier(LONG).expect("all come");
    });
}

#[test]
fn progress_is_called_in_a_wait_and_can_end_it() {
    run(2, |process| {
        let turns = Arc::new(AtomicU64::new(0));
        let mine = turns.clone();
        let node = process.open(|rank| {
            let turns = mine.clone();
            let progress = move || match turns.fetch_add(1, SeqCst) {
                1000.. => Err(Error::Stopped),
                _ => Ok(()),
            };
            Config { rank: Some(rank), progress: Some(Box::new(progress)), ..memfd() }
        });
        if process.index == 0 {
            let mut group = Group::new(&node, 5, &all(process)).expect("a group");
            let error = group.barrier(LONG).expect_err("progress has said so");
            assert!(matches!(error, Error::Stopped), "{error}");
            assert_eq!(turns.load(SeqCst), 1001);
        }
        process.barrier();
    });
}

#[test]
fn wrong_arguments_are_refused() {
    run(2, |process| {
        let node = process.node();
        let me = process.index;
        let refused =
            |ranks: &[Rank]| Group::new(&node, 1, ranks).err().expect("refused").to_string();
        let others = refused(&[1 - me]);
        assert!(others.contains(&format!("expected this process's, {me}, too")), "{others}");
        assert!(refused(&[0, 1, 0]).contains("0 twice"));
        assert!(refused(&[]).contains("ranks = []"));
        let nameless = Node::open(memfd()).expect("opened");
        assert!(Group::new(&nameless, 1, &[0]).is_err());
        let memory = Memory::new(&node, 2);
        let mut group = Group::new(&node, 1, &[0, 1]).expect("a group");
        let mut refused = |wrong: &Collective<'_>| {
            call(&mut group, wrong, LONG).expect_err("refused").to_string()
        };
        let broadcast = |root| memory.call(Operation::Broadcast { root }, 1);
        assert!(refused(&broadcast(2)).contains("root = 2: expected a place among 2 members"));
        let sum = Reduction::Sum.of(ElementType::F64).expect("a sum");
        let odd = Collective { bytes: 12, ..memory.call(Operation::Allreduce(sum), 1) };
        assert!(refused(&odd).contains("bytes = 12: expected whole elements of 8 bytes"));
        let outside = Collective { source: std::ptr::null(), ..broadcast(0) };
        assert!(refused(&outside).contains("no region of the view has all of 0x0"));
        let long = memory.call(Operation::Allgather, DEST / 16 + 1);
        assert!(refused(&long).contains("no region of the view"));
        let endless = Collective { bytes: usize::MAX, ..memory.call(Operation::Alltoall, 1) };
        assert!(refused(&endless).contains(" for 2 members"));
        assert!(Reduction::Xor.of(ElementType::F32).is_none());
        group.barrier(LONG).expect("nothing has happened to the group");
        process.barrier();
    });
}

#[test]
fn a_forked_child_cannot_use_the_groups_of_its_parent() {
    run(1, |process| {
        let node = process.node();
        let mut group = Group::new(&node, 5, &all(process)).expect("a group");
        let child = fork();
        if child == 0 {
            let refused = group.barrier(LONG).is_err() && group.arrive().is_err();
            drop(group);
            exit(refused);
        }
        assert_eq!(wait(child), 0);
        group.barrier(LONG).expect("the parent's is as it was");
    });
}
