//! The algorithms on active sets, with threads as PEs. The machine, the calls and the expected
//! results are those of the tests of the crate `onenode-core`.

#[path = "../../node/core/src/collectives/tests/calls.rs"]
mod calls;
#[path = "../../node/core/src/collectives/tests/machine.rs"]
mod machine;
#[path = "../../node/core/src/collectives/tests/plan.rs"]
mod plan;
#[path = "../../node/core/src/collectives/tests/play.rs"]
mod play;
#[path = "../../node/core/src/collectives/tests/random.rs"]
mod random;

use super::psync::{MOST_WORDS, PSync, SyncArray};
use crate::atomics::{AtomicU64, Ordering};
use machine::{MOST_PES, Machine, Member, Patience, TestPe};
use onenode_core::collectives::group::CollectiveGroup;
use onenode_core::counter::WaitStrategy;
use plan::{is_few, members, plan};
use play::play;
use proptest::prelude::*;
use random::call;
use std::convert::Infallible;

impl SyncArray for Member<'_> {
    type Word<'w>
        = &'w AtomicU64
    where
        Self: 'w;

    fn word(&self, member: usize, element: usize) -> &AtomicU64 {
        &self.machine.pes[member].client[..MOST_WORDS][element]
    }
    fn wait_until(&self, mut ready: impl FnMut() -> bool) -> Result<(), Infallible> {
        let mut patience = Patience::new(*self);
        while !ready() {
            let Ok(_) = patience.pause();
        }
        Ok(())
    }
}

#[test]
fn nobody_leaves_a_sync_before_all_have_come() {
    for npes in 1..=MOST_PES {
        let counter = AtomicU64::new(0);
        Machine::new(npes).run(|member| {
            let group = PSync(member);
            for round in 1..=100 {
                counter.fetch_add(1, Ordering::Relaxed);
                let Ok(()) = group.sync();
                assert!(counter.load(Ordering::Relaxed) >= round * npes as u64);
            }
        });
    }
}

/// Uses part of the plan, whose calls the tests of control words run in full.
#[test]
fn every_algorithm_is_right_everywhere() {
    for npes in members() {
        let part: Vec<_> = plan(npes).into_iter().step_by(19).collect();
        Machine::new(npes).run(|member| play(member, &PSync(member), &part));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if is_few() { 24 } else { 48 }, ..ProptestConfig::default() })]

    #[test]
    fn on_an_active_set(npes in 1..=MOST_PES, calls in prop::collection::vec((call(), 0..16usize), 1..12)) {
        let machine = Machine::new(npes);
        machine.run(|member| play(member, &PSync(member), &calls));
        for (pe, TestPe { client, .. }) in machine.pes.iter().enumerate() {
            for (element, word) in client.iter().enumerate() {
                prop_assert_eq!(
                    word.load(Ordering::Relaxed), 0,
                    "pSync[{}] of PE {} is not restored", element, pe
                );
            }
        }
    }
}
