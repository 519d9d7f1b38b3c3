//! A token goes round all PEs twice, each adding its number. Run as
//! `oshrun -n 4 target/release/examples/ring`.

use oneshmem::{Comparison, Signal};

const ROUNDS: u64 = 2;

fn main() -> oneshmem::Result<()> {
    let shmem = oneshmem::init()?;
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    let next = (me + 1) % npes;

    let token = shmem.alloc::<u64>(1)?;
    let arrived = shmem.alloc::<u64>(1)?;

    for round in 1..=ROUNDS {
        // PE 0 starts each round; the others wait for the token of this round first.
        if me != 0 {
            shmem.wait_until(arrived.at(0), Comparison::Ge, round);
        }
        let value = token.at(0).get() + me as u64;
        // Data, then signal: whoever sees the signal sees the data.
        shmem.put_signal(token.all(), &[value], arrived.at(0), Signal::Set(round), next);
        if me == 0 {
            shmem.wait_until(arrived.at(0), Comparison::Ge, round);
        }
    }

    let pes = npes as u64;
    let expected = ROUNDS * pes * (pes - 1) / 2;
    if me == 0 {
        let value = token.at(0).get();
        println!("The token came back to PE 0 with {value}, expected {expected}");
        if value != expected {
            shmem.global_exit(1);
        }
    }
    shmem.free(arrived);
    shmem.free(token);
    shmem.finalize();
    Ok(())
}
