//! Jobs of processes that use [`Shared`] as a lamellae does: this program starts itself once for
//! each PE.

#![allow(unsafe_code)]

use onenode_lamellar::Shared;
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

const JOB: &str = "ONENODE_LAMELLAR_TEST_JOB";
const PE: &str = "ONENODE_LAMELLAR_TEST_PE";
const PES: usize = 4;
/// PEs that allocate without the others.
const EVEN: [usize; 2] = [0, 2];
const ROUNDS: usize = 200;
/// A job that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let (Some(job), Some(pe)) = (number(JOB), number(PE)) {
        run(&Shared::join(job, pe as usize, PES).expect("the others come"));
        return ExitCode::SUCCESS;
    }
    println!("running 1 test");
    let job = u64::from(std::process::id());
    let mut children: Vec<Child> = (0..PES).map(|pe| start(job, pe)).collect();
    let end = Instant::now() + LIMIT;
    let bad = children.iter_mut().filter_map(|child| fault(child, end)).count();
    println!("test processes ... {}", if bad == 0 { "ok" } else { "FAILED" });
    println!("test result: {} passed; {} failed", usize::from(bad == 0), usize::from(bad != 0));
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn start(job: u64, pe: usize) -> Child {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.env(JOB, job.to_string()).env(PE, pe.to_string());
    command.spawn().expect("a child starts")
}

/// The fault in a PE's end, by then at the latest.
fn fault(child: &mut Child, end: Instant) -> Option<String> {
    loop {
        match child.try_wait().expect("a child") {
            Some(status) if status.success() => return None,
            Some(status) => return Some(status.to_string()),
            None if Instant::now() > end => {
                child.kill().expect("killed");
                child.wait().expect("a child");
                return Some("it hung".into());
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn run(shared: &Shared) {
    let me = shared.pe();
    assert_eq!(shared.pes(), PES);
    let world = shared.alloc(3 << 20, 0..PES).expect("memory of all");
    addresses(shared, world);
    rounds(shared, world);

    // Some allocate alone, and more often than the others; what all allocate then still matches.
    if EVEN.contains(&me) {
        for _ in 0..3 {
            let part = shared.alloc(100, EVEN).expect("memory of two");
            assert!(shared.at(1, part).is_err(), "PE 1 has no part");
            assert!(shared.theirs(1, part).is_err(), "PE 1 has no part");
            exchange(shared, part, EVEN[1 - me / 2]);
            // The other has read what is here.
            exchange(shared, part + 64, EVEN[1 - me / 2]);
            shared.free(part).expect("freed");
            assert!(shared.at(me, part).is_err(), "freed");
            assert!(shared.free(part).is_err(), "freed");
        }
    }
    if EVEN.contains(&me) {
        one_frees_earlier(shared);
    }
    let again = shared.alloc(1, 0..PES).expect("memory of all");
    exchange(shared, again, me ^ 1);
    shared.barrier().expect("all come");
    shared.free(again).expect("freed");
    shared.free(world).expect("freed");
    shared.barrier().expect("all come");
}

/// Of two PEs one frees its part early, so that its part of the next allocation probably has the
/// same address. The other's late free leaves the next allocation as it is.
fn one_frees_earlier(shared: &Shared) {
    let early = shared.pe() == EVEN[1];
    let other = EVEN[1 - shared.pe() / 2];
    let old = shared.alloc(100, EVEN).expect("memory of two");
    // The other has attached it.
    exchange(shared, old, other);
    if early {
        shared.free(old).expect("freed");
    }
    let new = shared.alloc(100, EVEN).expect("memory of two");
    if !early {
        shared.free(old).expect("freed");
    }
    for pe in EVEN {
        let theirs = shared.theirs(pe, new).expect("PE has it");
        assert_eq!(shared.own(pe, theirs).expect("it is ours, too"), new);
    }
    exchange(shared, new, other);
    // The other has read its part.
    exchange(shared, new + 64, other);
    shared.free(new).expect("freed");
}

/// Own addresses and those of all PEs lead to each other.
fn addresses(shared: &Shared, world: usize) {
    for pe in 0..PES {
        for offset in [0, 1, 4095, (3 << 20) - 1] {
            let theirs = shared.theirs(pe, world + offset).expect("PE has it");
            assert_eq!(shared.own(pe, theirs).expect("it is ours, too"), world + offset);
        }
        assert!(shared.at(pe, world - 1).is_err());
        assert!(shared.at(pe, world + (3 << 20)).is_err());
        assert!(shared.own(pe, 8).is_err());
    }
    assert!(shared.at(PES, world).is_err());
    assert_eq!(shared.at(shared.pe(), world).expect("own") as usize, world);
}

/// Each PE writes to the next; a barrier separates that from its being read.
fn rounds(shared: &Shared, world: usize) {
    let copy = |to: *mut u8, from: *const u8, bytes| {
        // SAFETY: the first bytes of `world`, here or at another PE, which are mapped as long as it
        // lives, or a buffer of this function's.
        unsafe { Shared::copy(to, from, bytes) };
    };
    let (me, next) = (shared.pe(), (shared.pe() + 1) % PES);
    let mut text = vec![0u8; 100_000];
    for round in 0..ROUNDS {
        let start = world + round % 64;
        text.fill(round as u8 ^ me as u8);
        let there = shared.at(next, start).expect("the next PE has it");
        copy(there, text.as_ptr(), text.len());
        shared.barrier().expect("all come");
        let before = (me + PES - 1) % PES;
        copy(text.as_mut_ptr(), start as *const u8, text.len());
        assert!(text.iter().all(|byte| *byte == round as u8 ^ before as u8), "round {round}");
        shared.barrier().expect("all come");
    }
    // Onto itself, one byte further on.
    let first = shared.at(me, world).expect("own");
    copy(first, b"overlap".as_ptr(), 7);
    copy(first.wrapping_add(1), first, 7);
    copy(text.as_mut_ptr(), first, 8);
    assert_eq!(text[..8], *b"ooverlap");
    shared.barrier().expect("all come");
}

/// Both PEs store a word at the other and wait for their own.
fn exchange(shared: &Shared, own: usize, other: usize) {
    use std::sync::atomic::{AtomicU64, Ordering};
    let there = shared.at(other, own).expect("the other has it").cast::<AtomicU64>();
    // SAFETY: eight aligned bytes of shared memory, which all use as an atomic.
    let (there, here) = unsafe { (&*there, &*(own as *const AtomicU64)) };
    assert_eq!(here.load(Ordering::Acquire) & !7, 0, "zeroed, but for what the other has stored");
    there.store(shared.pe() as u64 + 1, Ordering::Release);
    while here.load(Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
    assert_eq!(here.load(Ordering::Acquire), other as u64 + 1);
}
