//! The number of bytes that an algorithm moves: counted, and compared with what its file says.

use super::calls::{Call, Elements};
use super::machine::{MOST_PES, Machine};
use crate::atomics::Ordering;
use crate::collectives::epoch::Epoch;
use crate::collectives::epoch_group::{Controlled, EpochGroup};

const BYTES: usize = 8192;

/// The most bytes that any member copies in `call`, in contributions of one member, among `n`
/// members, a power of two. Control words are not counted.
fn expected(call: &Call, algorithm: &str, n: f64) -> f64 {
    let log = n.log2();
    let all_but_one = 1.0 - 1.0 / n;
    match (call, algorithm) {
        (Call::Broadcast { .. }, "linear") => n,
        (Call::Broadcast { .. }, _) => 1.0,
        (Call::Fcollect { .. }, "bruck") => 3.0 * n,
        (Call::Collect { .. } | Call::Fcollect { .. }, _) => n,
        (Call::Alltoall { .. } | Call::Alltoalls { .. }, _) => n,
        (Call::Reduce { .. }, "sliced") => 2.0,
        (Call::Reduce { .. }, "whole" | "linear") => n + 1.0,
        (Call::Reduce { .. }, "two_level") => n,
        (Call::Reduce { .. }, "binomial") => 2.0 + log,
        (Call::Reduce { .. }, "recursive_doubling") => 2.0 + 2.0 * log,
        (Call::Reduce { .. }, "rabenseifner") => 2.0 + 3.0 * all_but_one,
        (Call::Scan { .. }, "direct") => n + 1.0,
        (Call::Scan { .. }, "linear" | "two_level") => 3.0,
        (Call::Scan { .. }, "recursive_doubling") => 2.0 + 2.0 * log,
        _ => panic!("no figure for {algorithm} in {call:?}"),
    }
}

#[test]
fn algorithms_move_the_bytes_that_they_say() {
    let elements = Elements::SumI64;
    let n = BYTES / 8;
    let calls = [
        Call::Broadcast { bytes: BYTES, root: 0, root_too: true },
        Call::Collect { bytes: [BYTES; MOST_PES] },
        Call::Fcollect { bytes: BYTES },
        Call::Alltoall { bytes: BYTES },
        Call::Alltoalls { dst: 1, sst: 1, nelems: n, elem_bytes: 8 },
        Call::Reduce { elements, n, in_place: false },
        Call::Scan { elements, n, in_place: false, inclusive: true },
    ];
    for npes in [2, 4, 8, 16] {
        for call in &calls {
            for algorithm in call.algorithms(npes) {
                let machine = Machine::new(npes);
                machine.run(|member| {
                    let epoch = Epoch::new([0; 4].map(Into::into));
                    epoch.set(0, member.words(member.me));
                    let group = EpochGroup::new(member, &epoch);
                    let (dest, source) = (machine.dest(member.me), machine.source(member.me));
                    call.carry_out(algorithm, &group, dest, source);
                });
                let most = machine.pes.iter().map(|pe| pe.moved.load(Ordering::Relaxed)).max();
                let name = call.operation().algorithms()[algorithm];
                let bytes = expected(call, name, npes as f64) * BYTES as f64;
                assert_eq!(most, Some(bytes as u64), "{call:?} by {name} on {npes} PEs");
            }
        }
    }
}
