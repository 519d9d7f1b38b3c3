//! Random calls by random algorithms.

use super::calls::{Call, Elements};
use super::machine::MOST_PES;
use crate::collectives::group::Small;
use crate::collectives::message::MOST_BYTES;
use proptest::prelude::*;

/// Sizes around those where algorithms change, and any others.
fn sizes(most: usize) -> impl Strategy<Value = usize> {
    let around = |at: usize| at.saturating_sub(2)..at + 3;
    prop_oneof![
        3 => 0..20usize,
        1 => around(size_of::<Small>()),
        1 => around(MOST_BYTES),
        1 => around(2048),
        1 => around(8192),
        2 => 0..most,
    ]
    .prop_map(move |size| size.min(most))
}

pub fn call() -> impl Strategy<Value = Call> {
    let elements = prop_oneof![
        Just(Elements::SumI64),
        Just(Elements::SumF64),
        Just(Elements::ProdF32),
        Just(Elements::MaxU8),
        Just(Elements::MaxF32),
        Just(Elements::MinF64),
        Just(Elements::XorU16),
    ];
    // Counts in elements: thresholds are in bytes.
    let count = move |elements: Elements, bytes: usize| bytes / elements.kernel().bytes();
    prop_oneof![
        Just(Call::Sync),
        (sizes(20_000), 0..MOST_PES, any::<bool>())
            .prop_map(|(bytes, root, root_too)| Call::Broadcast { bytes, root, root_too }),
        // On the heap: an array of strategies does not fit on a test's stack.
        proptest::collection::vec(sizes(10_000), MOST_PES)
            .prop_map(|bytes| Call::Collect { bytes: std::array::from_fn(|pe| bytes[pe]) }),
        sizes(10_000).prop_map(|bytes| Call::Fcollect { bytes }),
        sizes(10_000).prop_map(|bytes| Call::Alltoall { bytes }),
        (1..4usize, 1..4usize, 0..40usize, prop_oneof![Just(1usize), Just(4), Just(8), Just(12)])
            .prop_map(|(dst, sst, nelems, elem_bytes)| Call::Alltoalls {
                dst,
                sst,
                nelems,
                elem_bytes
            }),
        (elements.clone(), sizes(40_000), any::<bool>()).prop_map(
            move |(elements, bytes, in_place)| Call::Reduce {
                elements,
                n: count(elements, bytes),
                in_place
            }
        ),
        (elements, sizes(40_000), any::<bool>(), any::<bool>()).prop_map(
            move |(elements, bytes, in_place, inclusive)| Call::Scan {
                elements,
                n: count(elements, bytes),
                in_place,
                inclusive
            }
        ),
    ]
}
