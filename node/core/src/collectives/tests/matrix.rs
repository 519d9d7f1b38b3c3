//! Every algorithm with every number of members, at the sizes where something changes.

use super::machine::Machine;
use super::plan::{members, plan};
use super::play::play;
use crate::collectives::epoch::Epoch;
use crate::collectives::epoch_group::{Controlled, EpochGroup};

#[test]
fn every_algorithm_is_right_everywhere() {
    for npes in members() {
        let plan = plan(npes);
        Machine::new(npes).run(|member| {
            let epoch = Epoch::new([0; 4].map(Into::into));
            epoch.set(0, member.words(member.me));
            play(member, &EpochGroup::new(member, &epoch), &plan);
        });
    }
}
