//! Bruck's algorithm (Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for
//! all-to-all communications in multiport message-passing systems", 1997): in round `r`
//! each member takes from the one `2^r` after it what that one has, so that it has twice
//! as many parts, its own and those after it. `ceil(log2 size)` rounds for any number of
//! members; each moves the bytes of the result once.
//!
//! ```text
//!  5 members, member 3      has 3      takes 4 from 4, 0 1 from 0, 2 from 2
//!  as published             3 4 0 1 2  in its dest, rotated at the end
//!  without rotation         0 1 2 3 4  each part goes to its place at once, in two pieces
//!                                      where the parts wrap around
//! ```
#![allow(unsafe_code)]

use super::{Collect, Parts};
use crate::collectives::group::{Buffer, Group, Outcome, Stepped, Steps};
use crate::collectives::scratch::Scratch;

/// Carries out the rounds; `take(from, first, count)` copies the parts `first ..
/// first + count` (modulo the number of members) from member `from`, which has them.
fn rounds<G: Stepped>(
    group: &G,
    steps: &Steps<'_, G>,
    take: impl Fn(usize, usize, usize) -> Outcome<G>,
) -> Outcome<G> {
    let (me, size) = (group.index(), group.size());
    let spans = || std::iter::successors(Some(1), |have| Some(have * 2)).take_while(|h| *h < size);
    for (round, have) in spans().enumerate() {
        let from = (me + have) % size;
        steps.await_member(round + 1, from)?;
        take(from, from, have.min(size - have))?;
        // It waits for that below, and another one for the parts.
        steps.announce_to(round + 2, [from, (me + size - 2 * have % size) % size]);
    }
    for (round, have) in spans().enumerate() {
        steps.await_member(round + 2, (me + size - have) % size)?;
    }
    Ok(())
}

fn steps_for(size: usize) -> usize {
    size.next_power_of_two().ilog2() as usize + 2
}

/// Without rotation, for parts of any length.
///
/// # Safety
/// As [`super::direct::run`].
pub unsafe fn in_place<G: Stepped>(group: &G, call: &Collect) -> Outcome<G> {
    let size = group.size();
    group.steps(steps_for(size), |steps| {
        // SAFETY: the caller's promise.
        unsafe { call.serve_self(group) };
        steps.announce_to(1, [(group.index() + size - 1) % size]);
        rounds(group, steps, |from, first, count| {
            let end = (first + count).min(size);
            // SAFETY: the member has announced these parts, and waits for this PE.
            unsafe {
                call.take(group, from, first, end)?;
                call.take(group, from, 0, first + count - end)
            }
        })
    })
}

/// As published, for parts of one length. Each member moves the result twice more, for
/// the rotation.
///
/// # Safety
/// As [`super::direct::run`].
pub unsafe fn rotated<G: Group>(group: &G, call: &Collect) -> Outcome<G> {
    let Parts::Equal(each) = call.parts else {
        unreachable!("the selector does not give it parts of different lengths")
    };
    let (me, size) = (group.index(), group.size());
    group.steps(steps_for(size), |steps| {
        // SAFETY: the caller's promise.
        unsafe { group.copy(call.source, call.dest, each) };
        steps.announce_to(1, [(me + size - 1) % size]);
        rounds(group, steps, |from, first, count| {
            // Every member has its own part at the front.
            let at = (first + size - me) % size * each;
            let theirs = group.of(Buffer::Dest, call.dest, from)?;
            // SAFETY: the member has announced these parts, and waits for this PE.
            unsafe { group.copy(theirs, call.dest.add(at), count * each) }
            Ok(())
        })?;
        // Nobody reads this PE's dest any more.
        let scratch = Scratch::new(size * each);
        let front = (size - me) * each;
        // SAFETY: the scratch memory is as long as the result.
        unsafe {
            group.copy(call.dest, scratch.start(), size * each);
            group.copy(scratch.start(), call.dest.add(me * each), front);
            group.copy(scratch.start().add(front), call.dest, me * each);
        }
        Ok(())
    })
}
