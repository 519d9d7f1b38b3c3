//! A self-checking program that covers every way this library can reach a peer: symmetric memory in
//! `.data`, `.bss` and heap, all atomics, waiting, locks and collectives. It is made for the Kitten
//! kernel, where little else is available. `smoke.c` does the same through the C interface.
//!
//! Each PE prints `smoke: N passed, 0 failed` and exits with 0 if all checks pass.

#![allow(unsafe_code)]

use oneshmem::argument::memory::{Block, Object, Source, Unused};
use oneshmem::collectives;
use oneshmem::collectives::arrays::Arrays;
use oneshmem::collectives::reduce::{Max, Sum};
use oneshmem::context::Default as World;
use oneshmem::error::Routine;
use oneshmem::job::{query, setup};
use oneshmem::memory::symmetric;
use oneshmem::signal::{self, SIGNAL_ADD, SIGNAL_SET};
use oneshmem::span::Span;
use oneshmem::team::TEAM_WORLD;
use oneshmem::wait::{CMP_EQ, CMP_GE};
use oneshmem::{amo, lock, order, rma, wait};
use std::cell::UnsafeCell;
use std::ffi::c_long;
use std::process::ExitCode;

const ROUTINE: Routine = &"smoke";
const WORDS: usize = 3000;
/// Lock rounds per PE.
const ROUNDS: i64 = 50;
/// At most the number of SMARTMAP's slots.
const MOST_PES: usize = 254;

/// An object that peers write.
#[repr(transparent)]
struct Symmetric<T>(UnsafeCell<T>);
// SAFETY: accessed only through raw pointers, in an order that the library's calls establish.
unsafe impl<T> Sync for Symmetric<T> {}
impl<T> Symmetric<T> {
    const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }
    fn at<E>(&self) -> *mut E {
        self.0.get().cast()
    }
    /// The object as an operand of `len` elements, which exist.
    fn object<E>(&'static self, len: usize) -> Object<'static, E> {
        assert!(len * size_of::<E>() <= size_of::<T>());
        // SAFETY: all elements are numbers. Between two barriers of this program, or the calls that
        // replace them, each is written by one PE or by atomic operations.
        unsafe { Object::new(self.at(), len) }
    }
}

static DATA: Symmetric<[i64; WORDS]> = Symmetric::new([7; WORDS]);
static BSS: Symmetric<[i64; WORDS]> = Symmetric::new([0; WORDS]);
static FLAG: Symmetric<i64> = Symmetric::new(0);
static SIGNAL: Symmetric<u64> = Symmetric::new(0);
static WORD: Symmetric<u64> = Symmetric::new(0);
static LOCK: Symmetric<c_long> = Symmetric::new(0);
static GUARDED: Symmetric<i64> = Symmetric::new(0);
static SOURCE: Symmetric<[i64; MOST_PES]> = Symmetric::new([0; MOST_PES]);
static DEST: Symmetric<[i64; MOST_PES]> = Symmetric::new([0; MOST_PES]);

/// The results so far, and the number of this PE.
struct Smoke {
    me: usize,
    npes: usize,
    passed: usize,
    failed: usize,
}

impl Smoke {
    fn check(&mut self, what: &str, right: bool) {
        if right {
            self.passed += 1;
        } else {
            self.failed += 1;
            println!("smoke: PE {}: {what}: wrong", self.me);
        }
    }
    fn next(&self) -> usize {
        (self.me + 1) % self.npes
    }
    fn previous(&self) -> usize {
        (self.me + self.npes - 1) % self.npes
    }
    fn barrier(&self) {
        collectives::barrier_all(ROUTINE);
    }
    /// Element `i` of the data that PE `pe` sends in round `round`.
    fn value(pe: usize, round: usize, i: usize) -> i64 {
        (pe * 1_000_000 + round * 100_000 + i) as i64
    }

    /// Puts to the next PE and gets from it; the previous PE puts to this one.
    ///
    /// # Safety
    /// `object` is symmetric and has [`WORDS`] elements.
    unsafe fn put_and_get(&mut self, what: &str, round: usize, object: *mut i64) {
        let (me, next, previous) = (self.me, self.next(), self.previous());
        let mine: Vec<i64> = (0..WORDS).map(|i| Self::value(me, round, i)).collect();
        let mut back = vec![0; WORDS];
        self.barrier();
        // SAFETY: `object` has that many elements on all PEs. Each is written by one PE between two
        // barriers and read afterwards.
        unsafe {
            let array = Object::new(object, WORDS);
            rma::put(ROUTINE, World, array, mine[..].into(), next);
            self.barrier();
            let seen = |i| object.add(i).read_volatile();
            self.check(what, (0..WORDS).all(|i| seen(i) == Self::value(previous, round, i)));
            rma::get(ROUTINE, World, back.as_mut_slice().into(), array, next);
            self.check(what, back == mine);
            self.barrier();
            rma::p(ROUTINE, World, array.element(5), -1 - me as i64, next);
            order::quiet(ROUTINE);
            self.check(what, rma::g(ROUTINE, World, array.element(5), next) == -1 - me as i64);
            self.barrier();
            self.check(what, seen(5) == -1 - previous as i64);
        }
    }

    /// Tests every atomic operation on the next PE's word, which only this PE uses.
    fn atomics(&mut self) {
        let (word, pe) = (WORD.object::<u64>(1), self.next());
        self.barrier();
        amo::set(ROUTINE, World, word, 10, pe);
        self.check("set, fetch", amo::fetch(ROUTINE, World, word, pe) == 10);
        self.check("swap", amo::swap(ROUTINE, World, word, 11, pe) == 10);
        self.check("no swap", amo::compare_swap(ROUTINE, World, word, 10, 12, pe) == 11);
        self.check("compare_swap", amo::compare_swap(ROUTINE, World, word, 11, 12, pe) == 11);
        self.check("fetch_inc", amo::fetch_inc(ROUTINE, World, word, pe) == 12);
        amo::inc(ROUTINE, World, word, pe);
        self.check("fetch_add", amo::fetch_add(ROUTINE, World, word, 6, pe) == 14);
        amo::add(ROUTINE, World, word, 11, pe);
        self.check("fetch_and", amo::fetch_and(ROUTINE, World, word, 0b10111, pe) == 31);
        amo::and(ROUTINE, World, word, 0b00111, pe);
        self.check("fetch_or", amo::fetch_or(ROUTINE, World, word, 0b01000, pe) == 0b00111);
        amo::or(ROUTINE, World, word, 0b10000, pe);
        self.check("fetch_xor", amo::fetch_xor(ROUTINE, World, word, 0b11, pe) == 0b11111);
        amo::xor(ROUTINE, World, word, 0b100, pe);
        self.check("all of them", amo::fetch(ROUTINE, World, word, pe) == 0b11000);
        // All PEs update one word.
        self.barrier();
        amo::set(ROUTINE, World, word, 0, pe);
        self.barrier();
        for _ in 0..1000 {
            amo::inc(ROUTINE, World, word, 0);
        }
        self.barrier();
        let sum = amo::fetch(ROUTINE, World, word, 0);
        self.check("inc by all", sum == 1000 * self.npes as u64);
    }

    fn waiting_and_signals(&mut self) {
        let (me, next, previous) = (self.me, self.next(), self.previous());
        let (flag, signal) = (FLAG.object::<i64>(1), SIGNAL.object::<u64>(1));
        let (source, dest) = (SOURCE.at::<i64>(), DEST.at::<i64>());
        self.barrier();
        // SAFETY: symmetric objects. Each is written by one peer and read after that peer's
        // notification.
        unsafe {
            rma::p(ROUTINE, World, flag, 1 + me as i64, next);
            wait::wait_until(ROUTINE, flag, CMP_EQ, 1 + previous as i64);
            self.check("test", wait::test(ROUTINE, flag, CMP_GE, 1) != 0);
            source.write_volatile(100 + me as i64);
            let value = Source::new(source, 1);
            signal::put_signal(
                ROUTINE,
                World,
                DEST.object::<i64>(1),
                value,
                signal,
                5,
                SIGNAL_SET,
                next,
            );
            let came = signal::wait_until(ROUTINE, signal, CMP_EQ, 5);
            self.check("signal set", came == 5 && dest.read_volatile() == 100 + previous as i64);
            self.barrier();
            signal::put_signal(
                ROUTINE,
                World,
                DEST.object::<i64>(1),
                value,
                signal,
                3,
                SIGNAL_ADD,
                previous,
            );
            let came = signal::wait_until(ROUTINE, signal, CMP_EQ, 8);
            self.check("signal add", came == 8 && dest.read_volatile() == 100 + next as i64);
        }
    }

    fn locks(&mut self) {
        let (lock, guarded) = (LOCK.object::<c_long>(1), GUARDED.object::<i64>(1));
        self.barrier();
        for _ in 0..ROUNDS {
            lock::set(ROUTINE, lock);
            let seen = rma::g(ROUTINE, World, guarded, 0);
            rma::p(ROUTINE, World, guarded, seen + 1, 0);
            lock::clear(ROUTINE, lock);
        }
        self.barrier();
        let count = rma::g(ROUTINE, World, guarded, 0);
        self.check("lock", count == ROUNDS * self.npes as i64);
    }

    fn collectives(&mut self) {
        let (me, npes) = (self.me, self.npes);
        let (source, dest) = (SOURCE.at::<i64>(), DEST.at::<i64>());
        let fill = |of: &dyn Fn(usize) -> i64| {
            collectives::barrier_all(ROUTINE);
            for i in 0..npes {
                // SAFETY: this PE's own objects, which no PE uses any more.
                unsafe {
                    source.add(i).write_volatile(of(i));
                    dest.add(i).write_volatile(-1);
                }
            }
            collectives::barrier_all(ROUTINE);
        };
        // SAFETY: it is called only after the collectives have ended.
        let dest_at = |i| unsafe { dest.add(i).read_volatile() };
        let all = |of: &dyn Fn(usize) -> i64| (0..npes).all(|i| dest_at(i) == of(i));
        // SAFETY: two objects of `MOST_PES` elements, at least `npes`, which nobody else uses.
        let arrays = unsafe { Arrays::new(dest, source) };

        fill(&|i| Self::value(me, 0, i));
        collectives::broadcast(ROUTINE, TEAM_WORLD, arrays, Span::object(npes * 8), 0);
        self.check("broadcast", all(&|i| Self::value(0, 0, i)));

        fill(&|i| Self::value(me, 0, i));
        collectives::reduce::<i64, Sum>(ROUTINE, TEAM_WORLD, arrays, npes);
        self.check("sum", all(&|i| (0..npes).map(|pe| Self::value(pe, 0, i)).sum()));

        fill(&|i| Self::value(me, 0, i));
        collectives::reduce::<i64, Max>(ROUTINE, TEAM_WORLD, arrays, npes);
        self.check("max", all(&|i| Self::value(npes - 1, 0, i)));

        fill(&|_| Self::value(me, 1, 0));
        collectives::fcollect(ROUTINE, TEAM_WORLD, arrays, Span::object(8));
        self.check("fcollect", all(&|pe| Self::value(pe, 1, 0)));

        fill(&|to| Self::value(me, 2, to));
        collectives::alltoall(ROUTINE, TEAM_WORLD, arrays, Span::object(8));
        self.check("alltoall", all(&|pe| Self::value(pe, 2, me)));
        self.barrier();
    }
}

fn main() -> ExitCode {
    setup::init(ROUTINE);
    let (me, npes) = (query::my_pe(ROUTINE) as usize, query::n_pes(ROUTINE) as usize);
    let mut smoke = Smoke { me, npes, passed: 0, failed: 0 };
    let data = DATA.at::<i64>();
    // SAFETY: nobody has written the object yet.
    smoke.check("initialised data", unsafe { data.add(WORDS - 1).read_volatile() } == 7);
    let heap = symmetric::malloc(ROUTINE, WORDS * 8).cast::<i64>();
    smoke.check("heap", !heap.is_null());
    for round in 0..2 {
        for (what, object) in [(".data", data), (".bss", BSS.at()), ("heap", heap)] {
            // SAFETY: each is symmetric and has `WORDS` elements.
            unsafe { smoke.put_and_get(what, round, object) };
        }
    }
    smoke.atomics();
    smoke.waiting_and_signals();
    smoke.locks();
    smoke.collectives();
    // SAFETY: the barrier of the last collective is behind all PEs, and nobody uses the block.
    symmetric::free(ROUTINE, unsafe { Block::new(heap.cast()) });
    // SAFETY: the program ends.
    setup::finalize(ROUTINE, unsafe { Unused::new() });
    println!("smoke: {} passed, {} failed", smoke.passed, smoke.failed);
    if smoke.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
