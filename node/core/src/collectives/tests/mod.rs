//! Tests of the algorithms against serial references, with threads as PEs.
//!
//! Each thread has an arena of its own for its "symmetric" memory. The calls of a case follow each
//! other immediately, in the same arrays, and each PE refills its source as soon as a call returns:
//! what the specification allows and no more.

mod calls;
mod machine;
mod matrix;
mod model;
mod names;
mod nodes;
mod order;
mod plan;
mod play;
mod random;
mod sequence;
mod traffic;

use super::epoch::Epoch;
use super::epoch_group::EpochGroup;
use super::group::CollectiveGroup;
use crate::atomics::{AtomicU64, Ordering};
use machine::{MOST_PES, Machine};

#[test]
fn nobody_leaves_a_sync_before_all_have_come() {
    for npes in 1..=MOST_PES {
        let counter = AtomicU64::new(0);
        Machine::new(npes).run(|member| {
            let epoch = Epoch::new([0; 4].map(Into::into));
            let group = EpochGroup::new(member, &epoch);
            for round in 1..=300 {
                counter.fetch_add(1, Ordering::Relaxed);
                let Ok(()) = group.sync();
                assert!(counter.load(Ordering::Relaxed) >= round * npes as u64);
            }
        });
    }
}
