//! A work queue: a counter on PE 0 that hands out tasks, so that quick PEs do more of them. The tasks
//! look for the number below a limit that takes the most steps to reach 1 by Collatz's rule. Run as
//! `oshrun -n 4 target/release/examples/queue`.

use oneshmem::{Element, ReduceOp};

const LIMIT: u64 = 100_000;
/// Numbers that a PE takes at once.
const CHUNK: u64 = 1000;
/// The known answer for the numbers below the limit.
const EXPECTED: Longest = Longest { steps: 350, start: 77_031 };

/// The number that takes the most steps so far.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Longest {
    steps: u64,
    start: u64,
}

/// A reduction of the program's own: more steps win, or else the smaller number.
struct Best;

impl ReduceOp<Longest> for Best {
    fn combine(a: Longest, b: Longest) -> Longest {
        if b.steps > a.steps || (b.steps == a.steps && b.start < a.start) { b } else { a }
    }
}

fn steps(start: u64) -> u64 {
    let (mut value, mut steps) = (start, 0);
    while value > 1 {
        value = if value % 2 == 0 { value / 2 } else { 3 * value + 1 };
        steps += 1;
    }
    steps
}

fn main() -> oneshmem::Result<()> {
    let shmem = oneshmem::init()?;
    let next = shmem.alloc::<u64>(1)?;
    let longest = shmem.alloc::<Longest>(1)?;

    let mut chunks = 0;
    loop {
        let first = shmem.atomic_fetch_add(next.at(0), CHUNK, 0);
        if first >= LIMIT {
            break;
        }
        chunks += 1;
        for start in first.max(1)..(first + CHUNK).min(LIMIT) {
            let found = Longest { steps: steps(start), start };
            longest.at(0).update(|known| Best::combine(known, found));
        }
    }
    println!("PE {} did {chunks} chunks", shmem.my_pe());
    shmem.world().reduce::<_, Best>(longest.all(), longest.all());

    let Longest { steps, start } = longest.at(0).get();
    if longest.at(0).get() != EXPECTED {
        eprintln!("PE {}: {steps} steps from {start}, expected {EXPECTED:?}", shmem.my_pe());
        shmem.global_exit(1);
    }
    if shmem.my_pe() == 0 {
        println!("{start} takes {steps} steps, the most of all below {LIMIT}: verified");
    }
    shmem.free(longest);
    shmem.free(next);
    shmem.finalize();
    Ok(())
}
