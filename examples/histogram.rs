//! A histogram spread over all PEs: each PE counts its samples into bins wherever
//! they live, by remote atomics, and a reduction checks that none was lost. Run as
//! `oshrun -n 4 target/release/examples/histogram`.

use oneshmem::Sum;

const BINS_PER_PE: usize = 64;
const SAMPLES: u64 = 20_000;

fn main() -> oneshmem::Result<()> {
    let shmem = oneshmem::init()?;
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    let bins = shmem.alloc::<u64>(BINS_PER_PE)?;

    let mut random = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(me as u64 + 1);
    for _ in 0..SAMPLES {
        // xorshift64 (Marsaglia, 2003)
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let bin = (random % (npes * BINS_PER_PE) as u64) as usize;
        shmem.atomic_add(bins.at(bin % BINS_PER_PE), 1, bin / BINS_PER_PE);
    }
    shmem.barrier_all();

    let mine = shmem.alloc::<u64>(1)?;
    let total = shmem.alloc::<u64>(1)?;
    mine.at(0).set(bins.all().to_vec().iter().sum());
    shmem.world().reduce::<_, Sum>(total.all(), mine.all());

    let expected = SAMPLES * npes as u64;
    if total.at(0).get() != expected {
        eprintln!("PE {me}: {} samples were counted of {expected}", total.at(0).get());
        shmem.global_exit(1);
    }
    if me == 0 {
        println!("{expected} samples in {} bins on {npes} PEs: verified", npes * BINS_PER_PE);
    }
    shmem.free(total);
    shmem.free(mine);
    shmem.free(bins);
    shmem.finalize();
    Ok(())
}
