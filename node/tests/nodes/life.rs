//! Ranks that end, leave, stop or fork; and what is left behind.

use super::memory::{adopt, detach, read, view, write};
use super::ranks::{LONG, Process, die, exit, fork, memfd, run, signal, state_of, statuses, wait};
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use onenode::{Config, Error, Fork, JobFile, Key, Node, Pages, State};
use onenode_core::sys::{fd, process};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// Waits until a rank is what it should be, at most as long as any test takes.
fn await_state(node: &Node, rank: u32, state: State) {
    let until = Instant::now() + LONG;
    while state_of(node, rank) != state {
        assert!(Instant::now() < until, "rank {rank} is {:?}, not {state:?}", state_of(node, rank));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_killed_rank_is_dead_and_its_memory_still_there() {
    let ended = statuses(3, |process| {
        let node = process.node();
        let pids = process.exchange([u64::from(process::pid()), 0, 0, 0, 0, 0, 0, 0]);
        let region = node.alloc(Key(1), 1 << 16, Pages::Normal).expect("allocated");
        write(region.start, 100 + u64::from(process.index));
        let (view, table) = view(&node, &[Key(1)], 3);
        assert_eq!(state_of(&node, process.next()), State::Here);
        if process.index == 0 {
            node.attach(1, LONG).expect("attached");
            assert_eq!(state_of(&node, 1), State::Attached);
        }
        process.barrier();
        if process.index == 1 {
            die();
        }
        if process.index == 0 {
            await_state(&node, 1, State::Dead);
            let there = table.at(region.start, 1).expect("still attached");
            assert_eq!(read(there), 101);
            assert_eq!(view.resolve(region.start, 1).expect("still"), there);
            let (late, _table) = super::memory::view(&node, &[Key(1)], 3);
            let again = late.resolve(region.start, 1).expect("its file is still open");
            assert_eq!(read(again), 101);
            detach(&node, 1).expect("detached");
            assert_eq!((table.at(region.start, 1), state_of(&node, 1)), (None, State::Unknown));
            assert!(matches!(view.resolve(region.start, 1), Err(Error::NoCard { rank: 1 })));
        } else {
            // It had not attached the rank. A process that has ended keeps its memory and files for
            // another moment.
            let files = format!("/proc/{}/fd", pids[1][0]);
            while fs::read_dir(&files).is_ok_and(|entries| entries.count() > 0) {
                std::thread::yield_now();
            }
            let error = node.attach(1, LONG).expect_err("gone");
            assert!(matches!(error, Error::Died { rank: 1 }), "{error}");
        }
        process.barrier();
    });
    assert_eq!(ended, [0, libc::SIGKILL, 0]);
}

#[test]
fn who_waits_for_a_rank_that_dies_is_told() {
    let ended = statuses(2, |process| {
        let node = process.node();
        if process.index == 0 {
            node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
            let (view, _table) = view(&node, &[Key(1)], 2);
            // Reached, but without the region.
            assert!(node.extra(1).is_ok());
            process.barrier();
            let error = view.resolve(view.bounds().origin, 1).expect_err("gone");
            assert!(matches!(error, Error::Died { rank: 1 }), "{error}");
        } else {
            process.barrier();
            std::thread::sleep(Duration::from_millis(50));
            die();
        }
    });
    assert_eq!(ended, [0, libc::SIGKILL]);
}

#[test]
fn a_rank_that_closes_has_left() {
    run(2, |process| {
        let node = process.node();
        node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        if process.index == 0 {
            let (view, _table) = view(&node, &[Key(1)], 2);
            assert!(node.extra(1).is_ok());
            process.barrier();
            process.barrier();
            assert_eq!(state_of(&node, 1), State::Left);
            let error = view.resolve(view.bounds().origin, 1).expect_err("gone");
            assert!(matches!(error, Error::Left { rank: 1 }), "{error}");
            // It comes back with another card.
            let card = onenode::Card(process.exchange([0; 8])[1]);
            let early = node.know(Some(1), &card).expect_err("still attached").to_string();
            assert!(early.contains("detached first"), "{early}");
            detach(&node, 1).expect("detached");
            node.know(Some(1), &card).expect("known");
            node.attach(1, LONG).expect("attached");
        } else {
            process.barrier();
            node.close();
            process.barrier();
            let node = Node::open(Config { rank: Some(1), ..memfd() }).expect("opened again");
            node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
            process.exchange(node.card().expect("a card").0);
            process.barrier();
            return;
        }
        process.barrier();
    });
}

#[test]
fn a_stopped_rank_lives() {
    run(2, |process| {
        let node = process.node();
        let pids = process.exchange([u64::from(process::pid()), 0, 0, 0, 0, 0, 0, 0]);
        if process.index == 0 {
            assert!(node.extra(1).is_ok());
            signal(pids[1][0], Signal::SIGSTOP);
            for _ in 0..20 {
                assert_eq!(state_of(&node, 1), State::Attached);
                std::thread::sleep(Duration::from_millis(1));
            }
            signal(pids[1][0], Signal::SIGCONT);
        }
        process.barrier();
    });
}

#[test]
fn a_rank_that_runs_another_program_is_dead() {
    run_until_killed(|process, pid| {
        let node = process.node();
        let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        write(region.start, 100 + u64::from(process.index));
        let (view, _table) = view(&node, &[Key(1)], 2);
        process.barrier();
        if process.index == 1 {
            panic!("no /bin/sleep: {}", Command::new("/bin/sleep").arg("1000").exec());
        }
        let there = view.resolve(region.start, 1);
        await_end(&node, 1);
        // Attached before it went, or too late.
        match there {
            Ok(there) => assert_eq!((state_of(&node, 1), read(there)), (State::Dead, 101)),
            Err(error) => assert!(matches!(error, Error::Died { .. } | Error::Left { .. })),
        }
        assert!(process::exists(pid as i32), "the process itself still runs");
    });
}

/// Waits until a rank is attached no more.
fn await_end(node: &Node, rank: u32) {
    let until = Instant::now() + LONG;
    while state_of(node, rank) == State::Attached {
        assert!(Instant::now() < until, "rank {rank} lives");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs `body` in two processes, which is told the number of the second; the first one kills the
/// second at its end.
fn run_until_killed(body: impl Fn(&mut Process, u32)) {
    let ended = statuses(2, |process| {
        let pids = process.exchange([u64::from(process::pid()), 0, 0, 0, 0, 0, 0, 0]);
        let pid = pids[1][0] as u32;
        body(process, pid);
        signal(pids[1][0], Signal::SIGKILL);
    });
    assert_eq!(ended, [0, libc::SIGKILL]);
}

/// Does what a program does that closes all it has. Returns how many headers' files that were.
fn close_headers() -> usize {
    let is_home = |path: &std::path::PathBuf| {
        fs::read_link(path).is_ok_and(|to| to.ends_with("memfd:onenode (deleted)"))
    };
    let open = fs::read_dir("/proc/self/fd").expect("/proc").flatten();
    let headers: Vec<_> = open.map(|entry| entry.path()).filter(is_home).collect();
    for path in &headers {
        let number = path.file_name().and_then(|name| name.to_str()?.parse().ok());
        nix::unistd::close::<RawFd>(number.expect("a number")).expect("closed");
    }
    headers.len()
}

#[test]
fn a_program_may_close_descriptors_that_are_not_its_own() {
    run(2, |process| {
        let (node, next) = (process.node(), process.next());
        let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        write(region.start, u64::from(process.index));
        let (one, _table) = view(&node, &[Key(1)], 2);
        assert!(node.extra(next).is_ok());
        process.barrier();
        if process.index == 0 {
            assert_eq!(close_headers(), 2, "its own and the peer's");
            assert_eq!(state_of(&node, next), State::Attached, "its file is found again");
            assert_eq!(read(one.resolve(region.start, next).expect("resolved")), 1);
            let error = node.alloc(Key(2), 4096, Pages::Normal).expect_err("its own is lost");
            assert!(error.to_string().contains("closed descriptor"), "{error}");
        } else {
            assert_eq!(read(one.resolve(region.start, next).expect("resolved")), 0);
        }
        process.barrier();
    });
}

/// Allows this process only twice the descriptors that it has. It gets some more first: where it was
/// forked, other tests may have closed some of the lower ones, which a peer's file would take.
fn limit_descriptors() -> Vec<fs::File> {
    let open = fs::read_dir("/proc/self/fd").expect("/proc").flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let highest: RawFd = open.filter_map(number).max().expect("some are open");
    let null = || fs::File::open("/dev/null").expect("opened");
    let fill: Vec<_> =
        std::iter::repeat_with(null).take_while(|it| it.as_raw_fd() < highest).collect();
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("asked");
    setrlimit(Resource::RLIMIT_NOFILE, 2 * (null().as_raw_fd() as u64), hard).expect("limited");
    fill
}

#[test]
fn half_of_the_descriptors_are_left_to_the_client() {
    let ended = statuses(3, |process| {
        let node = process.node();
        let pids = process.exchange([u64::from(process::pid()), 0, 0, 0, 0, 0, 0, 0]);
        let region = node.alloc(Key(1), 4 << 20, Pages::Normal).expect("allocated");
        write(region.start, 100 + u64::from(process.index));
        let (view, _table) = view(&node, &[Key(1)], 3);
        let starts = process.exchange([region.start as u64, 0, 0, 0, 0, 0, 0, 0]);
        if process.index == 0 {
            let _fill = limit_descriptors();
            let before = held().0;
            for rank in [1, 2] {
                let there = view.resolve(region.start, rank).expect("attached");
                assert_eq!(read(there), 100 + u64::from(rank));
                let theirs = starts[rank as usize][0] as usize;
                assert_eq!(
                    read(node.map(rank, theirs..theirs + 8).expect("mapped").address()),
                    read(there)
                );
                assert_eq!(state_of(&node, rank), State::Attached);
            }
            assert_eq!(held().0, before, "descriptors");
        }
        process.barrier();
        match process.index {
            0 => {}
            1 => assert!(close_headers() > 0),
            _ => panic!("no /bin/sleep: {}", Command::new("/bin/sleep").arg("1000").exec()),
        }
        process.barrier();
        if process.index == 0 {
            await_state(&node, 2, State::Dead);
            assert_eq!(state_of(&node, 1), State::Attached, "only its descriptor is closed");
            for rank in [1, 2] {
                let there = view.resolve(region.start, rank).expect("mapped");
                assert_eq!(read(there), 100 + u64::from(rank));
                let theirs = starts[rank as usize][0] as usize + (2 << 20);
                assert!(node.map(rank, theirs..theirs + 8).is_err(), "nowhere open");
            }
            signal(pids[2][0], Signal::SIGKILL);
        }
        process.barrier();
    });
    assert_eq!(ended, [0, 0, libc::SIGKILL]);
}

/// This process goes on in a PID namespace of its own; false if the system does not allow it.
fn enter_namespace() -> bool {
    // Children of this process come into the new namespace.
    if unshare(CloneFlags::CLONE_NEWPID).is_err() {
        return false;
    }
    match fork() {
        0 => true,
        child => exit(wait(child) == 0),
    }
}

#[test]
fn a_rank_in_another_pid_namespace_is_elsewhere() {
    let file = fd::memfd(c"job").expect("a memory file");
    fd::resize_and_seal(file.as_fd(), 1 << 43).expect("its size");
    run(2, |process| {
        let apart = process.index == 1 && enter_namespace();
        let told = process.exchange([u64::from(apart), 0, 0, 0, 0, 0, 0, 0]);
        if told[1][0] == 0 {
            return;
        }
        let (node, next) = (process.node(), process.next());
        assert_eq!(state_of(&node, next), State::Elsewhere);
        let error = node.attach(next, LONG).expect_err("elsewhere").to_string();
        assert!(error.contains("PID namespace"), "{error}");
        // A file that both have leads there all the same.
        let job =
            || JobFile { file: file.try_clone().expect("a copy"), offset: 0, stride: 1 << 42 };
        let node = process.open(|rank| Config { rank: Some(rank), file: Some(job()), ..memfd() });
        let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
        write(region.start, u64::from(process.index));
        process.barrier();
        let (view, _table) = view(&node, &[Key(1)], 2);
        assert_eq!(state_of(&node, next), State::Here);
        assert_eq!(read(view.resolve(region.start, next).expect("resolved")), u64::from(next));
        assert_eq!(state_of(&node, next), State::Attached);
        process.barrier();
    });
}

/// How many descriptors and mappings this process has.
fn held() -> (usize, usize) {
    let descriptors = fs::read_dir("/proc/self/fd").expect("/proc").count();
    let maps = fs::read_to_string("/proc/self/maps").expect("/proc");
    (descriptors, maps.lines().count())
}

/// Opens a node with everything, uses it with the peer, and closes it.
fn live_once(process: &mut Process, adopted: std::ops::Range<usize>) {
    let node = process.node();
    let next = process.next();
    let region = node.alloc(Key(1), 1 << 16, Pages::Normal).expect("allocated");
    adopt(&node, Key(2), adopted.clone()).expect("adopted");
    let (one, _table) = view(&node, &[Key(1)], 2);
    let (two, _table) = view(&node, &[Key(2)], 2);
    process.barrier();
    write(one.resolve(region.start, next).expect("resolved"), 1);
    write(two.resolve(adopted.start, next).expect("resolved"), 2);
    let starts = process.exchange([region.start as u64, 0, 0, 0, 0, 0, 0, 0]);
    let theirs = starts[next as usize][0] as usize;
    let mapping = node.map(next, theirs..theirs + 8).expect("mapped");
    assert_eq!(read(mapping.address()), 1);
    process.barrier();
}

#[test]
fn nothing_is_left_behind() {
    run(2, |process| {
        let adopted = onenode_core::sys::map::private_anywhere(1 << 14).expect("memory");
        let adopted = adopted..adopted + (1 << 14);
        live_once(process, adopted.clone());
        let before = held();
        for _ in 0..100 {
            live_once(process, adopted.clone());
        }
        // The C library's allocator may have taken a mapping more or less.
        let after = held();
        assert_eq!(before.0, after.0, "descriptors");
        assert!(before.1.abs_diff(after.1) <= 2, "mappings: {before:?}, then {after:?}");
        for _ in 0..2000 {
            Node::open(memfd())
                .expect("opened")
                .alloc(Key(1), 4096, Pages::Normal)
                .expect("memory");
        }
        let last = held();
        assert_eq!(before.0, last.0, "descriptors");
        assert!(before.1.abs_diff(last.1) <= 2, "mappings: {before:?}, then {last:?}");
    });
}

#[test]
fn a_forked_child_is_no_rank() {
    run(2, |process| {
        for how in [Fork::Shares, Fork::Drops] {
            let node = process.open(|rank| Config { rank: Some(rank), fork: how, ..memfd() });
            let region = node.alloc(Key(1), 4096, Pages::Normal).expect("allocated");
            write(region.start, 1);
            let (view, _table) = view(&node, &[Key(1)], 2);
            process.barrier();
            let there = view.resolve(region.start, process.next()).expect("resolved");
            let child = fork();
            if child == 0 {
                let error = node.attach(process.next(), LONG).expect_err("a child").to_string();
                let told = error.contains("forked child");
                let foreign = onenode_core::sys::map::is_mapped(there);
                let own = onenode_core::sys::map::is_mapped(region.start);
                drop((view, node));
                exit(told && !foreign && own == (how == Fork::Shares));
            }
            assert_eq!(wait(child), 0, "{how:?}");
            // It has neither closed this node nor ended its sign of life.
            process.barrier();
            assert_eq!(state_of(&node, process.next()), State::Attached);
            assert_eq!(read(there), 1);
            process.barrier();
        }
    });
}

#[test]
fn ranks_that_have_one_file_need_no_cards() {
    let file = fd::memfd(c"job").expect("a memory file");
    fd::resize_and_seal(file.as_fd(), 1 << 45).expect("its size");
    let job = |rank, offset, stride| Config {
        rank: Some(rank),
        file: Some(JobFile { file: file.try_clone().expect("a copy"), offset, stride }),
        ..memfd()
    };
    let open = |rank| Node::open(job(rank, 1 << 20, 1 << 42));
    run(3, |process| {
        for time in 1..4 {
            // Ranks of the time before may not have gone yet, or not have come.
            let node = open(process.index).expect("opened");
            let region = node.alloc(Key(time), 4096, Pages::Normal).expect("allocated");
            assert_eq!(read(region.start), 0, "nothing is left of the time before");
            write(region.start, u64::from(process.index) + 10 * time);
            let (view, _table) = view(&node, &[Key(time)], 3);
            process.barrier();
            for rank in 0..3 {
                let there = view.resolve(region.start, rank).expect("there");
                assert_eq!(read(there), u64::from(rank) + 10 * time);
            }
            process.barrier();
        }
        let node = open(process.index).expect("opened");
        process.barrier();
        let taken = open(process.next()).expect_err("another process's").to_string();
        assert!(taken.contains("this rank's sign of life"), "{taken}");
        assert!(matches!(node.attach(99, LONG), Err(Error::NoCard { rank: 99 })));
        process.barrier();
        for (rank, offset, stride, why) in [
            (8, 1 << 20, 1 << 42, "room for rank 8"),
            (0, 100, 1 << 42, "file.offset = 100"),
            (0, 0, 1 << 30, "file.stride"),
        ] {
            let error = Node::open(job(rank, offset, stride)).expect_err("refused").to_string();
            assert!(error.contains(why), "{error}");
        }
    });
}
