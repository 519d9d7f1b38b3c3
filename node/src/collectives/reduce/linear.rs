//! Member 0 combines all sources, then everyone copies the result from there. Member 0
//! moves `size` times the bytes and the result once more; the others the result.
#![allow(unsafe_code)]

use super::Reduce;
use super::block::{Blocks, Part};
use crate::collectives::group::{Group, Outcome};

const READY: usize = 1;
const REDUCED: usize = 2;
const COPIED: usize = 3;

/// # Safety
/// As [`super::sliced::run`].
pub unsafe fn run<G: Group>(group: &G, call: Reduce) -> Outcome<G> {
    let elem = call.kernel.bytes();
    group.steps(COPIED, |steps| {
        steps.announce(READY);
        if group.index() == 0 {
            let mut blocks = Blocks::new(call.kernel);
            for part in (Part { first: 0, n: call.n }).blocks(elem) {
                // SAFETY: all members wait for the next step before they reuse their
                // sources; in place, only this PE reads its own.
                unsafe {
                    let sum = blocks.accumulate(group, steps, call.source, part, group.size())?;
                    group.copy(sum, call.dest.add(part.first * elem), part.n * elem);
                }
            }
            steps.announce(REDUCED);
            steps.await_each(COPIED, 1..group.size())?;
        } else {
            steps.await_member(REDUCED, 0)?;
            // SAFETY: member 0 has the result and waits above; it has read this source.
            unsafe { call.take_result(group, 0)? };
        }
        steps.announce(COPIED);
        Ok(())
    })
}
