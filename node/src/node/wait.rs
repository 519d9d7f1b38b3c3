//! How a node waits for its peers: it calls the client's progress function, checks the time limit,
//! and checks whether the peer is still there.
#![allow(unsafe_code)]

use super::{Inner, Node, deadline};
use crate::Rank;
use crate::config::{Crowd, State};
use crate::error::Error;
use onenode_core::atomics::{AtomicU64, Ordering};
use onenode_core::pause::{Pause, Share, WaitPolicy, Waiting};
use std::time::{Duration, Instant};

/// How often a wait checks its peers' signs of life.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);

/// When a wait last checked its peers' signs of life.
#[derive(Default)]
pub(super) struct CheckTimer(Option<Instant>);

impl CheckTimer {
    /// For a wait whose first check is due after [`INTERVAL`].
    pub fn later() -> Self {
        Self(Some(Instant::now()))
    }

    /// Whether a check is due. If so, the next one is due [`INTERVAL`] later.
    pub fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let due = self.0.is_none_or(|at| now - at >= INTERVAL);
        if due {
            self.0 = Some(now);
        }
        due
    }
}

/// One wait for peers.
pub(crate) struct ForPeers<'n, C> {
    node: &'n Inner,
    /// When the wait fails; `None` for never.
    deadline: Option<Instant>,
    timer: CheckTimer,
    /// Checks that the peers are still there.
    check: C,
}

impl<C: Fn() -> Result<(), Error>> Waiting for ForPeers<'_, C> {
    type Stop = Error;

    fn policy(&self) -> &WaitPolicy {
        &self.node.policy
    }

    fn turn(&mut self) -> Result<(), Error> {
        self.node.turn(self.deadline)
    }

    fn look(&mut self, _: Instant) -> Result<(), Error> {
        self.turn()?;
        if !self.timer.is_due() {
            return Ok(());
        }
        (self.check)()
    }
}

impl Inner {
    /// Begins a wait that fails at `deadline`, if any, or when `check` does.
    pub(super) fn wait<C: Fn() -> Result<(), Error>>(
        &self,
        deadline: Option<Instant>,
        check: C,
    ) -> Pause<ForPeers<'_, C>> {
        Pause::new(ForPeers { node: self, deadline, timer: CheckTimer::default(), check })
    }

    /// Begins a wait for one peer.
    pub(super) fn wait_for(
        &self,
        rank: Rank,
        deadline: Option<Instant>,
    ) -> Pause<ForPeers<'_, impl Fn() -> Result<(), Error>>> {
        self.wait(deadline, move || match self.state(rank) {
            State::Dead => Err(Error::Died { rank }),
            State::Left => Err(Error::Left { rank }),
            _ => Ok(()),
        })
    }
}

impl Node {
    /// Waits until a word of this process's memory is `ready`. The writer's earlier writes are then
    /// visible. If `from` names the rank that will write the word, the wait ends when that rank is
    /// gone.
    ///
    /// # Errors
    /// [`Error::Argument`] if the address is null or not a multiple of 8; [`Error::Time`],
    /// [`Error::Died`], [`Error::Left`], or an error of the progress function.
    ///
    /// # Safety
    /// `own` is a readable word. Others write it only by atomic operations of this size.
    pub unsafe fn wait(
        &self,
        own: *const u64,
        ready: impl Fn(u64) -> bool,
        from: Option<Rank>,
        limit: Duration,
    ) -> Result<(), Error> {
        self.0.check()?;
        if own.is_null() || !own.is_aligned() {
            return Err(Error::argument("own", format!("{own:p}"), "a multiple of 8, not 0"));
        }
        // SAFETY: checked not to be null, and aligned. The caller guarantees that it is readable
        // and that others write it only by atomic operations.
        let word = unsafe { AtomicU64::from_ptr(own.cast_mut()) };
        let is_ready = || ready(word.load(Ordering::Acquire));
        if is_ready() {
            return Ok(());
        }
        // A rank always finds itself alive.
        let own_rank = self.0.rank.unwrap_or(Rank::MAX);
        let mut pause = self.0.wait_for(from.unwrap_or(own_rank), deadline(limit));
        while !is_ready() {
            if let Err(error) = pause.step() {
                // The writer may have written the word before it went.
                return if is_ready() { Ok(()) } else { Err(error) };
            }
        }
        Ok(())
    }
}

impl Inner {
    /// Configures waiting for a node that knows this many ranks, including its own.
    pub(super) fn settle(&self, ranks: usize) {
        /// Up to here, the number of ranks does not matter.
        const FEW: usize = 64;
        let share = match self.crowd {
            Crowd::FindOut => Share::of(ranks, self.cpus),
            Crowd::Shared => Share::Part,
            Crowd::Alone => Share::Whole,
        };
        self.policy.set(share, true, ranks.div_ceil(FEW) as u32);
    }

    /// One turn of a wait: calls the client's progress function and checks the deadline.
    pub(crate) fn turn(&self, deadline: Option<Instant>) -> Result<(), Error> {
        if let Some(progress) = &self.progress {
            progress()?;
        }
        match deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Error::Time),
            _ => Ok(()),
        }
    }
}
