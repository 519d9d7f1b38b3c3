//! A histogram of values that are spread over all PEs: threads of each PE make and read its own
//! values, and the PEs add what they have counted to bins wherever these are. Run as
//! `oshrun -n 4 target/release/examples/array_histogram`.

use oneshmem_array::{DistArray, Distribution};
use rayon::prelude::*;

const VALUES: usize = 100_000;
const BINS: usize = 1_000;

/// Value `index`: small ones are more frequent.
fn value(index: usize) -> usize {
    let random = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((((random * random) >> 32) * BINS as u64) >> 32) as usize
}

/// Counts into bins of its own.
fn count(mut bins: Vec<u64>, value: usize) -> Vec<u64> {
    bins[value] += 1;
    bins
}

fn main() -> oneshmem_array::Result<()> {
    let shmem = oneshmem::init()?;
    let mut values = DistArray::<usize>::new(&shmem, VALUES, Distribution::Block)?;
    let mut bins = DistArray::<u64>::new(&shmem, BINS, Distribution::Cyclic)?;

    let counted = values.local(|mut own| {
        let first = own.index_of(0);
        own.par_iter_mut().enumerate().for_each(|(i, own)| *own = value(first + i));
        let empty = || vec![0; BINS];
        let sum = |a: Vec<u64>, b: Vec<u64>| a.iter().zip(b).map(|(a, b)| a + b).collect();
        own.par_iter().copied().fold(empty, count).reduce(empty, sum)
    });
    bins.add_many(counted.into_iter().enumerate().filter(|(_, count)| *count > 0));

    let expected = (0..VALUES).map(value).fold(vec![0; BINS], count);
    let wrong =
        bins.local(|own| own.indexed().find(|(bin, n)| **n != expected[*bin]).map(|(bin, _)| bin));
    if let Some(bin) = wrong {
        eprintln!("PE {}: bin {bin} is not what it should be", shmem.my_pe());
        shmem.global_exit(1);
    }
    shmem.barrier_all();
    if shmem.my_pe() == 0 {
        println!("{VALUES} values in {BINS} bins on {} PEs: verified", shmem.n_pes());
    }
    bins.free();
    values.free();
    shmem.finalize();
    Ok(())
}
