//! Reduction of a few words, which the first member that has combined them publishes.

use super::{Reduce, small};
use crate::collectives::group::{CollectiveGroup, FEW_WORDS, Few, Outcome};
use crate::collectives::message::{content, words_of};
use crate::collectives::range::Writable;

/// As [`small`], but a member that finds the result need not read the rest of the messages.
pub fn run<G: CollectiveGroup>(group: &G, call: Reduce<'_>) -> Outcome<G> {
    let (bytes, words) = (call.bytes(), words_of(call.bytes()));
    if words > group.room().min(FEW_WORDS) {
        return small::run(group, call);
    }
    let mut message: Few = [0; FEW_WORDS];
    group.copy(call.source, Writable::from(&mut message[..]).part(0, bytes));
    group.combine(&mut message, words, |sums, theirs| {
        let sums = Writable::from(&mut sums[..]).part(0, bytes);
        call.kernel.combine(sums, sums.readable(), content(theirs, bytes), call.n);
    })?;
    group.copy(content(&message, bytes), call.dest);
    Ok(())
}
