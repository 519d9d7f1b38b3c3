//! The head of each node gathers its node's parts, the heads exchange them by
//! [Bruck's algorithm](super::bruck), and the others copy the result from their head. Each part
//! goes to each node once. A result that fits a message goes from head to head with the steps.

use super::{Collect, CollectResult, Parts, bruck};
use crate::collectives::group::{CollectiveGroup, Outcome, Reach, Stepped};
use crate::collectives::levels::Levels;
use crate::collectives::message::{Room, content, words_of};
use crate::collectives::range::Writable;
use crate::collectives::reduce::{Kernel, Or, Reduce, exchanged};
use crate::collectives::sent;
use std::ops::Range;

const READY: usize = 1;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: &Collect<'_>) -> Outcome<G> {
    let (levels, whole) = (Levels::new(group), call.whole());
    let there = READY + levels.steps() + 1;
    let copied = there + 1;
    let all = whole.parts.bytes(0, group.size());
    group.steps(copied, |steps| {
        if !levels.is_head() {
            steps.announce(READY);
            steps.await_member(there, levels.head())?;
            if all > 0 {
                // The head waits below until this PE has the result.
                whole.take(group, levels.head(), 0, group.size())?;
            }
            steps.announce(copied);
            return Ok(());
        }
        // Nobody reads this PE's dest yet, and the others wait for the result before they reuse
        // their sources.
        call.serve_self(group);
        for member in levels.others() {
            steps.await_member(READY, member)?;
            if call.bytes_of(member) > 0 {
                call.fetch(group, member)?;
            }
        }
        if levels.nodes() > 1 && all > 0 {
            let start = |node: usize| whole.parts.start(levels.starts()[node]);
            let heads = levels.heads(steps, READY);
            if heads.sends() && all <= sent::MOST_BYTES {
                exchange(&heads, whole, start(heads.index())..start(heads.index() + 1))?;
            } else {
                let starts = (0..=levels.nodes()).map(start).collect();
                let of_nodes = CollectResult { dest: whole.dest, parts: Parts::Varying(starts) };
                bruck::exchange(&heads, &of_nodes)?;
            }
        }
        steps.announce_near(there);
        steps.await_each(copied, levels.others())
    })
}

/// Exchanges the heads' parts by messages, each with room for the whole result: zeros but for what its
/// sender has, so that a bitwise or puts them together. `own` are the bytes of this head's node.
fn exchange<G: Stepped>(heads: &G, whole: &CollectResult<'_>, own: Range<usize>) -> Outcome<G> {
    let mut room = Room::new();
    let message = room.zeros(words_of(whole.dest.bytes()));
    let place = Writable::from(&mut *message).part(own.start, own.len());
    heads.copy(whole.dest.readable().part(own.start, own.len()), place);
    let bytes = whole.dest.bytes();
    let source = content(message, bytes);
    exchanged::run(
        heads,
        Reduce { dest: whole.dest, source, n: bytes, kernel: Kernel::of::<u8, Or>() },
    )
}
