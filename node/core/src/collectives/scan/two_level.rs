//! The head of each node adds up its node's elements, and the heads scan these totals, a few
//! [one after the other](super::linear), more by [recursive doubling](super::recursive_doubling). Then, on each node, one member after the other
//! takes its predecessor's sums and adds its own summands. One member's bytes enter each node once if
//! there are few, otherwise as many times as the heads have rounds.

use super::{Scan, linear, recursive_doubling};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::levels::Levels;
use crate::collectives::scratch::Scratch;

const READY: usize = 1;
/// Up to so many nodes one after the other is not slower: no head waits in more rounds.
const FEW: usize = 4;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Scan<'_>) -> Outcome<G> {
    let levels = Levels::new(group);
    let (me, bytes) = (group.index(), call.bytes());
    // A member has its sums, and so has read its predecessor's.
    let summed = READY + levels.steps() + 1;
    group.steps(summed, |steps| {
        let [mut sums, mut own, mut before] = [(); 3].map(|()| Scratch::new(bytes));
        let [sums, own, before] = [&mut sums, &mut own, &mut before].map(Scratch::all);
        group.copy(call.source, own);
        if !levels.is_head() {
            steps.announce(READY);
            steps.await_member(summed, me - 1)?;
            group.copy(group.dest(call.dest, me - 1)?, before);
        } else if levels.nodes() > 1 {
            // The others' sources stay until this PE has announced its sums.
            group.copy(own, sums);
            for member in levels.others() {
                steps.await_member(READY, member)?;
                group.copy(group.source(call.source, member)?, before);
                call.kernel.combine(sums, sums.readable(), before.readable(), call.n);
            }
            group.copy(sums, call.dest);
            let totals = Scan { source: call.dest.readable(), inclusive: false, ..call };
            let heads = levels.heads(steps, READY);
            match levels.nodes() {
                ..=FEW => linear::run(&heads, totals)?,
                _ => recursive_doubling::run(&heads, totals)?,
            }
            group.copy(call.dest, before);
        }
        if me == 0 {
            before.zero();
            group.copy(own, sums);
        } else {
            call.kernel.combine(sums, before.readable(), own.readable(), call.n);
        }
        group.copy(sums, call.dest);
        steps.announce_near(summed);
        // The successor has read this PE's sums.
        steps.await_each(summed, levels.others().filter(|member| *member == me + 1))?;
        if !call.inclusive {
            group.copy(before, call.dest);
        }
        Ok(())
    })
}
