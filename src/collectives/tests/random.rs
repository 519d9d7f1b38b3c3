//! Any calls, one after the other, by any algorithms.

use super::calls::{Call, Elements};
use super::machine::{MOST_PES, Machine, TestPe};
use super::play;
use crate::atomics::Ordering;
use crate::collectives::clock::Clock;
use crate::collectives::epochs::{Board, Epochs, highest_step};
use crate::collectives::group::SMALL_BYTES;
use crate::collectives::psync::PSync;
use proptest::prelude::*;

/// Sizes where algorithms change, and any others.
fn sizes(most: usize) -> impl Strategy<Value = usize> {
    let around = |at: usize| at.saturating_sub(2)..at + 3;
    prop_oneof![
        3 => 0..20usize,
        1 => around(SMALL_BYTES),
        1 => around(2048),
        1 => around(8192),
        2 => 0..most,
    ]
    .prop_map(move |size| size.min(most))
}

fn call() -> impl Strategy<Value = Call> {
    let elements = prop_oneof![
        Just(Elements::SumI64),
        Just(Elements::SumF64),
        Just(Elements::ProdF32),
        Just(Elements::MaxU8),
        Just(Elements::XorU16),
    ];
    // Sizes in elements: thresholds are in bytes.
    let count = move |elements: Elements, bytes: usize| bytes / elements.kernel().bytes();
    prop_oneof![
        Just(Call::Sync),
        (sizes(20_000), 0..MOST_PES, any::<bool>())
            .prop_map(|(bytes, root, root_too)| Call::Broadcast { bytes, root, root_too }),
        proptest::array::uniform16(sizes(10_000)).prop_map(|bytes| Call::Collect { bytes }),
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn on_a_team(npes in 1..=MOST_PES, calls in prop::collection::vec((call(), 0..16usize), 1..12)) {
        let machine = Machine::new(npes);
        // Twice: the second team takes over the words where the first has left them.
        for _ in 0..2 {
            let base = machine.pes.iter().map(|pe| highest_step(&pe.words)).max().unwrap_or(0);
            machine.run(|member| {
                let clock = Clock::new(0.into(), 0.into(), 0.into());
                clock.set(base, member.words(member.me));
                play(member, &Epochs::new(member, &clock), &calls);
            });
        }
    }

    #[test]
    fn on_an_active_set(npes in 1..=MOST_PES, calls in prop::collection::vec((call(), 0..16usize), 1..12)) {
        let machine = Machine::new(npes);
        machine.run(|member| play(member, &PSync(member), &calls));
        for (pe, TestPe { psync, .. }) in machine.pes.iter().enumerate() {
            for (element, word) in psync.iter().enumerate() {
                prop_assert_eq!(
                    word.load(Ordering::Relaxed), 0,
                    "pSync[{}] of PE {} is not restored", element, pe
                );
            }
        }
    }
}
