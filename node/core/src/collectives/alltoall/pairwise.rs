//! All-to-all in rounds: in each round a member has one partner, given by a schedule. `size - 1`
//! rounds or one more; each member moves `size` blocks.

use super::Alltoall;
use crate::collectives::group::{CollectiveGroup, Outcome};

/// Which member copies from which.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// The number of rounds, by number of members.
    pub rounds: fn(usize) -> usize,
    /// The member to copy from, by round, own number and number of members; `None` to sit the round
    /// out. Over all rounds, that is every other member once.
    pub partner: fn(usize, usize, usize) -> Option<usize>,
}

/// How a member learns that its source has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// All members wait for all at the end.
    Barrier,
    /// Each reader notifies the owner of the source, which waits for the count.
    Counter,
}

const READY: usize = 1;
const COPIED: usize = 2;

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(
    group: &G,
    call: Alltoall<'_>,
    schedule: Schedule,
    completion: Completion,
) -> Outcome<G> {
    let (me, size) = (group.index(), group.size());
    group.steps(COPIED, |steps| {
        steps.announce(READY);
        call.take(group, me)?;
        for round in 0..(schedule.rounds)(size) {
            let Some(partner) = (schedule.partner)(round, me, size) else { continue };
            steps.await_member(READY, partner)?;
            call.take(group, partner)?; // Which waits below until this PE has read.
            if completion == Completion::Counter {
                group.notify(partner);
            }
        }
        match completion {
            Completion::Counter => group.await_notifications(size - 1),
            Completion::Barrier => steps.finish(COPIED),
        }
    })
}

/// Checks a schedule: over all rounds everyone meets everyone once, and in each round nobody is
/// read by two members.
#[cfg(test)]
pub(super) fn check(schedule: Schedule, size: usize) {
    for me in 0..size {
        let mut met: Vec<_> = (0..(schedule.rounds)(size))
            .filter_map(|round| (schedule.partner)(round, me, size))
            .collect();
        met.sort_unstable();
        let others: Vec<_> = (0..size).filter(|member| *member != me).collect();
        assert_eq!(met, others, "member {me} of {size}");
    }
    for round in 0..(schedule.rounds)(size) {
        let mut read: Vec<_> =
            (0..size).filter_map(|me| (schedule.partner)(round, me, size)).collect();
        let n = read.len();
        read.sort_unstable();
        read.dedup();
        assert_eq!(read.len(), n, "two read one in round {round} of {size}");
    }
}
