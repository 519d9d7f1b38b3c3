//! Neighbour exchange (Chen, Zhang, Zhang and Yuan, "Performance evaluation of allgather algorithms
//! on terascale Linux cluster with Fast Ethernet", 2005), for an even number of members: members
//! 0 1, 2 3, and so on form pairs, which first swap their parts. Then two kinds of rounds
//! alternate, of two parts each: left members take from the pair to the left and right members from
//! the pair to the right; then partners exchange what they took.
//!
//! ```text
//!  pair p, left member:   round 1 gets pair p-1 from the pair p-1    2: p+1 from its partner
//!          right member:          gets pair p+1 from the pair p+1       p-1 from its partner
//!                         round 3: p-2 and p+2 from outside          4: p+2 and p-2 ...
//! ```
//!
//! `size / 2` rounds; each member moves the bytes of the result once.

use super::Collect;
use crate::collectives::group::{CollectiveGroup, Outcome};

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: &Collect<'_>) -> Outcome<G> {
    let (me, size) = (group.index(), group.size());
    debug_assert!(size % 2 == 0);
    let (pair, pairs) = (me / 2, size / 2);
    let left = me % 2 == 0;
    let partner = me ^ 1;
    let outside = if left { (me + size - 1) % size } else { (me + 1) % size };
    group.steps(pairs + 1, |steps| {
        call.serve_self(group);
        steps.announce(1);
        for round in 0..pairs {
            let (from, first, count) = if round == 0 {
                (partner, partner, 1)
            } else {
                let outward = round % 2 == 1;
                let distance = round.div_ceil(2);
                // Parts of this member's side come from outside, those of the other side from the
                // partner.
                let taken = if left == outward { pair + pairs - distance } else { pair + distance };
                (if outward { outside } else { partner }, taken % pairs * 2, 2)
            };
            steps.await_member(round + 1, from)?;
            call.whole().take(group, from, first, first + count)?; // It waits below.
            steps.announce(round + 2);
        }
        steps.await_each(pairs + 1, [partner, outside])
    })
}
