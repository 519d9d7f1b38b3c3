//! One after the other: each member takes its predecessor's sums and adds its own summands.
//! `size - 1` rounds; each member moves the bytes three times, and once or twice more if the scan
//! is exclusive.

use super::Scan;
use crate::collectives::group::{Outcome, Stepped};
use crate::collectives::scratch::Scratch;

/// The step at which a member has its sums, and so has read its predecessor's.
const SUMMED: usize = 1;

/// Runs the algorithm.
pub fn run<G: Stepped>(group: &G, call: Scan<'_>) -> Outcome<G> {
    let (me, bytes) = (group.index(), call.bytes());
    group.steps(SUMMED, |steps| {
        let [mut sums, mut own, mut before] = [(); 3].map(|()| Scratch::new(bytes));
        let [mut sums, own, before] = [&mut sums, &mut own, &mut before].map(Scratch::all);
        group.copy(call.source, own);
        if me == 0 {
            before.zero();
            sums = own;
        } else {
            // The predecessor waits for this PE before it writes its sums again, as this PE waits
            // for its successor.
            steps.await_member(SUMMED, me - 1)?;
            group.copy(group.dest(call.dest, me - 1)?, sums);
            if !call.inclusive {
                group.copy(sums, before);
            }
            call.kernel.combine(sums, sums.readable(), own.readable(), call.n);
        }
        group.copy(sums, call.dest);
        let after = (me + 1..group.size()).take(1);
        steps.announce_to(SUMMED, me.checked_sub(1).into_iter().chain(after.clone()));
        steps.await_each(SUMMED, after)?;
        if !call.inclusive {
            group.copy(before, call.dest);
        }
        Ok(())
    })
}
