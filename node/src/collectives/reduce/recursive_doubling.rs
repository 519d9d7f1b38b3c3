//! Recursive doubling (see Thakur, Rabenseifner and Gropp, 2005, as for the binomial
//! tree): in round `r` partners `2^r` apart combine what they have, so that after `log2`
//! rounds all have the result. If the number of members is no power of two, neighbours
//! fold first ([`super::fold`]). Members combine lower with higher, both of a pair alike,
//! so all get the same bits. In each round a member moves the bytes twice,
//! and twice more before and after.

use super::Reduce;
use super::fold::{Fold, READY};
use crate::collectives::group::{Outcome, Stepped};

/// Carries it out.
pub fn run<G: Stepped>(group: &G, call: Reduce<'_>) -> Outcome<G> {
    let me = group.index();
    let fold = Fold::new(group.size());
    let rounds = fold.groups.ilog2() as usize;
    // Step 2 r + 2: what goes into round r is there; one more: this PE has taken its
    // partner's. The last two: the result is there; the second of a group has taken it.
    let there = |round: usize| READY + 1 + 2 * round;
    let result = there(rounds);
    let own = fold.group(me);
    group.steps(result + 1, |steps| {
        // Partners write their dest again when this PE has taken what they had.
        fold.around(group, steps, call, result, |mine| {
            for round in 0..rounds {
                let distance = 1 << round;
                let partner = fold.first(own ^ distance);
                group.copy(mine, call.dest);
                steps.announce_to(there(round), [partner]);
                steps.await_member(there(round), partner)?;
                let theirs = group.dest(call.dest, partner)?;
                let lower = own & distance == 0;
                call.combine(group, mine, lower, theirs.into(), call.n);
                steps.announce_to(there(round) + 1, [partner]);
                steps.await_member(there(round) + 1, partner)?;
            }
            group.copy(mine, call.dest);
            if let Some(second) = fold.second(own) {
                steps.announce_to(result, [second]);
            }
            Ok(())
        })
    })
}
