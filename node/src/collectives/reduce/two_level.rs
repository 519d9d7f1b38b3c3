//! The head of each node combines its node's elements where they lie, the heads combine theirs by
//! [recursive doubling](super::recursive_doubling), and the others copy the result. The bytes of
//! one member leave each node `log2` times the number of nodes, and come as often.
#![allow(unsafe_code)]

use super::{Reduce, recursive_doubling};
use crate::collectives::group::{Buffer, Group, Outcome};
use crate::collectives::levels::Levels;

const READY: usize = 1;

/// # Safety
/// As [`super::sliced::run`].
pub unsafe fn run<G: Group>(group: &G, call: Reduce) -> Outcome<G> {
    let levels = Levels::new(group);
    let there = READY + levels.steps() + 1;
    let copied = there + 1;
    group.steps(copied, |steps| {
        if !levels.is_head() {
            steps.announce(READY);
            steps.await_member(there, levels.head())?;
            // SAFETY: the head has the result and waits below; it has read this PE's source.
            unsafe { call.take_result(group, levels.head())? };
            steps.announce(copied);
            return Ok(());
        }
        // SAFETY: the caller's promise. Nobody reads this PE's dest yet; the others' sources are
        // ready, and stay so until there is the result.
        unsafe {
            if !std::ptr::eq(call.dest, call.source) {
                group.copy(call.source, call.dest, call.bytes());
            }
            for member in levels.others() {
                steps.await_member(READY, member)?;
                let theirs = group.of(Buffer::Source, call.source, member)?;
                call.combine(group, call.dest, true, theirs, call.n);
            }
            if levels.nodes() > 1 {
                let among_heads = Reduce { source: call.dest, ..call };
                recursive_doubling::run(&levels.heads(steps, READY), among_heads)?;
            }
        }
        steps.announce_near(there);
        steps.await_each(copied, levels.others())
    })
}
