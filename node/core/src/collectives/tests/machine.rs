//! PEs as threads.
#![allow(unsafe_code)]

use crate::atomics::{AtomicBool, AtomicU64, Ordering};
use crate::collectives::epoch_group::Controlled;
use crate::collectives::group::{Outcome, Reach};
use crate::collectives::memory::{Buffer, Memory};
use crate::collectives::range::{self, Readable, Remote, Writable};
use crate::collectives::words::ControlWords;
use crate::counter::{Counter, WaitStrategy};
use std::cell::UnsafeCell;
use std::convert::Infallible;
use std::time::{Duration, Instant};

pub const MOST_PES: usize = 16;
pub const ARENA: usize = 512 << 10;
/// In what arenas are made: all at once would not fit on a test's stack.
const PAGE: usize = 4096;
/// The start of dest in an arena. Source is at the arena's beginning.
pub const DEST: usize = ARENA / 2;
/// A wait this long is a hang, and fails the test with a message.
const HANG: Duration = Duration::from_secs(120);

pub struct TestPe {
    pub words: ControlWords,
    /// Words for clients of this crate that synchronise in their own way.
    #[allow(dead_code)]
    pub client: [AtomicU64; 32],
    arena: Box<[UnsafeCell<[u8; PAGE]>]>,
    /// Bytes that it has copied.
    pub moved: AtomicU64,
}

/// The PEs of a test: threads that see each other's memory.
pub struct Machine {
    pub pes: Vec<TestPe>,
    failed: AtomicBool,
}

// SAFETY: other threads than an arena's own read and write it only when the algorithms under test
// permit it.
unsafe impl Sync for Machine {}

impl Machine {
    pub fn new(npes: usize) -> Self {
        let pe = || TestPe {
            words: ControlWords::new(),
            client: [const { AtomicU64::new(0) }; 32],
            arena: std::iter::repeat_with(|| [0; PAGE].into()).take(ARENA / PAGE).collect(),
            moved: AtomicU64::new(0),
        };
        Self { pes: std::iter::repeat_with(pe).take(npes).collect(), failed: false.into() }
    }

    fn arena(&self, pe: usize) -> Writable<'_> {
        // SAFETY: the arena is as long and lives as long as the machine. Only this PE and the algorithms
        // under test use it.
        unsafe { Writable::new(self.pes[pe].arena.as_ptr().cast_mut().cast(), ARENA) }
    }

    /// A PE's memory for sources, used only by its calls.
    pub fn source(&self, pe: usize) -> Writable<'_> {
        self.arena(pe).part(0, DEST)
    }

    /// A PE's memory for dests, used only by its calls.
    pub fn dest(&self, pe: usize) -> Writable<'_> {
        self.arena(pe).part(DEST, ARENA - DEST)
    }

    /// Runs `program` on every PE.
    pub fn run(&self, program: impl Fn(Member<'_>) + Sync) {
        std::thread::scope(|scope| {
            for me in 0..self.pes.len() {
                let program = &program;
                scope.spawn(move || {
                    let _alarm = Alarm(&self.failed);
                    program(Member { machine: self, me });
                });
            }
        });
    }
}

/// Makes waiting threads fail when one has failed.
struct Alarm<'m>(&'m AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[derive(Clone, Copy)]
pub struct Member<'m> {
    pub machine: &'m Machine,
    pub me: usize,
}

impl Reach for Member<'_> {
    type Stop = Infallible;
    type Memory = Self;

    fn index(&self) -> usize {
        self.me
    }
    fn size(&self) -> usize {
        self.machine.pes.len()
    }
    fn memory(&self) -> &Self {
        self
    }
}

// SAFETY: all arenas have the same length, and counterparts are at the same offset.
unsafe impl Memory for Member<'_> {
    type Stop = Infallible;

    fn peer(&self, _: Buffer, address: usize, member: usize) -> Result<usize, Infallible> {
        let offset = address - self.machine.arena(self.me).at().addr();
        assert!(offset < ARENA, "not in the arena");
        Ok(self.machine.arena(member).at() as usize + offset)
    }
    fn check(&self, _: Buffer, address: usize, bytes: usize) -> Result<(), Infallible> {
        let offset = address - self.machine.arena(self.me).at().addr();
        assert!(bytes <= ARENA - offset, "not all in the arena");
        Ok(())
    }
    fn read(&self, bytes: usize) {
        self.machine.pes[self.me].moved.fetch_add(bytes as u64, Ordering::Relaxed);
    }
    fn copy(&self, from: Remote<Readable<'_>>, to: Remote<Writable<'_>>, _: usize) {
        // SAFETY: all memory of all members is mapped in this process.
        let (from, to) = unsafe { (from.range(), to.range()) };
        Memory::read(self, from.bytes());
        range::copy(from, to);
    }
}

/// A wait that fails when another PE has failed, or when it takes too long.
pub struct Patience<'m> {
    member: Member<'m>,
    begin: Instant,
}

impl<'m> Patience<'m> {
    pub fn new(member: Member<'m>) -> Self {
        Self { member, begin: Instant::now() }
    }
}

impl WaitStrategy for Patience<'_> {
    type Stop = Infallible;

    fn pause(&mut self) -> Result<bool, Infallible> {
        let Member { machine, me } = self.member;
        assert!(!machine.failed.load(Ordering::Relaxed), "another PE failed");
        assert!(self.begin.elapsed() < HANG, "PE {me} hangs");
        std::thread::yield_now();
        Ok(false)
    }
    fn sleep(&mut self, _: &Counter, _: u64) -> Result<(), Infallible> {
        Ok(())
    }
}

impl Controlled for Member<'_> {
    fn words(&self, member: usize) -> &ControlWords {
        &self.machine.pes[member].words
    }
    fn await_counter(&self, counter: &Counter, value: u64) -> Outcome<Self> {
        counter.wait(value, |_| Patience::new(*self))
    }
    fn wake(&self, _: &Counter) {}
}
