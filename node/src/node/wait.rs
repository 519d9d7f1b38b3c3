//! How a node waits for its peers: it calls the client's progress function, knows the time, and
//! looks whether the peer is still there.

use super::Inner;
use crate::Rank;
use crate::config::{Crowd, State};
use crate::error::Error;
use crate::pause::{Habits, Waiting};
use std::time::{Duration, Instant};

/// How often a wait looks for a peer's sign of life.
pub(super) const LOOKS: Duration = Duration::from_millis(100);

/// One wait for a peer.
pub(crate) struct ForPeer<'n> {
    node: &'n Inner,
    rank: Rank,
    /// When the wait fails; `None`: never.
    deadline: Option<Instant>,
    looked: Option<Instant>,
}

impl<'n> ForPeer<'n> {
    pub fn new(node: &'n Inner, rank: Rank, deadline: Option<Instant>) -> Self {
        Self { node, rank, deadline, looked: None }
    }
}

impl Waiting for ForPeer<'_> {
    type Stop = Error;

    fn habits(&self) -> &Habits {
        &self.node.habits
    }

    fn turn(&mut self) -> Result<(), Error> {
        self.node.turn(self.deadline)
    }

    fn look(&mut self, _: Instant) -> Result<(), Error> {
        self.turn()?;
        let now = Instant::now();
        if self.looked.is_some_and(|at| now - at < LOOKS) {
            return Ok(());
        }
        self.looked = Some(now);
        match self.node.state(self.rank) {
            State::Dead => Err(Error::Died { rank: self.rank }),
            State::Left => Err(Error::Left { rank: self.rank }),
            _ => Ok(()),
        }
    }
}

impl Inner {
    /// Sets how this node waits, which knows of so many ranks, its own included.
    pub(super) fn settle(&self, ranks: usize) {
        /// Up to here the number of ranks does not matter.
        const FEW: usize = 64;
        let shared = match self.crowd {
            Crowd::FindOut => ranks > self.cpus,
            Crowd::Shared => true,
            Crowd::Alone => false,
        };
        self.habits.set(shared, true, ranks.div_ceil(FEW) as u32);
    }

    /// What each turn of a wait does: the client's progress, and a look at the clock.
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
