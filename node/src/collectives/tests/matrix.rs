//! Every algorithm with every number of members, at the sizes where something changes.

use super::machine::Machine;
use super::plan::{MEMBERS, plan};
use super::play::play;
use crate::collectives::clock::Clock;
use crate::collectives::epochs::{Board, Epochs};

#[test]
fn every_algorithm_is_right_everywhere() {
    for npes in MEMBERS {
        let plan = plan(npes);
        Machine::new(npes).run(|member| {
            let clock = Clock::new(0.into(), 0.into(), 0.into());
            clock.set(0, member.words(member.me));
            play(member, &Epochs::new(member, &clock), &plan);
        });
    }
}
