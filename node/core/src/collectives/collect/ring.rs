//! On a ring: each member takes from its left neighbour the part that the neighbour received last.
//!
//! ```text
//!  round 1   0 takes part 3 from 3   1 takes 0 from 0   2 takes 1 from 1   3 takes 2 from 2
//!  round 2   0 takes part 2 from 3   1 takes 3 from 0   2 takes 0 from 1   3 takes 1 from 2
//! ```
//!
//! `size - 1` rounds. Each member moves the bytes of the result once, and communicates with two
//! members only (see Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication:
//! theory, practice, and experience", 2007: bucket algorithms).

use super::Collect;
use crate::collectives::group::{CollectiveGroup, Outcome};

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: &Collect<'_>) -> Outcome<G> {
    let (me, size) = (group.index(), group.size());
    let (left, right) = ((me + size - 1) % size, (me + 1) % size);
    group.steps(size, |steps| {
        call.serve_self(group);
        steps.announce(1);
        for round in 1..size {
            let part = (me + size - round) % size;
            steps.await_member(round, left)?;
            call.whole().take(group, left, part, part + 1)?; // It waits below.
            steps.announce(round + 1);
        }
        steps.await_member(size, right)
    })
}
