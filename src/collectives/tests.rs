//! The algorithms against serial references, with threads as PEs.
//!
//! Each thread has an arena of its own for its "symmetric" memory. The calls of a
//! case follow each other at once, in the same arrays, and each PE fills its source
//! again as soon as a call returns: what the specification allows and no more.
#![allow(unsafe_code)]

use super::alltoall::{Alltoall, Blocks, Shape};
use super::broadcast::Broadcast;
use super::collect::{Collect, Parts};
use super::epochs::{Board, Clock, Epochs, highest_step};
use super::group::{Group, Reach};
use super::psync::{MOST_WORDS, PSync, SyncArray};
use super::reduce::{Kernel, Max, Prod, Reduce, Sum, Xor};
use super::run;
use super::scan::Scan;
use super::select::{Choice, Operation};
use crate::atomics::{AtomicBool, AtomicU64, Ordering};
use crate::counter::{Counter, Rest};
use crate::job::words::TeamWords;
use proptest::prelude::*;
use std::cell::UnsafeCell;
use std::time::{Duration, Instant};

const MOST_PES: usize = 16;
const ARENA: usize = 512 << 10;
/// Dest starts here in an arena; source at its beginning.
const DEST: usize = ARENA / 2;
/// A wait this long is a hang: it fails the test, and says so.
const HANG: Duration = Duration::from_secs(120);

struct TestPe {
    words: TeamWords,
    psync: [AtomicU64; MOST_WORDS],
    arena: Box<UnsafeCell<[u8; ARENA]>>,
    /// Bytes it has copied.
    moved: AtomicU64,
}

/// The PEs of a test: threads that see each other's memory.
struct Machine {
    pes: Vec<TestPe>,
    failed: AtomicBool,
}

// SAFETY: the arenas are written by their own thread, and read by others when the
// algorithms under test say that they may be.
unsafe impl Sync for Machine {}

impl Machine {
    fn new(npes: usize) -> Self {
        let pe = || TestPe {
            // SAFETY: control words start as zero pages; atomics of zero are valid.
            words: unsafe { std::mem::zeroed() },
            psync: [const { AtomicU64::new(0) }; MOST_WORDS],
            arena: Box::new(UnsafeCell::new([0; ARENA])),
            moved: AtomicU64::new(0),
        };
        Self { pes: std::iter::repeat_with(pe).take(npes).collect(), failed: false.into() }
    }

    fn arena(&self, pe: usize) -> *mut u8 {
        self.pes[pe].arena.get().cast()
    }

    /// Runs `program` on every PE.
    fn run(&self, program: impl Fn(Member<'_>) + Sync) {
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

/// Lets waiting threads fail when one has failed.
struct Alarm<'m>(&'m AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[derive(Clone, Copy)]
struct Member<'m> {
    machine: &'m Machine,
    me: usize,
}

impl Reach for Member<'_> {
    fn index(&self) -> usize {
        self.me
    }
    fn size(&self) -> usize {
        self.machine.pes.len()
    }
    fn peer(&self, _argument: &'static str, address: usize, member: usize) -> usize {
        let offset = address - self.machine.arena(self.me) as usize;
        assert!(offset < ARENA, "not in the arena");
        self.machine.arena(member) as usize + offset
    }
    unsafe fn copy(&self, from: *const u8, to: *mut u8, bytes: usize) {
        self.machine.pes[self.me].moved.fetch_add(bytes as u64, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
    }
}

/// A wait: it fails when another PE has, or when it takes too long.
struct Patience<'m> {
    member: Member<'m>,
    begin: Instant,
}

impl Rest for Patience<'_> {
    fn pause(&mut self) -> bool {
        let Member { machine, me } = self.member;
        assert!(!machine.failed.load(Ordering::Relaxed), "another PE failed");
        assert!(self.begin.elapsed() < HANG, "PE {me} hangs");
        std::thread::yield_now();
        false
    }
    fn sleep(&mut self, _: &Counter, _: u64) {}
}

impl Board for Member<'_> {
    fn words(&self, member: usize) -> &TeamWords {
        &self.machine.pes[member].words
    }
    fn await_counter(&self, counter: &Counter, value: u64) {
        counter.wait(value, || Patience { member: *self, begin: Instant::now() });
    }
    fn wake(&self, _: &Counter) {}
}

impl SyncArray for Member<'_> {
    fn word(&self, member: usize, element: usize) -> &AtomicU64 {
        &self.machine.pes[member].psync[element]
    }
    fn wait_until(&self, mut ready: impl FnMut() -> bool) {
        let mut patience = Patience { member: *self, begin: Instant::now() };
        while !ready() {
            patience.pause();
        }
    }
}

/// One collective call and its arguments.
#[derive(Clone, Debug)]
enum Call {
    Sync,
    Broadcast { bytes: usize, root: usize, root_too: bool },
    Collect { bytes: [usize; MOST_PES] },
    Fcollect { bytes: usize },
    Alltoall { bytes: usize },
    Alltoalls { dst: usize, sst: usize, nelems: usize, elem_bytes: usize },
    Reduce { elements: Elements, n: usize, in_place: bool },
    Scan { elements: Elements, n: usize, in_place: bool, inclusive: bool },
}

#[derive(Clone, Copy, Debug)]
enum Elements {
    SumI64,
    SumF64,
    ProdF32,
    MaxU8,
    XorU16,
}

impl Elements {
    fn kernel(self) -> Kernel {
        match self {
            Self::SumI64 => Kernel::of::<i64, Sum>(),
            Self::SumF64 => Kernel::of::<f64, Sum>(),
            Self::ProdF32 => Kernel::of::<f32, Prod>(),
            Self::MaxU8 => Kernel::of::<u8, Max>(),
            Self::XorU16 => Kernel::of::<u16, Xor>(),
        }
    }

    /// An element's bytes for some random bits; floats are such that results are exact
    /// in whatever order they are combined.
    fn encode(self, bits: u64) -> Vec<u8> {
        match self {
            Self::SumI64 => bits.to_ne_bytes().into(),
            Self::SumF64 => ((bits >> 24) as f64).to_ne_bytes().into(),
            Self::ProdF32 => [0.5f32, 1.0, -2.0, 4.0][bits as usize % 4].to_ne_bytes().into(),
            Self::MaxU8 => vec![bits as u8],
            Self::XorU16 => (bits as u16).to_ne_bytes().into(),
        }
    }

    /// The reference: one element of each member, combined in their order.
    fn fold(self, all: &[&[u8]]) -> Vec<u8> {
        fn typed<T, const N: usize>(
            all: &[&[u8]],
            from: fn([u8; N]) -> T,
            op: fn(T, T) -> T,
        ) -> Option<T> {
            all.iter().map(|bytes| from((*bytes).try_into().unwrap())).reduce(op)
        }
        let bytes = match self {
            Self::SumI64 => typed(all, i64::from_ne_bytes, |a, x| a.wrapping_add(x))
                .map(|v| v.to_ne_bytes().to_vec()),
            Self::SumF64 => {
                typed(all, f64::from_ne_bytes, |a, x| a + x).map(|v| v.to_ne_bytes().to_vec())
            }
            Self::ProdF32 => {
                typed(all, f32::from_ne_bytes, |a, x| a * x).map(|v| v.to_ne_bytes().to_vec())
            }
            Self::MaxU8 => typed(all, u8::from_ne_bytes, u8::max).map(|v| vec![v]),
            Self::XorU16 => {
                typed(all, u16::from_ne_bytes, |a, x| a ^ x).map(|v| v.to_ne_bytes().to_vec())
            }
        };
        bytes.unwrap_or_else(|| vec![0; self.kernel().bytes()])
    }
}

/// Random bits that depend on all of the arguments.
fn bits(call: usize, pe: usize, i: usize) -> u64 {
    let mut x = (call as u64) << 48 ^ (pe as u64) << 40 ^ i as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for _ in 0..3 {
        x ^= x >> 29;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    x
}

fn pattern(call: usize, pe: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| bits(call, pe, i) as u8).collect()
}

impl Call {
    /// What PE `pe` of `npes` has in its source.
    fn source(&self, call: usize, pe: usize, npes: usize) -> Vec<u8> {
        match *self {
            Call::Sync => Vec::new(),
            Call::Broadcast { bytes, .. } | Call::Fcollect { bytes } => pattern(call, pe, bytes),
            Call::Collect { bytes } => pattern(call, pe, bytes[pe]),
            Call::Alltoall { bytes } => pattern(call, pe, bytes * npes),
            Call::Alltoalls { sst, nelems, elem_bytes, .. } => {
                pattern(call, pe, sst * nelems * elem_bytes * npes)
            }
            Call::Reduce { elements, n, .. } | Call::Scan { elements, n, .. } => {
                (0..n).flat_map(|i| elements.encode(bits(call, pe, i))).collect()
            }
        }
    }

    /// What PE `me` must have in its dest afterwards, if the call writes it.
    fn expected(&self, call: usize, me: usize, npes: usize) -> Option<Vec<u8>> {
        let sources: Vec<_> = (0..npes).map(|pe| self.source(call, pe, npes)).collect();
        let folded = |elements: Elements, members: usize| {
            let size = elements.kernel().bytes();
            (0..sources[0].len() / size)
                .flat_map(|i| {
                    let column: Vec<_> =
                        sources[..members].iter().map(|s| &s[i * size..][..size]).collect();
                    elements.fold(&column)
                })
                .collect()
        };
        match *self {
            Call::Sync => None,
            Call::Broadcast { root, root_too, .. } => {
                (root_too || root % npes != me).then(|| sources[root % npes].clone())
            }
            Call::Collect { .. } | Call::Fcollect { .. } => Some(sources.concat()),
            Call::Alltoall { bytes } => {
                Some(sources.iter().flat_map(|s| s[me * bytes..][..bytes].to_vec()).collect())
            }
            Call::Alltoalls { dst, sst, nelems, elem_bytes } => {
                let mut dest = vec![UNTOUCHED; dst * nelems * elem_bytes * npes];
                for (pe, source) in sources.iter().enumerate() {
                    for e in 0..nelems {
                        let from = sst * (me * nelems + e) * elem_bytes;
                        let to = dst * (pe * nelems + e) * elem_bytes;
                        dest[to..][..elem_bytes].copy_from_slice(&source[from..][..elem_bytes]);
                    }
                }
                Some(dest)
            }
            Call::Reduce { elements, .. } => Some(folded(elements, npes)),
            Call::Scan { elements, inclusive, .. } => {
                Some(folded(elements, me + usize::from(inclusive)))
            }
        }
    }

    fn in_place(&self) -> bool {
        matches!(*self, Call::Reduce { in_place: true, .. } | Call::Scan { in_place: true, .. })
    }

    fn operation(&self) -> Operation {
        match self {
            Call::Sync => Operation::Barrier,
            Call::Broadcast { .. } => Operation::Broadcast,
            Call::Collect { .. } => Operation::Collect,
            Call::Fcollect { .. } => Operation::Fcollect,
            Call::Alltoall { .. } => Operation::Alltoall,
            Call::Alltoalls { .. } => Operation::Alltoalls,
            Call::Reduce { .. } => Operation::Reduce,
            Call::Scan { .. } => Operation::Scan,
        }
    }

    /// Bytes of one member's contribution.
    fn bytes(&self) -> usize {
        match *self {
            Call::Sync => 0,
            Call::Broadcast { bytes, .. } | Call::Fcollect { bytes } | Call::Alltoall { bytes } => {
                bytes
            }
            Call::Collect { bytes } => bytes[0],
            Call::Alltoalls { nelems, elem_bytes, .. } => nelems * elem_bytes,
            Call::Reduce { elements, n, .. } | Call::Scan { elements, n, .. } => {
                n * elements.kernel().bytes()
            }
        }
    }

    /// The numbers of the algorithms that can serve the call.
    fn algorithms(&self, npes: usize) -> Vec<usize> {
        let operation = self.operation();
        (1..operation.algorithms().len())
            .filter(|index| operation.serves(*index, npes, self.bytes()).is_ok())
            .collect()
    }

    /// # Safety
    /// The arrays are as large as the call's arguments say.
    unsafe fn carry_out(&self, by: usize, group: &impl Group, dest: *mut u8, source: *const u8) {
        fn algorithm<C: Choice>(number: usize) -> C {
            C::numbered(number).unwrap()
        }
        let size = group.size();
        // SAFETY: the caller's promise; the test's PEs keep to the rules.
        unsafe {
            match *self {
                Call::Sync => run::sync_by(algorithm(by), group),
                Call::Broadcast { bytes, root, root_too } => {
                    let call = Broadcast { dest, source, bytes, root: root % size, root_too };
                    run::broadcast_by(algorithm(by), group, call)
                }
                Call::Collect { bytes } => {
                    let parts = Parts::exchanged(group, bytes[group.index()]);
                    run::collect_by(algorithm(by), group, Collect { dest, source, parts })
                }
                Call::Fcollect { bytes } => {
                    let parts = Parts::Equal(bytes);
                    run::fcollect_by(algorithm(by), group, Collect { dest, source, parts })
                }
                Call::Alltoall { bytes } => {
                    let blocks = Blocks::Dense(bytes);
                    run::alltoall_by(algorithm(by), group, Alltoall { dest, source, blocks })
                }
                Call::Alltoalls { dst, sst, nelems, elem_bytes } => {
                    let blocks = Blocks::Strided(Shape { dst, sst, nelems, elem_bytes });
                    run::alltoall_by(algorithm(by), group, Alltoall { dest, source, blocks })
                }
                Call::Reduce { elements, n, .. } => {
                    let call = Reduce { dest, source, n, kernel: elements.kernel() };
                    run::reduce_by(algorithm(by), group, call)
                }
                Call::Scan { elements, n, inclusive, .. } => {
                    let call = Scan { dest, source, n, kernel: elements.kernel(), inclusive };
                    run::scan_by(algorithm(by), group, call)
                }
            }
        }
    }
}

/// What dest holds before a call.
const UNTOUCHED: u8 = 0xee;

/// Makes the calls, one after the other, and checks every result.
fn play(member: Member<'_>, group: &impl Group, calls: &[(Call, usize)]) {
    let (me, npes) = (member.me, member.size());
    for (number, (call, pick)) in calls.iter().enumerate() {
        let algorithms = call.algorithms(npes);
        let algorithm = algorithms[pick % algorithms.len()];
        let source = call.source(number, me, npes);
        let expected = call.expected(number, me, npes);
        let length = expected.as_ref().map_or(64, Vec::len);
        assert!(source.len() <= DEST && length <= ARENA - DEST, "the arena is too small");
        let own_source = member.machine.arena(me);
        let own_dest = if call.in_place() { own_source } else { own_source.wrapping_add(DEST) };
        let mut found = vec![0; length];
        // SAFETY: this PE's own arena, which others read only inside the call.
        unsafe {
            own_dest.write_bytes(UNTOUCHED, length);
            own_source.copy_from_nonoverlapping(source.as_ptr(), source.len());
            call.carry_out(algorithm, group, own_dest, own_source);
            found.as_mut_ptr().copy_from_nonoverlapping(own_dest, length);
        }
        let expected = expected.unwrap_or_else(|| vec![UNTOUCHED; length]);
        if found != expected {
            let at = found.iter().zip(&expected).position(|(f, e)| f != e);
            let name = call.operation().algorithms()[algorithm];
            panic!("call {number}, {call:?}, {name}: PE {me} of {npes} has a wrong byte at {at:?}");
        }
    }
}

/// Sizes where algorithms change, and any others.
fn sizes(most: usize) -> impl Strategy<Value = usize> {
    let around = |at: usize| at.saturating_sub(2)..at + 3;
    prop_oneof![
        3 => 0..20usize,
        1 => around(super::group::SMALL_BYTES),
        1 => around(2048),
        1 => around(8192),
        2 => 0..most,
    ]
    .prop_map(move |size| size.min(most))
}

fn call() -> impl Strategy<Value = Call> {
    let elements = prop_oneof![
        Just(Elements::SumI64),
        Just(Elements::SumF64),
        Just(Elements::ProdF32),
        Just(Elements::MaxU8),
        Just(Elements::XorU16),
    ];
    // Sizes in elements: thresholds are in bytes.
    let count = move |elements: Elements, bytes: usize| bytes / elements.kernel().bytes();
    prop_oneof![
        Just(Call::Sync),
        (sizes(20_000), 0..MOST_PES, any::<bool>())
            .prop_map(|(bytes, root, root_too)| Call::Broadcast { bytes, root, root_too }),
        proptest::array::uniform16(sizes(10_000)).prop_map(|bytes| Call::Collect { bytes }),
        sizes(10_000).prop_map(|bytes| Call::Fcollect { bytes }),
        sizes(10_000).prop_map(|bytes| Call::Alltoall { bytes }),
        (1..4usize, 1..4usize, 0..40usize, prop_oneof![Just(1usize), Just(4), Just(8), Just(12)])
            .prop_map(|(dst, sst, nelems, elem_bytes)| Call::Alltoalls {
                dst,
                sst,
                nelems,
                elem_bytes
            }),
        (elements.clone(), sizes(40_000), any::<bool>()).prop_map(
            move |(elements, bytes, in_place)| Call::Reduce {
                elements,
                n: count(elements, bytes),
                in_place
            }
        ),
        (elements, sizes(40_000), any::<bool>(), any::<bool>()).prop_map(
            move |(elements, bytes, in_place, inclusive)| Call::Scan {
                elements,
                n: count(elements, bytes),
                in_place,
                inclusive
            }
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn on_a_team(npes in 1..=MOST_PES, calls in prop::collection::vec((call(), 0..16usize), 1..12)) {
        let machine = Machine::new(npes);
        // Twice: the second team takes over the words where the first has left them.
        for _ in 0..2 {
            let base = machine.pes.iter().map(|pe| highest_step(&pe.words)).max().unwrap_or(0);
            machine.run(|member| {
                let clock = Clock::new(0.into(), 0.into(), 0.into());
                clock.set(base, member.words(member.me));
                play(member, &Epochs::new(member, &clock), &calls);
            });
        }
    }

    #[test]
    fn on_an_active_set(npes in 1..=MOST_PES, calls in prop::collection::vec((call(), 0..16usize), 1..12)) {
        let machine = Machine::new(npes);
        machine.run(|member| play(member, &PSync(member), &calls));
        for (pe, TestPe { psync, .. }) in machine.pes.iter().enumerate() {
            for (element, word) in psync.iter().enumerate() {
                prop_assert_eq!(
                    word.load(Ordering::Relaxed), 0,
                    "pSync[{}] of PE {} is not restored", element, pe
                );
            }
        }
    }
}

#[test]
fn nobody_leaves_a_sync_before_all_have_come() {
    fn rounds(group: &impl Group, counter: &AtomicU64) {
        for round in 1..=300 {
            counter.fetch_add(1, Ordering::Relaxed);
            group.sync();
            assert!(counter.load(Ordering::Relaxed) >= round * group.size() as u64);
        }
    }
    for npes in 1..=MOST_PES {
        let (on_team, on_set) = (AtomicU64::new(0), AtomicU64::new(0));
        Machine::new(npes).run(|member| {
            let clock = Clock::new(0.into(), 0.into(), 0.into());
            rounds(&Epochs::new(member, &clock), &on_team);
            rounds(&PSync(member), &on_set);
        });
    }
}
