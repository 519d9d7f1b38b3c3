//! The dissemination barrier (Hensgen, Finkel and Manber, "Two algorithms for barrier
//! synchronization", 1988): in round `r` each member hears from the member `2^r` before it that
//! this member, and all that it has heard of, have arrived. `ceil(log2 size)` rounds, one word
//! written per member and round, no root.

use crate::collectives::group::{Outcome, Stepped};

/// Waits until all members have called it.
pub fn sync<G: Stepped>(group: &G) -> Outcome<G> {
    let (me, size) = (group.index(), group.size());
    let rounds = size.next_power_of_two().ilog2() as usize;
    group.steps(rounds, |steps| {
        for round in 0..rounds {
            let distance = (1 << round) % size;
            steps.announce_to(round + 1, [(me + distance) % size]);
            steps.await_member(round + 1, (me + size - distance) % size)?;
        }
        Ok(())
    })
}
