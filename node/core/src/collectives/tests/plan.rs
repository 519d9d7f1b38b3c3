//! Plans that run every algorithm at the sizes where something changes.

use super::calls::{Call, Elements};
use super::machine::MOST_PES;

/// Numbers of members, of which `make test` leaves out the largest: they take most of the time.
pub fn members() -> impl Iterator<Item = usize> {
    [1, 2, 3, 4, 5, 7, 8, 12, 16].into_iter().filter(|npes| is_tried(*npes))
}

/// Whether this run tries this number of members.
pub fn is_tried(npes: usize) -> bool {
    npes <= 8 || !is_few()
}

/// Whether the tests take little time rather than all ways, as in `make test`.
pub fn is_few() -> bool {
    std::env::var_os("ONESHMEM_TEST_FEW").is_some()
}

/// Sizes around the limits of a register, copies of few bytes, a mailbox, a message, a slice of a
/// reduction, `whole` and a block.
const SIZES: [usize; 25] = [
    0, 1, 7, 8, 9, 63, 64, 65, 104, 112, 120, 127, 128, 129, 328, 1112, 1120, 1121, 2040, 2048,
    2056, 8184, 8192, 8200, 15_000,
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

/// Maxima and minima of floating-point numbers, of which some are NaN.
fn extremes(n: usize) -> impl Iterator<Item = Call> {
    [Elements::MaxF32, Elements::MinF64].into_iter().flat_map(move |elements| {
        let in_place = false;
        let scan = |inclusive| Call::Scan { elements, n, in_place, inclusive };
        [Call::Reduce { elements, n, in_place }, scan(false), scan(true)]
    })
}

/// The calls, each with every algorithm that can serve it; of few tests, and with more members, which take most of the
/// time, a third, which differs with the number of members.
pub fn plan(npes: usize) -> Vec<(Call, usize)> {
    let mut plan = Vec::new();
    for call in SIZES.into_iter().flat_map(calls).chain([1, 21, 250].into_iter().flat_map(extremes))
    {
        plan.extend((0..call.algorithms(npes).len()).map(|pick| (call.clone(), pick)));
    }
    assert!(plan.len() > 21 * 50);
    let turns = if is_few() || npes > 4 { 3 } else { 1 };
    plan.into_iter().skip(npes % turns).step_by(turns).collect()
}
