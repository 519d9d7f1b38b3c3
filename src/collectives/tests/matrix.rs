//! Every algorithm with every number of members, at the sizes where something changes.

use super::calls::{Call, Elements};
use super::machine::{MOST_PES, Machine};
use super::play;
use crate::collectives::clock::Clock;
use crate::collectives::epochs::{Board, Epochs};
use crate::collectives::psync::PSync;

const MEMBERS: [usize; 9] = [1, 2, 3, 4, 5, 7, 8, 12, 16];
/// Around what fits a register, the copying of few bytes, a small message, a slice of a
/// reduction, `whole` and a block.
const SIZES: [usize; 21] = [
    0, 1, 7, 8, 9, 63, 64, 65, 104, 112, 120, 127, 128, 129, 2040, 2048, 2056, 8184, 8192, 8200,
    15_000,
];

fn calls(bytes: usize) -> Vec<Call> {
    let n = bytes / 8;
    let elements = Elements::SumI64;
    let mut ragged = [bytes; MOST_PES];
    (0..MOST_PES).for_each(|i| ragged[i] = [bytes, bytes / 2, 0, bytes + 3][i % 4].min(15_000));
    let mut calls = vec![
        Call::Sync,
        Call::Broadcast { bytes, root: bytes, root_too: true },
        Call::Broadcast { bytes, root: 0, root_too: false },
        Call::Collect { bytes: ragged },
        Call::Fcollect { bytes },
        Call::Alltoall { bytes },
        Call::Alltoalls { dst: 1, sst: 2, nelems: n / 2, elem_bytes: 8 },
        Call::Alltoalls { dst: 1, sst: 1, nelems: n, elem_bytes: 8 },
    ];
    for in_place in [false, true] {
        calls.push(Call::Reduce { elements, n, in_place });
        for inclusive in [false, true] {
            calls.push(Call::Scan { elements, n, in_place, inclusive });
        }
    }
    calls
}

#[test]
fn every_algorithm_is_right_everywhere() {
    for npes in MEMBERS {
        let mut plan = Vec::new();
        for call in SIZES.into_iter().flat_map(calls) {
            plan.extend((0..call.algorithms(npes).len()).map(|pick| (call.clone(), pick)));
        }
        assert!(plan.len() > 21 * 50);
        Machine::new(npes).run(|member| {
            let clock = Clock::new(0.into(), 0.into(), 0.into());
            clock.set(0, member.words(member.me));
            play(member, &Epochs::new(member, &clock), &plan);
        });
        // Active sets run the same texts over other words: a part of it will do.
        let part: Vec<_> = plan.into_iter().step_by(7).collect();
        Machine::new(npes).run(|member| play(member, &PSync(member), &part));
    }
}
