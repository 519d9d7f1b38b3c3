//! Every family of the Rust interface on any number of PEs; each PE checks what it
//! gets. `tests/runner/examples.rs` runs it, and `smartmap.rs` on an imitation of the Kitten kernel.

use oneshmem::Comparison::{Eq, Ge, Lt, Ne};
use oneshmem::{And, Blocks, ContextOptions, Element, Hints, Max, Min, Or, Prod, ReduceOp};
use oneshmem::{SessionOptions, Shmem, Signal, Sum, Team, TeamConfig, ThreadLevel, Values, Xor};

fn main() -> oneshmem::Result<()> {
    assert!(!oneshmem::initialized());
    let shmem = oneshmem::init_thread(ThreadLevel::Multiple)?;
    assert!(oneshmem::initialized());
    assert_eq!(shmem.query_thread(), ThreadLevel::Multiple);
    for family in [
        questions,
        memory,
        own_elements,
        structs,
        pointer_sized,
        puts_and_gets,
        strided,
        atomics,
        bits,
        signals,
        waits,
        tests,
        order,
        contexts,
        collectives,
        reductions,
        lengths,
        locks,
        #[cfg(not(feature = "smartmap"))] // It is also for Kitten, which has no threads.
        threads,
    ] {
        family(&shmem);
        shmem.barrier_all();
    }
    teams(&shmem)?;
    if shmem.my_pe() == 0 {
        println!("all families: verified");
    }
    shmem.finalize();
    assert!(!oneshmem::initialized());
    Ok(())
}

/// This PE, all PEs, the PEs before and after this one.
fn ring(shmem: &Shmem) -> (usize, usize, usize, usize) {
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    (me, npes, (me + npes - 1) % npes, (me + 1) % npes)
}

fn questions(shmem: &Shmem) {
    let (me, npes, ..) = ring(shmem);
    assert!(me < npes && shmem.pe_accessible(npes - 1) && !shmem.pe_accessible(npes));
    assert!(!shmem.pe_accessible(usize::MAX));
    assert_eq!(oneshmem::info_get_version(), (1, 6));
    assert!(oneshmem::info_get_name().starts_with("oneshmem "));
    assert_eq!(shmem.shared().n_pes(), npes);
}

fn memory(shmem: &Shmem) {
    let (me, npes, left, right) = ring(shmem);
    let table = shmem.alloc::<u64>(3).unwrap();
    assert_eq!(table.all().to_vec(), [0; 3]);
    shmem.barrier_all();
    shmem.put(table.all(), &[7, 8, me as u64], right);
    shmem.barrier_all();
    let table = shmem.realloc(table, 5).unwrap();
    assert_eq!(table.all().to_vec(), [7, 8, left as u64, 0, 0]);
    let table = shmem.realloc(table, 1).unwrap();
    assert_eq!(table.all().to_vec(), [7]);
    let table = shmem.realloc(table, usize::MAX / 8).expect_err("more than there is");
    assert_eq!(table.at(0).get(), 7);
    let table = shmem.realloc(table, 0).unwrap();
    let table = shmem.realloc(table, 2).unwrap();
    assert_eq!(table.all().to_vec(), [0, 0]);
    shmem.free(table);

    let pages = shmem.align::<u32>(4096, 10).unwrap();
    assert_eq!(pages.all().to_vec(), [0; 10]);
    for pe in 0..npes {
        assert_eq!(shmem.ptr(pages.all(), pe).expect("a PE of this node") as usize % 4096, 0);
    }
    assert!(shmem.ptr(pages.all(), npes).is_none() && shmem.addr_accessible(pages.at(9), right));
    let hinted = shmem.alloc_with_hints::<u8>(1, Hints::ATOMICS_REMOTE | Hints::SIGNAL_REMOTE);
    shmem.free(hinted.unwrap());
    shmem.free(pages);
    let error = shmem.alloc::<u64>(usize::MAX / 64).expect_err("more than there is");
    assert!(error.to_string().contains("elements of 8 bytes in the symmetric heap"), "{error}");
    assert!(shmem.align::<u64>(64, usize::MAX / 2).is_err());
    assert!(shmem.align::<u64>(24, 1).is_err(), "no power of two");
}

/// The PE's own copy, as cells and as a slice.
#[allow(unsafe_code)]
fn own_elements(shmem: &Shmem) {
    let (_, npes, ..) = ring(shmem);
    let counts = shmem.alloc::<u32>(100).unwrap();
    for element in counts.all().iter() {
        shmem.atomic_add(element, 2, npes - 1);
    }
    shmem.barrier_all();
    if shmem.my_pe() == npes - 1 {
        // SAFETY: all atomic operations were before the barrier.
        let counts = unsafe { counts.all().as_slice() };
        assert!(counts.iter().all(|count| *count == 2 * npes as u32));
    }
    let odd = counts.slice(1..);
    odd.at(3).set(9);
    odd.at(3).update(|value| value - 2);
    let mut values = [0; 2];
    counts.slice(4..6).read(&mut values);
    assert_eq!(values[0], 7);
    shmem.barrier_all();
    shmem.free(counts);
}

/// Larger than what is reduced, with an array and a struct inside.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Body {
    place: Point,
    history: [[f64; 3]; 4],
    id: u32,
    kind: [u16; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(transparent)]
struct Celsius(f32);

impl ReduceOp<Point> for Sum {
    fn combine(a: Point, b: Point) -> Point {
        Point { x: a.x + b.x, y: a.y + b.y }
    }
}

/// Elements of the program's own: transfers and collectives.
fn structs(shmem: &Shmem) {
    let (me, npes, left, right) = ring(shmem);
    let body = |pe: usize| Body {
        place: Point { x: pe as f64, y: -1.0 },
        history: [[pe as f64; 3]; 4],
        id: pe as u32,
        kind: [1, pe as u16],
    };
    let bodies = shmem.alloc::<Body>(3).unwrap();
    assert_eq!(bodies.at(2).get().kind, [0, 0]);
    shmem.barrier_all();
    shmem.put(bodies.slice(..2), &[body(me), body(me + 1)], right);
    shmem.p(bodies.at(2), body(me + 2), right);
    shmem.barrier_all();
    assert_eq!(bodies.all().to_vec(), [body(left), body(left + 1), body(left + 2)]);
    assert_eq!(shmem.g(bodies.at(2), right), body(me + 2));
    let mut strided = [body(0); 2];
    shmem.iget(&mut strided, bodies.all(), 1, 2, 2, right);
    assert_eq!(strided, [body(me), body(me + 2)]);
    let all = shmem.alloc::<Body>(npes).unwrap();
    shmem.world().fcollect(all.all(), bodies.at(0));
    assert_eq!(all.at(me).get(), body(left));
    shmem.free(all);
    shmem.free(bodies);

    let points = shmem.alloc::<Point>(1).unwrap();
    points.at(0).set(Point { x: 1.0, y: me as f64 });
    shmem.world().reduce::<_, Sum>(points.all(), points.all());
    let sum = (npes * (npes - 1) / 2) as f64;
    assert_eq!(points.at(0).get(), Point { x: npes as f64, y: sum });
    shmem.free(points);

    let degrees = shmem.alloc::<Celsius>(1).unwrap();
    shmem.barrier_all();
    shmem.p(degrees.at(0), Celsius(36.5), right);
    shmem.barrier_all();
    assert_eq!(degrees.at(0).get(), Celsius(36.5));
    shmem.free(degrees);
}

/// usize and isize, wherever integers go.
fn pointer_sized(shmem: &Shmem) {
    let (me, npes, _, right) = ring(shmem);
    let x = shmem.alloc::<usize>(2).unwrap();
    shmem.atomic_add(x.at(0), usize::MAX, 0);
    shmem.atomic_fetch_add(x.at(0), 3, 0);
    shmem.barrier_all();
    assert_eq!(shmem.atomic_fetch(x.at(0), 0), 2 * npes);
    shmem.atomic_set(x.at(1), me + 1, right);
    shmem.wait_until(x.at(1), Ge, 1);
    shmem.barrier_all();
    x.at(0).set(me);
    shmem.world().reduce::<_, Max>(x.at(0), x.at(0));
    assert_eq!(x.at(0).get(), npes - 1);
    let y = shmem.alloc::<isize>(1).unwrap();
    y.at(0).set(-(me as isize));
    shmem.world().reduce::<_, Min>(y.all(), y.all());
    assert_eq!(y.at(0).get(), 1 - npes as isize);
    assert!(shmem.test(y.at(0), Lt, 1));
    shmem.free(y);
    shmem.free(x);
}

fn puts_and_gets(shmem: &Shmem) {
    let (me, _, left, right) = ring(shmem);
    let x = shmem.alloc::<f64>(8).unwrap();
    shmem.put(x.slice(..4), &[me as f64; 4], right);
    shmem.p(x.at(4), -1.5, right);
    shmem.barrier_all();
    assert_eq!(x.slice(..5).to_vec(), [left as f64, left as f64, left as f64, left as f64, -1.5]);
    assert_eq!(shmem.g(x.at(0), right), me as f64);
    let mut theirs = [0.0; 2];
    shmem.get(&mut theirs, x.slice(3..5), right);
    assert_eq!(theirs, [me as f64, -1.5]);
    shmem.barrier_all();
    // Between symmetric memory here and there.
    shmem.put_from(x.at(5), x.at(0), right);
    shmem.get_into(x.at(6), x.at(4), right);
    shmem.barrier_all();
    assert_eq!((x.at(5).get(), x.at(6).get()), (shmem.g(x.at(0), left), -1.5));
    shmem.put(x.slice(..0), &[], right);
    shmem.barrier_all();
    shmem.free(x);
}

fn strided(shmem: &Shmem) {
    let (me, _, left, right) = ring(shmem);
    let x = shmem.alloc::<i16>(12).unwrap();
    shmem.iput(x.slice(1..), &[1, 0, 2, 0, me as i16], 3, 2, 3, right);
    shmem.barrier_all();
    assert_eq!(x.all().to_vec(), [0, 1, 0, 0, 2, 0, 0, left as i16, 0, 0, 0, 0]);
    let mut mine = [9; 5];
    shmem.iget(&mut mine, x.slice(1..), 2, 3, 3, right);
    assert_eq!(mine, [1, 9, 2, 9, me as i16]);
    shmem.barrier_all();
    let blocks = Blocks { dst: 4, sst: 2, bsize: 2, nblocks: 3 };
    shmem.ibput(x.all(), &[1, 2, 3, 4, 5, 6], blocks, right);
    shmem.barrier_all();
    assert_eq!(x.all().to_vec()[..6], [1, 2, 0, 0, 3, 4]);
    let mut packed = [0; 6];
    let blocks = Blocks { dst: 2, sst: 4, bsize: 2, nblocks: 3 };
    shmem.ibget(&mut packed, x.all(), blocks, right);
    assert_eq!(packed, [1, 2, 3, 4, 5, 6]);
    shmem.barrier_all();
    // Between symmetric memory here and there.
    x.all().write(&std::array::from_fn::<i16, 12, _>(|i| i as i16));
    shmem.barrier_all();
    shmem.iput_from(x.slice(8..), x.slice(1..5), 2, 3, 2, right);
    shmem.barrier_all();
    assert_eq!(x.slice(8..).to_vec(), [1, 9, 4, 11]);
    shmem.barrier_all();
    shmem.iget_into(x.slice(9..), x.slice(2..7), 1, 2, 3, right);
    assert_eq!(x.slice(8..).to_vec(), [1, 2, 4, 6]);
    shmem.barrier_all();
    shmem.free(x);
}

fn atomics(shmem: &Shmem) {
    let (me, npes, ..) = ring(shmem);
    let n = npes as i32;
    let x = shmem.alloc::<i32>(2).unwrap();
    let before = shmem.atomic_fetch_add(x.at(0), 2, 0);
    assert!(before >= 0 && before < 5 * n);
    shmem.atomic_add(x.at(0), 1, 0);
    assert!(shmem.atomic_fetch_inc(x.at(0), 0) < 5 * n);
    shmem.atomic_inc(x.at(0), 0);
    shmem.barrier_all();
    assert_eq!(shmem.atomic_fetch(x.at(0), 0), 5 * n);
    // One wins.
    let won = shmem.atomic_compare_swap(x.at(1), 0, me as i32 + 1, npes - 1) == 0;
    shmem.barrier_all();
    assert_eq!(won, shmem.atomic_fetch(x.at(1), npes - 1) == me as i32 + 1);
    shmem.atomic_set(x.at(0), 7, me);
    assert_eq!(shmem.atomic_swap(x.at(0), 8, me), 7);
    assert_eq!(x.at(0).get(), 8);
    let f = shmem.alloc::<f64>(1).unwrap();
    assert_eq!(shmem.atomic_swap(f.at(0), 2.5, me), 0.0);
    assert_eq!(shmem.atomic_fetch(f.at(0), me), 2.5);
    shmem.free(f);
    shmem.free(x);
}

fn bits(shmem: &Shmem) {
    let (me, npes, ..) = ring(shmem);
    let x = shmem.alloc::<u64>(3).unwrap();
    let mine = 1u64 << (me % 64);
    shmem.atomic_or(x.at(0), mine, 0);
    assert_eq!(shmem.atomic_fetch_or(x.at(0), mine, 0) & mine, mine);
    shmem.atomic_xor(x.at(1), 1, 0);
    shmem.atomic_fetch_xor(x.at(1), 2, 0);
    shmem.barrier_all();
    let all = if npes >= 64 { u64::MAX } else { (1 << npes) - 1 };
    assert_eq!(shmem.g(x.at(0), 0), all);
    assert_eq!(shmem.g(x.at(1), 0), 3 * (npes as u64 % 2));
    shmem.barrier_all();
    shmem.atomic_and(x.at(0), !mine, 0);
    assert_eq!(shmem.atomic_fetch_and(x.at(0), !mine, 0) & mine, 0);
    shmem.barrier_all();
    assert_eq!(shmem.g(x.at(0), 0), 0);
    shmem.free(x);
}

fn signals(shmem: &Shmem) {
    let (me, _, left, right) = ring(shmem);
    let inbox = shmem.alloc::<u32>(4).unwrap();
    let signal = shmem.alloc::<u64>(2).unwrap();
    shmem.put_signal(inbox.all(), &[me as u32; 4], signal.at(0), Signal::Set(5), right);
    assert_eq!(shmem.signal_wait_until(signal.at(0), Ne, 0), 5);
    assert_eq!(inbox.all().to_vec(), [left as u32; 4]);
    shmem.barrier_all();
    shmem.put_signal(inbox.at(0), &[1], signal.at(0), Signal::Add(1), right);
    shmem.signal_wait_until(signal.at(0), Eq, 6);
    shmem.signal_set(signal.at(1), 3, right);
    shmem.signal_wait_until(signal.at(1), Eq, 3);
    shmem.barrier_all();
    shmem.signal_add(signal.at(1), 4, left);
    shmem.signal_wait_until(signal.at(1), Ge, 7);
    assert_eq!(shmem.signal_fetch(signal.at(1)), 7);
    shmem.barrier_all();
    shmem.free(signal);
    shmem.free(inbox);
}

fn waits(shmem: &Shmem) {
    let (me, npes, ..) = ring(shmem);
    let flags = shmem.alloc::<i64>(npes).unwrap();
    let announce = |sign: i64| {
        shmem.barrier_all();
        (0..npes).for_each(|pe| shmem.atomic_set(flags.at(me), sign * (me as i64 + 1), pe));
    };
    let mine: Vec<i64> = (1..=npes as i64).collect();
    announce(1);
    shmem.wait_until(flags.at(npes - 1), Eq, npes as i64);
    shmem.wait_until_all(flags.all(), None, Ge, Values::All(1));
    shmem.wait_until_all(flags.all(), None, Eq, Values::Each(&mine));

    announce(-1);
    let mut status = vec![0; npes];
    while let Some(pe) = shmem.wait_until_any(flags.all(), Some(&status), Lt, Values::All(0)) {
        assert_eq!(flags.at(pe).get(), -(pe as i64) - 1);
        status[pe] = 1;
    }
    assert_eq!(status, vec![1; npes]);

    announce(1);
    let mut indices = vec![0; npes];
    status.fill(0);
    let mut seen = 0;
    while seen < npes {
        let each = Values::Each(&mine);
        let some = shmem.wait_until_some(flags.all(), &mut indices, Some(&status), Eq, each);
        assert!(!some.is_empty());
        some.iter().for_each(|pe| status[*pe] = 1);
        seen += some.len();
    }
    let none = shmem.wait_until_some(flags.all(), &mut indices, Some(&status), Eq, Values::All(0));
    assert!(none.is_empty());
    assert_eq!(shmem.wait_until_any(flags.slice(..0), None, Eq, Values::All(0)), None);
    shmem.barrier_all();
    shmem.free(flags);
}

fn tests(shmem: &Shmem) {
    let (_, _, left, right) = ring(shmem);
    let x = shmem.alloc::<u32>(3).unwrap();
    let mut indices = [0; 3];
    let (all, zero) = (x.all(), Values::All(0));
    assert!(shmem.test(x.at(0), Eq, 0) && shmem.test_all(all, None, Eq, zero));
    assert_eq!(shmem.test_any(all, None, Ne, zero), None);
    shmem.barrier_all();
    shmem.atomic_set(x.at(1), 4, right);
    while !shmem.test(x.at(1), Eq, 4) {}
    assert_eq!(shmem.test_any(all, None, Ne, zero), Some(1));
    assert_eq!(shmem.test_any(all, Some(&[0, 1, 0]), Ne, zero), None);
    assert_eq!(shmem.test_some(all, &mut indices, None, Eq, zero), [0, 2]);
    assert!(shmem.test_all(all, None, Eq, Values::Each(&[0, 4, 0])));
    assert_eq!(shmem.test_some(all, &mut indices, None, Eq, Values::Each(&[1, 4, 0])), [1, 2]);
    shmem.barrier_all();
    shmem.atomic_set(x.at(2), 1, left);
    while shmem.test_any(all, None, Eq, Values::Each(&[1, 1, 1])) != Some(2) {}
    shmem.barrier_all();
    shmem.free(x);
}

fn order(shmem: &Shmem) {
    let (me, npes, left, right) = ring(shmem);
    let x = shmem.alloc::<u64>(2).unwrap();
    shmem.put(x.at(0), &[me as u64 + 1], right);
    shmem.fence();
    shmem.atomic_set(x.at(1), 1, right);
    shmem.wait_until(x.at(1), Eq, 1);
    assert_eq!(x.at(0).get(), left as u64 + 1);
    shmem.barrier_all();
    shmem.put(x.at(0), &[0], right);
    shmem.pe_quiet(&[right, npes - 1]);
    shmem.quiet();
    assert_eq!(shmem.g(x.at(0), right), 0);
    shmem.sync_all();
    shmem.free(x);
}

fn contexts(shmem: &Shmem) {
    let (me, npes, ..) = ring(shmem);
    let x = shmem.alloc::<u64>(2).unwrap();
    let options = ContextOptions::SERIALIZED | ContextOptions::NOSTORE;
    let contexts: Vec<_> = (0..3).map(|_| shmem.ctx_create(options).unwrap()).collect();
    for ctx in &contexts {
        ctx.session_start(SessionOptions::BATCH, Some(1));
        ctx.atomic_inc(x.at(0), 0);
        ctx.session_stop();
        ctx.fence();
        ctx.quiet();
        assert_eq!(ctx.get_team().n_pes(), npes);
    }
    shmem.session_start(SessionOptions::empty(), None);
    shmem.session_stop();
    drop(contexts);
    shmem.barrier_all();
    assert_eq!(shmem.g(x.at(0), 0), 3 * npes as u64);

    // PE i of the team is PE npes - 1 - i of the world.
    let backwards = shmem.world().split_strided(npes - 1, -1, npes, None).unwrap().unwrap();
    let ctx = backwards.create_ctx(ContextOptions::empty()).unwrap();
    ctx.p(x.at(1), me as u64 + 1, me);
    ctx.quiet();
    backwards.sync();
    assert_eq!(x.at(1).get(), (npes - me) as u64);
    drop(ctx);
    backwards.destroy();
    shmem.free(x);
}

fn collectives(shmem: &Shmem) {
    let (me, npes, ..) = ring(shmem);
    let world = shmem.world();
    let source = shmem.alloc::<i32>(2 * npes).unwrap();
    let dest = shmem.alloc::<i32>(6 * npes).unwrap();
    // Element i of PE p is 100 p + i.
    let value = |pe: usize, i: usize| (100 * pe + i) as i32;
    source.all().write(&(0..2 * npes).map(|i| value(me, i)).collect::<Vec<_>>());

    world.broadcast(dest.slice(..2), source.slice(..2), npes - 1);
    assert_eq!(dest.slice(..2).to_vec(), [value(npes - 1, 0), value(npes - 1, 1)]);
    world.fcollect(dest.slice(..2 * npes), source.slice(..2));
    let expected: Vec<_> = (0..npes).flat_map(|pe| [value(pe, 0), value(pe, 1)]).collect();
    assert_eq!(dest.slice(..2 * npes).to_vec(), expected);
    world.alltoall(dest.slice(..2 * npes), source.all());
    let block = |pe| [value(pe, 2 * me), value(pe, 2 * me + 1)];
    let expected: Vec<_> = (0..npes).flat_map(block).collect();
    assert_eq!(dest.slice(..2 * npes).to_vec(), expected);
    dest.all().fill(-1);
    world.alltoalls(dest.all(), source.all(), 3, 2, 1);
    for pe in 0..npes {
        assert_eq!(dest.slice(3 * pe..3 * pe + 3).to_vec(), [value(pe, 2 * me), -1, -1]);
    }
    shmem.free(dest);
    shmem.free(source);
}

fn reductions(shmem: &Shmem) {
    let (me, npes, ..) = ring(shmem);
    let x = shmem.alloc::<i64>(2).unwrap();
    let y = shmem.alloc::<i64>(2).unwrap();
    let values = |pe: usize| [pe as i64 % 3 + 1, 5 - 2 * pe as i64];
    x.all().write(&values(me));
    let serial = |combine: fn(i64, i64) -> i64| -> Vec<i64> {
        (0..2).map(|i| (0..npes).map(|pe| values(pe)[i]).reduce(combine).unwrap()).collect()
    };
    let world = shmem.world();
    macro_rules! check {
        ($($operation:ident: $combine:expr;)*) => {$(
            world.reduce::<_, $operation>(y.all(), x.all());
            assert_eq!(y.all().to_vec(), serial($combine));
        )*};
    }
    check! {
        Sum: i64::wrapping_add;
        Prod: i64::wrapping_mul;
        Min: std::cmp::min;
        Max: std::cmp::max;
        And: |a, b| a & b;
        Or: |a, b| a | b;
        Xor: |a, b| a ^ b;
    }
    let below = |pes: usize| (0..pes).map(|pe| values(pe)[1]).sum::<i64>();
    world.sum_inscan(y.all(), x.all());
    assert_eq!(y.at(1).get(), below(me + 1));
    world.sum_exscan(y.all(), x.all());
    assert_eq!(y.at(1).get(), below(me));
    world.reduce::<_, Sum>(x.all(), x.all());
    assert_eq!(x.at(1).get(), below(npes));
    shmem.free(y);
    shmem.free(x);
}

/// Collect: PE i gives i elements, and the first none.
fn lengths(shmem: &Shmem) {
    let (me, npes, ..) = ring(shmem);
    let mine = shmem.alloc::<u16>(npes).unwrap();
    let total = npes * (npes - 1) / 2;
    let all = shmem.alloc::<u16>(total + 1).unwrap();
    mine.all().fill(me as u16);
    assert_eq!(shmem.world().collect(all.all(), mine.slice(..me)), total);
    let expected: Vec<_> = (0..npes as u16).flat_map(|pe| vec![pe; pe as usize]).collect();
    assert_eq!(all.slice(..total).to_vec(), expected);
    shmem.free(all);
    shmem.free(mine);
}

fn locks(shmem: &Shmem) {
    let npes = shmem.n_pes();
    let lock = shmem.alloc::<i64>(1).unwrap();
    let x = shmem.alloc::<u64>(1).unwrap();
    for round in 0..20 {
        if round % 2 == 0 {
            shmem.set_lock(lock.at(0));
        } else {
            while !shmem.test_lock(lock.at(0)) {}
        }
        let sum = shmem.g(x.at(0), 0);
        shmem.p(x.at(0), sum + 1, 0);
        shmem.clear_lock(lock.at(0));
    }
    shmem.barrier_all();
    assert_eq!(shmem.g(x.at(0), 0), 20 * npes as u64);
    shmem.free(x);
    shmem.free(lock);
}

#[cfg(not(feature = "smartmap"))]
fn threads(shmem: &Shmem) {
    let (_, npes, left, right) = ring(shmem);
    let x = shmem.alloc::<u64>(2).unwrap();
    let threads = shmem.threads().expect("the level is Multiple");
    let shared = threads.share(&x);
    std::thread::scope(|scope| {
        for peer in [left, right] {
            scope.spawn(move || {
                let ctx = threads.shmem().ctx_create(ContextOptions::PRIVATE).unwrap();
                (0..1000).for_each(|_| ctx.atomic_inc(shared.at(0), peer));
            });
        }
        scope.spawn(|| threads.shmem().wait_until(shared.at(0), Ge, 2000));
    });
    shmem.barrier_all();
    assert_eq!(shmem.atomic_fetch(x.at(0), npes - 1), 2000);
    assert_eq!(x.at(0).get(), 2000);
    shmem.free(x);
}

fn teams(shmem: &Shmem) -> oneshmem::Result<()> {
    let (me, npes, ..) = ring(shmem);
    let world = shmem.world();
    let x = shmem.alloc::<u64>(1).expect("symmetric memory");
    let sum_of = |team: &Team<'_>| {
        x.at(0).set(1);
        team.reduce::<_, Sum>(x.all(), x.all());
        x.at(0).get() as usize
    };

    let config = TeamConfig { num_contexts: 3 };
    let odd = world.split_strided(1.min(npes - 1), 2, (npes / 2).max(1), Some(&config))?;
    assert_eq!(odd.is_some(), me % 2 == 1 || npes == 1);
    if let Some(odd) = odd {
        assert_eq!(odd.get_config().num_contexts, 3);
        assert_eq!(odd.translate_pe(odd.my_pe(), world), Some(me));
        assert_eq!(world.translate_pe(0, &odd), (npes == 1).then_some(0));
        assert_eq!(sum_of(&odd), odd.n_pes());
        assert!(odd.ptr(x.all(), odd.n_pes()).is_none() && odd.ptr(x.all(), 0).is_some());
        odd.destroy();
    }
    shmem.barrier_all();
    let (row, column) = world.split_2d(3, None, None)?;
    assert_eq!((row.my_pe(), column.my_pe()), (me % 3, me / 3));
    assert_eq!(sum_of(&row), row.n_pes());
    shmem.barrier_all();
    assert_eq!(sum_of(&column), column.n_pes());
    column.destroy();
    row.destroy();
    assert_eq!(world.split_strided(0, 1, npes + 1, None).err(), Some(oneshmem::NoTeam));
    assert_eq!(world.split_2d(0, None, None).err(), Some(oneshmem::NoTeam));
    shmem.free(x);
    Ok(())
}
