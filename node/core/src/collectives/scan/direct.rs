//! The direct algorithm, possible only in shared memory: each member combines the sources before it
//! where they lie, block by block, in the members' order. Two steps if dest is not source. If it
//! is, a member writes a block when all members after it have read it, one step per block. Member
//! `i` moves `i` times the bytes.

use super::Scan;
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::reduce::{Accumulator, ElementRange};

const READY: usize = 1;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Scan<'_>) -> Outcome<G> {
    let Scan { dest, source, n, kernel, inclusive } = call;
    let (me, size, elem) = (group.index(), group.size(), kernel.bytes());
    let in_place = dest.is_at(source);
    let members = if inclusive { me + 1 } else { me };
    let all = ElementRange::all(n);
    let most = READY + if in_place { all.blocks(elem).count() } else { 1 };
    group.steps(most, |steps| {
        steps.announce(READY);
        let mut blocks = Accumulator::new(kernel);
        let mut read = READY;
        let mut await_readers = || {
            read += 1;
            steps.announce(read);
            steps.await_each(read, me + 1..size)
        };
        for part in all.blocks(elem) {
            let (start, bytes) = part.range(elem);
            // Every member waits for its readers, here or below.
            let sum = blocks.accumulate(group, steps, source, part, members)?;
            if in_place {
                await_readers()?;
            }
            group.copy(sum, dest.part(start, bytes));
        }
        if !in_place {
            await_readers()?;
        }
        Ok(())
    })
}
