//! Recursive doubling (see Thakur, Rabenseifner and Gropp, 2005, as for the binomial tree): in
//! round `r` partners `2^r` apart combine what they have, so that all have the result after `log2`
//! rounds. If the number of members is not a power of two, neighbours fold first ([`super::fold`]).
//! Both members of a pair combine the lower member's elements with the higher member's, in this
//! order, so all get the same bits. A member moves the bytes twice in each round, and twice more
//! before and after the rounds.

use super::Reduce;
use super::fold::{Fold, READY};
use crate::collectives::group::{Outcome, Stepped};

/// Runs the algorithm.
pub fn run<G: Stepped>(group: &G, call: Reduce<'_>) -> Outcome<G> {
    let me = group.index();
    let fold = Fold::new(group.size());
    let rounds = fold.groups.ilog2() as usize;
    // Step 2 r + 2: this PE's input to round r is there. Step 2 r + 3: it has taken its partner's.
    // The last two steps: the result is there; the second member of a group has taken it.
    let there = |round: usize| READY + 1 + 2 * round;
    let result = there(rounds);
    let own = fold.group(me);
    group.steps(result + 1, |steps| {
        // Partners write their dest again only after this PE has taken their elements.
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
