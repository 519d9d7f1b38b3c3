//! Floating-point reductions: the same bits on every member and in every run.

use super::machine::Machine;
use crate::atomics::{AtomicU64, Ordering};
use crate::collectives::algorithm::Algorithm;
use crate::collectives::epoch::Epoch;
use crate::collectives::epoch_group::{Controlled, EpochGroup};
use crate::collectives::range::{self, Readable, Writable};
use crate::collectives::reduce::{self, Kernel, Reduce, Sum};

/// Values whose sums depend, in their last bits, on the order of the additions.
fn value(pe: usize, i: usize) -> f64 {
    [1e16, 1.0, -1e16, 0.1, 3e-8, -7.7][(pe * 5 + i) % 6] * (1.0 + i as f64)
}

#[test]
fn sums_of_floating_point_numbers_are_reproducible() {
    const RUNS: usize = 5;
    for npes in [2, 3, 4, 5, 7, 8, 12, 16] {
        for n in [1, 14, 100, 1024, 4000] {
            for by in reduce::Algorithm::ALL {
                if by.serves(npes, n * 8).is_err() {
                    continue;
                }
                let bits: Vec<_> = (0..n).map(|_| AtomicU64::new(0)).collect();
                let machine = Machine::new(npes);
                machine.run(|member| {
                    let epoch = Epoch::new([0; 4].map(Into::into));
                    epoch.set(0, member.words(member.me));
                    let group = EpochGroup::new(member, &epoch);
                    let [dest, source] = [machine.dest(member.me), machine.source(member.me)]
                        .map(|array| array.part(0, n * 8));
                    let values: Vec<_> = (0..n).map(|i| value(member.me, i).to_bits()).collect();
                    let mut sums = vec![0; n];
                    for run in 0..RUNS {
                        range::copy(Readable::from(&*values), source);
                        let kernel = Kernel::of::<f64, Sum>();
                        let call = Reduce { dest, source: source.readable(), n, kernel };
                        let Ok(()) = by.run(&group, call, || 4);
                        range::copy(dest.readable(), Writable::from(&mut *sums));
                        for (i, (bits, found)) in bits.iter().zip(sums.iter().copied()).enumerate()
                        {
                            // The first to arrive sets the expected value. No sum here is 0.0.
                            let before = bits.compare_exchange(
                                0,
                                found,
                                Ordering::Relaxed,
                                Ordering::Relaxed,
                            );
                            let first = before.map_or_else(|bits| bits, |_| found);
                            assert_eq!(
                                f64::from_bits(found).to_bits(),
                                first,
                                "{by:?}, {npes} PEs, {n} elements, element {i}, run {run}"
                            );
                        }
                    }
                });
            }
        }
    }
}
