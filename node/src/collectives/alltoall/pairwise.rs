//! All-to-all in rounds: in each round a member has one partner, whom a schedule names.
//! `size - 1` rounds or one more; each member moves `size` blocks.

use super::Alltoall;
use crate::collectives::group::{Group, Outcome};

/// Who copies from whom.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Number of rounds among so many members.
    pub rounds: fn(usize) -> usize,
    /// The member that one copies from, by round, own number and number of members; none
    /// if it has to sit the round out. In all rounds together: every other one.
    pub partner: fn(usize, usize, usize) -> Option<usize>,
}

/// How a member learns that its source has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// All wait for all at the end.
    Barrier,
    /// Who has read a source counts itself at its owner, who waits for the count.
    Counter,
}

const READY: usize = 1;
const COPIED: usize = 2;

/// Carries it out.
pub fn run<G: Group>(
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
            Completion::Counter => group.await_notifications(size - 1)?,
            Completion::Barrier => {
                steps.announce(COPIED);
                steps.await_all(COPIED)?;
            }
        }
        Ok(())
    })
}

/// For the tests of schedules: in the rounds together everyone meets everyone once, and
/// in each round nobody is read by two.
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
