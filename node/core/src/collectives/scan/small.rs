//! Scan of summands that fit a message beside the control words.

use super::{Scan, direct};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::message::words_of;
use crate::collectives::reduce::{Reduce, small};

/// Every member sends its summands beside its control word, and adds those of the members before
/// it, in their order. One exchange; nobody reads another's source. Runs [`direct`] if the group's
/// messages have less room.
pub fn run<G: CollectiveGroup>(group: &G, call: Scan<'_>) -> Outcome<G> {
    if words_of(call.bytes()) > group.room() {
        return direct::run(group, call);
    }
    let Scan { dest, source, n, kernel, inclusive } = call;
    let before = group.index() + usize::from(inclusive);
    small::of_first(group, Reduce { dest, source, n, kernel }, before)
}
