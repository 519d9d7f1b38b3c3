//! Random updates of one big table that is spread over all PEs: `gups.c` with a distributed array. Every
//! update made twice restores the table, which verifies both. Run as
//! `oshrun -n 4 target/release/examples/array_gups [log2 of the table's words]`.

use oneshmem_array::{DistArray, Distribution};
use std::time::Instant;

/// A well mixed function of its argument (splitmix64).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn main() -> oneshmem_array::Result<()> {
    let words = 1_usize << std::env::args().nth(1).map_or(18, |log| log.parse().expect("a number"));
    let shmem = oneshmem::init()?;
    let (me, npes) = (shmem.my_pe() as u64, shmem.n_pes());
    let mut table = DistArray::<u64>::new(&shmem, words, Distribution::Block)?;
    let updates = 4 * words.div_ceil(npes) as u64;

    table.local(|mut own| own.indexed_mut().for_each(|(index, word)| *word = index as u64));
    let mut update = || {
        let start = Instant::now();
        table.xor_many((0..updates).map(move |update| {
            let random = mix((me << 48) + update);
            (((random as u128 * words as u128) >> 64) as usize, random)
        }));
        shmem.barrier_all();
        let seconds = start.elapsed().as_secs_f64();
        (seconds, table.local(|own| own.indexed().filter(|(i, word)| *i as u64 != **word).count()))
    };
    let ((first, changed), (second, wrong)) = (update(), update());

    // The PE that takes longest counts.
    let seconds = shmem.alloc::<f64>(2)?;
    seconds.all().write(&[first, second]);
    shmem.world().reduce::<_, oneshmem::Max>(seconds.all(), seconds.all());
    if me == 0 {
        let all = updates * npes as u64;
        println!("{all} updates of a table of {words} words on {npes} PEs");
        for seconds in seconds.all().to_vec() {
            println!("by atomics: {seconds:.6} s, {:.4} GUPS", 1e-9 * all as f64 / seconds);
        }
    }
    shmem.free(seconds);
    if wrong > 0 || (changed == 0 && table.len_on(shmem.my_pe()) > 0) {
        eprintln!(
            "PE {me}: {changed} words changed, and then {wrong} were not as before; expected some and none"
        );
        shmem.global_exit(1);
    }
    shmem.barrier_all();
    if me == 0 {
        println!("verified");
    }
    table.free();
    shmem.finalize();
    Ok(())
}
