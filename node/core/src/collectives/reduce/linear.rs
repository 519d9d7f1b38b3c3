//! Member 0 combines all sources, then the others copy the result from it. Member 0 moves `size`
//! times the bytes and the result once more; the others move the result.

use super::Reduce;
use super::block::{Accumulator, ElementRange};
use crate::collectives::group::{CollectiveGroup, Outcome};

const READY: usize = 1;
const REDUCED: usize = 2;
const COPIED: usize = 3;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Reduce<'_>) -> Outcome<G> {
    let elem = call.kernel.bytes();
    group.steps(COPIED, |steps| {
        steps.announce(READY);
        if group.index() == 0 {
            let mut blocks = Accumulator::new(call.kernel);
            for part in ElementRange::all(call.n).blocks(elem) {
                // All members wait for the next step before they reuse their sources. In place,
                // only this PE reads its own source.
                let (start, bytes) = part.range(elem);
                let sum = blocks.accumulate(group, steps, call.source, part, group.size())?;
                group.copy(sum, call.dest.part(start, bytes));
            }
            steps.announce(REDUCED);
            steps.await_each(COPIED, 1..group.size())?;
        } else {
            steps.await_member(REDUCED, 0)?;
            call.take_result(group, 0)?; // It waits above, and has read this source.
        }
        steps.announce(COPIED);
        Ok(())
    })
}
