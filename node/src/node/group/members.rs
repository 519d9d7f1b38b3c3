//! The members of a group as seen by its algorithms, and how they wait for each other.
#![allow(unsafe_code)]

use super::super::deadline;
use super::super::wait::CheckTimer;
use super::{Collective, Group, wake};
use crate::config::State;
use crate::error::Error;
use onenode_core::collectives::epoch_group::{Controlled, highest_step};
use onenode_core::collectives::group::Reach;
use onenode_core::collectives::memory::{Buffer, Memory};
use onenode_core::collectives::words::ControlWords;
use onenode_core::counter::Counter;
use onenode_core::pause::{Pause, WaitPolicy, Waiting};
use std::cell::OnceCell;
use std::time::{Duration, Instant};

/// How long a call may wait in total. The time counts from its first wait: a call that need not
/// wait does not read the clock.
pub(super) struct Limit {
    limit: Duration,
    deadline: OnceCell<Option<Instant>>,
}

impl Limit {
    pub fn new(limit: Duration) -> Self {
        Self { limit, deadline: OnceCell::new() }
    }

    /// When the call's waits fail; `None` for never.
    pub fn deadline(&self) -> Option<Instant> {
        *self.deadline.get_or_init(|| deadline(self.limit))
    }
}

/// A group during a call.
#[derive(Clone, Copy)]
pub(super) struct Members<'g> {
    pub group: &'g Group,
    /// `None` for a barrier.
    pub buffers: Option<&'g Collective<'g>>,
    pub limit: &'g Limit,
}

impl Reach for Members<'_> {
    type Stop = Error;
    type Memory = Self;

    #[inline(always)]
    fn index(&self) -> usize {
        self.group.me
    }
    #[inline(always)]
    fn size(&self) -> usize {
        self.group.ranks.len()
    }
    #[inline(always)]
    fn memory(&self) -> &Self {
        self
    }
}

// SAFETY: a view's regions have the same length on all members. The view returns addresses at which
// the members' memory stays mapped while the view lives, and it is borrowed for the call.
unsafe impl Memory for Members<'_> {
    type Stop = Error;

    fn peer(&self, buffer: Buffer, address: usize, member: usize) -> Result<usize, Error> {
        let Some(call) = self.buffers else {
            return Err(Error::argument(buffer.name(), "none", "a buffer"));
        };
        call.view.address(address, self.group.ranks[member], self.limit.deadline())
    }
    fn check(&self, _: Buffer, address: usize, bytes: usize) -> Result<(), Error> {
        self.buffers.map_or(Ok(()), |call| call.view.check(address, bytes))
    }
}

impl Controlled for Members<'_> {
    #[inline(always)]
    fn words(&self, member: usize) -> &ControlWords {
        self.group.words(member)
    }
    #[inline(always)]
    fn await_counter(&self, counter: &Counter, value: u64) -> Result<(), Error> {
        counter.wait(value, |_| {
            Pause::new(ForMembers { members: *self, counter, value, watch: Watch::default() })
        })
    }
    #[cold]
    fn wake(&self, counter: &Counter) {
        wake(counter);
    }
}

/// A wait for a counter of a group.
struct ForMembers<'w> {
    members: Members<'w>,
    counter: &'w Counter,
    value: u64,
    watch: Watch,
}

impl Waiting for ForMembers<'_> {
    type Stop = Error;

    fn policy(&self) -> &WaitPolicy {
        &self.members.group.node.policy
    }

    fn turn(&mut self) -> Result<(), Error> {
        self.members.group.node.turn(self.members.limit.deadline())
    }

    fn look(&mut self, _: Instant) -> Result<(), Error> {
        self.turn()?;
        let group = self.members.group;
        let own = &*group.words(group.me).notifications;
        // Notifications and steps have separate counts.
        let step = if std::ptr::eq(self.counter, own) { u64::MAX } else { self.value };
        self.watch.look(group, step, Some(self.counter), || self.counter.get() >= self.value)
    }
}

/// Checks now and then whether members are still there.
#[derive(Default)]
pub(super) struct Watch {
    timer: Option<CheckTimer>,
}

impl Watch {
    /// Returns an error if a member is gone that did not reach `step`, or did not raise the counter
    /// `awaited` from it. No error if what the wait is for has `come` in the meantime.
    pub fn look(
        &mut self,
        group: &Group,
        step: u64,
        awaited: Option<&Counter>,
        come: impl Fn() -> bool,
    ) -> Result<(), Error> {
        if !self.timer.get_or_insert_with(CheckTimer::later).is_due() {
            return Ok(());
        }
        // The member's other words may show the step: a member that has met all others may not have
        // read anything since.
        let is_behind = |words: &ControlWords| {
            highest_step(words) < step || awaited.is_some_and(|counter| holds(words, counter))
        };
        for (member, rank) in group.ranks.iter().enumerate().filter(|(m, _)| *m != group.me) {
            let found = group.found[member].as_ref();
            let words = found.map(|_| group.words(member));
            if words.is_some_and(|words| !is_behind(words)) {
                continue;
            }
            let left_group = || found.is_some_and(|found| found.has_left(group.name));
            let gone = match group.node.state(*rank) {
                State::Dead => Error::Died { rank: *rank },
                State::Left => Error::Left { rank: *rank },
                _ if left_group() => Error::Left { rank: *rank },
                _ => continue,
            };
            // The member may have reached the step before it went.
            if !come() && words.is_none_or(is_behind) {
                return Err(gone);
            }
        }
        Ok(())
    }
}

/// Whether a counter is among these words.
fn holds(words: &ControlWords, counter: &Counter) -> bool {
    let start = std::ptr::from_ref(words).addr();
    (start..start + size_of_val(words)).contains(&std::ptr::from_ref(counter).addr())
}
