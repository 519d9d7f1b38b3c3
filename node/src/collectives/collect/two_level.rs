//! The head of each node gathers its node's parts, the heads exchange these by
//! [Bruck's algorithm](super::bruck), and the others copy the result from their head. Each part
//! goes to each node once.
#![allow(unsafe_code)]

use super::{Collect, Parts, bruck};
use crate::collectives::group::{Buffer, Group, Outcome};
use crate::collectives::levels::Levels;

const READY: usize = 1;

/// # Safety
/// As [`super::direct::run`].
pub unsafe fn run<G: Group>(group: &G, call: &Collect) -> Outcome<G> {
    let levels = Levels::new(group);
    let there = READY + levels.steps() + 1;
    let copied = there + 1;
    let all = call.parts.bytes(0, group.size());
    group.steps(copied, |steps| {
        if !levels.is_head() {
            steps.announce(READY);
            steps.await_member(there, levels.head())?;
            if all > 0 {
                let from = group.of(Buffer::Dest, call.dest, levels.head())?;
                // SAFETY: the head has the result and waits below until this PE has it.
                unsafe { group.copy(from, call.dest, all) };
            }
            steps.announce(copied);
            return Ok(());
        }
        // SAFETY: the caller's promise. Nobody reads this PE's dest yet, and the others wait for the
        // result before they reuse their sources.
        unsafe {
            call.serve_self(group);
            for member in levels.others() {
                steps.await_member(READY, member)?;
                if call.parts.bytes(member, member + 1) == 0 {
                    continue;
                }
                let from = group.of(Buffer::Source, call.source, member)?;
                let to = call.dest.add(call.parts.start(member));
                group.copy(from, to, call.parts.bytes(member, member + 1));
            }
        }
        if levels.nodes() > 1 && all > 0 {
            let starts: Vec<_> = levels.starts().iter().map(|at| call.parts.start(*at)).collect();
            let source = call.dest.wrapping_add(call.parts.start(group.index())).cast_const();
            let parts = Parts::Varying { starts, all_fitted: false };
            let among_heads = Collect { dest: call.dest, source, parts };
            // SAFETY: as above; each head's part of the result is in its place.
            unsafe { bruck::in_place(&levels.heads(steps, READY), &among_heads)? };
        }
        steps.announce_near(there);
        steps.await_each(copied, levels.others())
    })
}
