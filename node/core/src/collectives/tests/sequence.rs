//! Random calls, one after the other.

use super::machine::{MOST_PES, Machine};
use super::play::play;
use super::random::call;
use crate::collectives::epoch::Epoch;
use crate::collectives::epoch_group::{Controlled, EpochGroup, highest_step};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        // Cases that failed once, beside this file.
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("seeds"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn on_control_words(npes in 1..=MOST_PES, calls in prop::collection::vec((call(), 0..16usize), 1..40)) {
        let machine = Machine::new(npes);
        // Twice: the second team takes over the words as the first left them.
        for _ in 0..2 {
            let base = machine.pes.iter().map(|pe| highest_step(&pe.words)).max().unwrap_or(0);
            machine.run(|member| {
                let epoch = Epoch::new([0; 4].map(Into::into));
                epoch.set(base, member.words(member.me));
                play(member, &EpochGroup::new(member, &epoch), &calls);
            });
        }
    }
}
