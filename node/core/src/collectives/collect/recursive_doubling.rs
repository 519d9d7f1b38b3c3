//! Recursive doubling: in round `r` partners `2^r` apart take from each other all parts that they
//! have (Chan and others, as for the ring). The number of members is a power of two. `log2 size`
//! rounds; each member moves the bytes of the result once.

use super::Collect;
use crate::collectives::group::{CollectiveGroup, Outcome};

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: &Collect<'_>) -> Outcome<G> {
    let (me, size) = (group.index(), group.size());
    debug_assert!(size.is_power_of_two());
    let rounds = size.ilog2() as usize;
    group.steps(rounds + 1, |steps| {
        call.serve_self(group);
        steps.announce(1);
        for round in 0..rounds {
            let distance = 1 << round;
            let partner = me ^ distance;
            let first = partner & !(distance - 1);
            steps.await_member(round + 1, partner)?;
            call.whole().take(group, partner, first, first + distance)?; // It waits below.
            steps.announce(round + 2);
        }
        for round in 0..rounds {
            steps.await_member(round + 2, me ^ 1 << round)?;
        }
        Ok(())
    })
}
