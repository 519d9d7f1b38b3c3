//! Irregular kernels on distributed arrays, each element by itself: histogram (atomic increments of random elements), index gather
//! (gets of random elements) and a random permutation (darts thrown into an array twice as large, by compare-and-swap). Prints
//! million operations a second of all PEs together, as lines that `oshbench figures today` reads. Run as
//! `oshrun -n 4 target/release/examples/kernels [iters=THOUSANDS]`: so many thousands of elements a PE.

use oneshmem::Shmem;
use oneshmem_array::{DistArray, Distribution};
use std::time::Instant;

/// How often each kernel runs.
const RUNS: usize = 5;

/// A well mixed function of its argument (splitmix64).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Place `i` of a PE's sequence, below `all`.
fn place(me: usize, i: usize, all: usize) -> usize {
    let random = mix(((me as u64) << 40) + i as u64);
    ((u128::from(random) * all as u128) >> 64) as usize
}

/// The most of what all PEs have.
fn most(shmem: &Shmem, mine: f64) -> oneshmem_array::Result<f64> {
    let word = shmem.alloc::<f64>(1)?;
    word.all().write(&[mine]);
    shmem.world().reduce::<_, oneshmem::Max>(word.all(), word.all());
    let all = word.all().to_vec()[0];
    shmem.free(word);
    Ok(all)
}

/// Times a kernel, on an array that `prepare` has filled, and prints its rate.
fn measure(
    shmem: &Shmem,
    (name, operations): (&str, usize),
    array: &mut DistArray<'_, u64>,
    prepare: impl Fn(usize) -> u64,
    kernel: impl Fn(&DistArray<'_, u64>),
) -> oneshmem_array::Result<()> {
    let mut rates = Vec::new();
    for _ in 0..RUNS {
        array.local(|mut own| {
            own.indexed_mut().for_each(|(index, element)| *element = prepare(index))
        });
        let start = Instant::now();
        kernel(array);
        shmem.barrier_all();
        let slowest = most(shmem, start.elapsed().as_secs_f64())?;
        rates.push(operations as f64 / slowest / 1e6);
    }
    rates.sort_by(f64::total_cmp);
    if shmem.my_pe() == 0 {
        let mean = rates.iter().sum::<f64>() / RUNS as f64;
        let [least, median, largest] = [0, RUNS / 2, RUNS - 1].map(|n| rates[n]);
        let npes = shmem.n_pes();
        println!(
            "RESULT kernel.{name} 0 {npes} Mop/s {least:.6} {median:.6} {mean:.6} {largest:.6} {RUNS}"
        );
    }
    Ok(())
}

/// Ends the job if the sum over all elements is another one.
fn check(
    shmem: &Shmem,
    array: &mut DistArray<'_, u64>,
    name: &str,
    expected: u64,
) -> oneshmem_array::Result<()> {
    let own: u64 = array.local(|own| own.iter().sum());
    let word = shmem.alloc::<u64>(1)?;
    word.all().write(&[own]);
    shmem.world().reduce::<_, oneshmem::Sum>(word.all(), word.all());
    let all = word.all().to_vec()[0];
    shmem.free(word);
    if all != expected {
        eprintln!("FAILED {name}: the sum of all elements is {all}; expected {expected}");
        shmem.global_exit(1);
    }
    Ok(())
}

fn main() -> oneshmem_array::Result<()> {
    let thousands = std::env::args().find_map(|word| word.strip_prefix("iters=")?.parse().ok());
    let shmem = oneshmem::init()?;
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    let own = 1000 * thousands.unwrap_or(10_usize);
    let all = own * npes;
    let mut words = DistArray::<u64>::new(&shmem, all, Distribution::Cyclic)?;
    let mut table = DistArray::<u64>::new(&shmem, 2 * all, Distribution::Cyclic)?;

    measure(
        &shmem,
        ("histogram", all),
        &mut words,
        |_| 0,
        |words| {
            words.add_many((0..own).map(|i| (place(me, i, all), 1)));
        },
    )?;
    check(&shmem, &mut words, "histogram", all as u64)?;

    let indices: Vec<usize> = (0..own).map(|i| place(me, i, all)).collect();
    measure(
        &shmem,
        ("gather", all),
        &mut words,
        |index| index as u64,
        |words| {
            let mut found = vec![0; own];
            words.get_many(&indices, &mut found);
            assert!(indices.iter().zip(&found).all(|(index, found)| *index as u64 == *found));
        },
    )?;

    measure(
        &shmem,
        ("permutation", all),
        &mut table,
        |_| 0,
        |table| {
            let mut tries = 0..;
            for dart in 0..own {
                let value = (me * own + dart + 1) as u64;
                let thrown = tries
                    .by_ref()
                    .find(|i| table.compare_swap(place(me, *i, 2 * all), 0, value) == 0);
                assert!(thrown.is_some(), "places never end");
            }
        },
    )?;
    check(&shmem, &mut table, "permutation", (all as u64) * (all as u64 + 1) / 2)?;

    if me == 0 {
        println!("DONE");
    }
    table.free();
    words.free();
    shmem.finalize();
    Ok(())
}
