//! How a node waits for its peers: it calls the client's progress function, knows the time, and
//! looks whether the peer is still there.

use super::{Inner, Node, deadline};
use crate::Rank;
use crate::atomics::{AtomicU64, Ordering};
use crate::config::{Crowd, State};
use crate::error::Error;
use crate::pause::{Habits, Pause, Waiting};
use std::time::{Duration, Instant};

/// How often a wait looks for its peers' signs of life.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);

/// When a wait looked for its peers' signs of life last.
#[derive(Default)]
pub(super) struct Looks(Option<Instant>);

impl Looks {
    /// A wait that looks for the first time after [`INTERVAL`].
    pub fn later() -> Self {
        Self(Some(Instant::now()))
    }

    /// Whether it is time to look; the next time is [`INTERVAL`] later.
    pub fn are_due(&mut self) -> bool {
        let now = Instant::now();
        let due = self.0.is_none_or(|at| now - at >= INTERVAL);
        if due {
            self.0 = Some(now);
        }
        due
    }
}

/// One wait for a peer.
pub(crate) struct ForPeer<'n> {
    node: &'n Inner,
    rank: Rank,
    /// When the wait fails; `None`: never.
    deadline: Option<Instant>,
    looks: Looks,
}

impl<'n> ForPeer<'n> {
    pub fn new(node: &'n Inner, rank: Rank, deadline: Option<Instant>) -> Self {
        Self { node, rank, deadline, looks: Looks::default() }
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
        if !self.looks.are_due() {
            return Ok(());
        }
        match self.node.state(self.rank) {
            State::Dead => Err(Error::Died { rank: self.rank }),
            State::Left => Err(Error::Left { rank: self.rank }),
            _ => Ok(()),
        }
    }
}

impl Node {
    /// Waits until a word of this process's memory is `ready`. What the writer wrote before can be
    /// read then. If `from` is the rank that is to write it, the wait ends when that one is gone.
    ///
    /// # Errors
    /// [`Error::Argument`] for an address that is no multiple of 8; [`Error::Time`],
    /// [`Error::Died`], [`Error::Left`], or what the progress function says.
    ///
    /// # Safety
    /// `own` is a word that can be read, and others write it by atomic operations of this size
    /// only.
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
        // SAFETY: the caller's promise; aligned, as was just seen.
        let word = unsafe { AtomicU64::from_ptr(own.cast_mut()) };
        let is_ready = || ready(word.load(Ordering::Acquire));
        if is_ready() {
            return Ok(());
        }
        // A rank always finds itself alive.
        let own_rank = self.0.rank.unwrap_or(Rank::MAX);
        let for_peer = ForPeer::new(&self.0, from.unwrap_or(own_rank), deadline(limit));
        let mut pause = Pause::new(for_peer);
        while !is_ready() {
            if let Err(error) = pause.step() {
                // It may have written the word, and gone, since.
                return if is_ready() { Ok(()) } else { Err(error) };
            }
        }
        Ok(())
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
