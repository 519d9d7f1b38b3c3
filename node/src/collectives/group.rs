//! What an algorithm needs of the PEs it runs on: the seam between the
//! collectives and the words and mappings they run over.
//!
//! [`Reach`] is who takes part, with [`Memory`] where theirs is; [`Group`] adds how they
//! tell each other how far they are. An algorithm is a function over a `Group`, so
//! the same text runs over a team's control words ([`super::epoch_group`]), over words
//! of a client's own (OpenSHMEM's `pSync` arrays), and over threads in the tests.
//!
//! A collective is a sequence of numbered *steps*. A member announces the steps that
//! others depend on, in order, and waits for just those steps of just those members
//! that it depends on: "your source is ready", "you no longer read mine". A published
//! algorithm's message from A to B is here B waiting for A's step, then copying from
//! where the data lies: the same partners, rounds and bytes, and nobody needs to know
//! whether another's dest is ready.

use super::memory::{self, Memory};
use super::range::{Readable, Remote, Writable};
pub use super::sizes::SMALL_WORDS;
use super::words::MOST_WORDS;
use std::ops::Range;

/// A message that every group has room for.
pub type Small = [u64; SMALL_WORDS];

/// Most bytes of a [`Small`].
pub const SMALL_BYTES: usize = SMALL_WORDS * 8;

/// What becomes of a collective in the group `G`.
pub type Outcome<G> = Result<(), <G as Reach>::Stop>;

/// The members of a collective.
pub trait Reach {
    /// Why a collective may end early: for clients who live on when a member has ended, or set
    /// time limits. `Infallible` for one that ends with its peers.
    type Stop;
    /// How their memory is reached.
    type Memory: Memory<Stop = Self::Stop>;

    /// This process's number among the members.
    fn index(&self) -> usize;
    /// Number of members.
    fn size(&self) -> usize;

    /// Their memory.
    fn memory(&self) -> &Self::Memory;

    /// The number that the memory knows a member by.
    #[inline(always)]
    fn number(&self, member: usize) -> usize {
        member
    }

    /// The first member of each node that members are on. Those of a node follow each other.
    fn nodes(&self) -> Vec<usize> {
        vec![0]
    }

    /// The counterpart that `member` has of a range of a source; for this process, the range.
    ///
    /// # Errors
    /// As for [`Memory::peer`].
    #[inline(always)]
    fn source<'m>(
        &self,
        own: Readable<'m>,
        member: usize,
    ) -> Result<Remote<Readable<'m>>, Self::Stop> {
        if member == self.index() {
            return Ok(own.into());
        }
        memory::source(self.memory(), own, self.number(member))
    }

    /// As [`source`](Self::source), of a dest.
    ///
    /// # Errors
    /// As there.
    #[inline(always)]
    fn dest<'m>(
        &self,
        own: Writable<'m>,
        member: usize,
    ) -> Result<Remote<Writable<'m>>, Self::Stop> {
        if member == self.index() {
            return Ok(own.into());
        }
        memory::dest(self.memory(), own, self.number(member))
    }

    /// Copies bytes, as many on both sides: the way all bytes go that an algorithm moves in the
    /// members' memory.
    #[inline(always)]
    fn copy<'f, 't>(
        &self,
        from: impl Into<Remote<Readable<'f>>>,
        to: impl Into<Remote<Writable<'t>>>,
    ) {
        self.memory().copy(from.into(), to.into());
    }
}

/// A [`Reach`] whose members can tell each other how far they are.
pub trait Stepped: Reach {
    /// Opens a collective of at most `steps` steps, a number on which all members
    /// agree, and returns what its step 0 is in their common count.
    fn open(&self, steps: u64) -> u64;

    /// Closes the collective: the words it used can serve the next one.
    ///
    /// # Errors
    /// If a wait for the others ends early.
    fn close(&self) -> Outcome<Self> {
        Ok(())
    }

    /// Tells all members that this process has come to `step`; what it wrote before is
    /// visible to those who wait for that step.
    fn announce(&self, step: u64);

    /// As [`announce`](Self::announce): of the members of other nodes, only these wait for this
    /// step.
    fn announce_to(&self, step: u64, members: impl IntoIterator<Item = usize>) {
        let _ = members;
        self.announce(step);
    }

    /// As [`announce`](Self::announce): no member of another node waits for this step.
    fn announce_near(&self, step: u64) {
        self.announce(step);
    }

    /// Waits until `member` has announced `step`, or a later one.
    ///
    /// # Errors
    /// If the wait ends early.
    fn await_member(&self, step: u64, member: usize) -> Outcome<Self>;

    /// Runs a collective of at most `steps` steps.
    ///
    /// # Errors
    /// Those of `body`, and of [`close`](Self::close).
    fn steps(
        &self,
        steps: usize,
        body: impl FnOnce(&Steps<'_, Self>) -> Outcome<Self>,
    ) -> Outcome<Self>
    where
        Self: Sized,
    {
        let base = self.open(steps as u64);
        body(&Steps { group: self, base })?;
        self.close()
    }
}

/// A [`Stepped`] group with further ways to tell each other things.
pub trait Group: Stepped {
    /// Adds one to what `member` is notified of.
    fn notify(&self, member: usize);

    /// Waits until this process was notified `times` times in this collective. To be called
    /// at most once in each.
    ///
    /// # Errors
    /// If the wait ends early.
    fn await_notifications(&self, times: usize) -> Outcome<Self>;

    /// Most words of a message.
    fn room(&self) -> usize {
        MOST_WORDS
    }

    /// Gives `mine` to every member and hands of every member's message (this process's
    /// included) the words `wanted` to `each`, in the members' order. All members' messages
    /// have the same length. A collective of its own.
    ///
    /// # Errors
    /// If a wait ends early, and those of `each`.
    fn exchange_words(
        &self,
        mine: &[u64],
        wanted: Range<usize>,
        each: impl FnMut(usize, &[u64]) -> Outcome<Self>,
    ) -> Outcome<Self>;

    /// Makes every member's `message` the one of `root`; all have the same length. Nobody waits
    /// for who only reads. A collective of its own.
    ///
    /// # Errors
    /// If a wait ends early.
    fn spread(&self, root: usize, message: &mut [u64]) -> Outcome<Self>;

    /// As [`exchange_words`](Self::exchange_words), of small messages.
    ///
    /// # Errors
    /// As there.
    fn exchange(
        &self,
        mine: &Small,
        mut each: impl FnMut(usize, &Small) -> Outcome<Self>,
    ) -> Outcome<Self> {
        self.exchange_words(mine, 0..SMALL_WORDS, |member, theirs| {
            each(member, &std::array::from_fn(|i| theirs[i]))
        })
    }

    /// Returns when every member has called it, in whichever way these words make the
    /// quickest. A collective of its own.
    ///
    /// # Errors
    /// If the wait ends early.
    fn sync(&self) -> Outcome<Self>;
}

/// A collective that is going on. Steps are numbered from 1.
#[derive(Debug)]
pub struct Steps<'g, G> {
    group: &'g G,
    base: u64,
}

impl<G: Stepped> Steps<'_, G> {
    /// Whose it is.
    pub fn group(&self) -> &G {
        self.group
    }

    /// As [`Stepped::announce`].
    pub fn announce(&self, step: usize) {
        self.group.announce(self.base + step as u64);
    }

    /// As [`Stepped::announce_to`].
    pub fn announce_to(&self, step: usize, members: impl IntoIterator<Item = usize>) {
        self.group.announce_to(self.base + step as u64, members);
    }

    /// As [`Stepped::announce_near`].
    pub fn announce_near(&self, step: usize) {
        self.group.announce_near(self.base + step as u64);
    }

    /// As [`Stepped::await_member`].
    ///
    /// # Errors
    /// As there.
    pub fn await_member(&self, step: usize, member: usize) -> Outcome<G> {
        self.group.await_member(self.base + step as u64, member)
    }

    /// Waits until each of `members` has announced `step`.
    ///
    /// # Errors
    /// As for [`await_member`](Self::await_member).
    pub fn await_each(&self, step: usize, members: impl IntoIterator<Item = usize>) -> Outcome<G> {
        members.into_iter().try_for_each(|member| self.await_member(step, member))
    }

    /// Waits until every member has announced `step`.
    ///
    /// # Errors
    /// As for [`await_member`](Self::await_member).
    pub fn await_all(&self, step: usize) -> Outcome<G> {
        self.await_each(step, 0..self.group.size())
    }
}

/// All members, starting after `index`, so that not everybody reads from the same
/// member at the same time; `index` itself comes last.
pub fn others_first(index: usize, size: usize) -> impl Iterator<Item = usize> {
    (index + 1..size).chain(0..index + 1)
}
