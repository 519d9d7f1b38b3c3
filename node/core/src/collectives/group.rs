//! The PEs that an algorithm runs on: the interface between the collectives and the
//! words and mappings they run over.
//!
//! [`Reach`] lists the members and gives access to their [`Memory`]; [`CollectiveGroup`] adds the means to
//! report how far they are. An algorithm is a function over a `CollectiveGroup`, so the same code runs over a
//! team's control words ([`super::epoch_group`]), over a client's own words (OpenSHMEM's `pSync`
//! arrays), and over threads in the tests.
//!
//! A collective is a sequence of numbered *steps*. A member announces, in order, the steps that
//! others depend on, and waits only for the steps and members that it depends on: "your source is
//! ready", "you no longer read mine". A published algorithm's message from A to B becomes B waiting
//! for A's step, then copying the data from where it lies: the same partners, rounds and bytes, and
//! nobody needs to know whether another's dest is ready.

use super::memory::{self, Memory};
use super::range::{Readable, Remote, Writable};
pub use super::sizes::SMALL_WORDS;
pub use super::words::FEW_WORDS;
use super::words::MOST_WORDS;
use std::ops::Range;

/// A message that every group has room for.
pub type Small = [u64; SMALL_WORDS];

/// The words of a result that one member can publish for all.
pub type Few = [u64; FEW_WORDS];

/// The result of a collective in the group `G`.
pub type Outcome<G> = Result<(), <G as Reach>::Stop>;

/// The members of a collective.
pub trait Reach {
    /// Why a collective may end early, for clients that outlive a member or set time limits.
    /// `Infallible` for a client that ends with its peers.
    type Stop;
    /// How their memory is reached.
    type Memory: Memory<Stop = Self::Stop>;

    /// This process's number among the members.
    fn index(&self) -> usize;
    /// Number of members.
    fn size(&self) -> usize;

    /// The members' memory.
    fn memory(&self) -> &Self::Memory;

    /// The number by which the memory knows a member.
    #[inline(always)]
    fn number(&self, member: usize) -> usize {
        member
    }

    /// The first member of each node that has members. Members of one node are consecutive.
    fn nodes(&self) -> Vec<usize> {
        vec![0]
    }

    /// How many consecutive members share a cache, if the group knows: the same number at all
    /// members.
    fn neighbours(&self) -> Option<usize> {
        None
    }

    /// `member`'s counterpart of a range of a source. For this process, the range itself.
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

    /// As [`source`](Self::source), for a dest.
    ///
    /// # Errors
    /// As for [`Memory::peer`].
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

    /// Copies bytes; both sides have the same length. Algorithms move all bytes in the members'
    /// memory through this function.
    #[inline(always)]
    fn copy<'f, 't>(
        &self,
        from: impl Into<Remote<Readable<'f>>>,
        to: impl Into<Remote<Writable<'t>>>,
    ) {
        self.copy_of_many(from, to, 0);
    }

    /// As [`copy`](Self::copy), in a collective whose copies take `together` bytes of memory, of all
    /// members' sources and dests: more than the caches hold, perhaps.
    #[inline(always)]
    fn copy_of_many<'f, 't>(
        &self,
        from: impl Into<Remote<Readable<'f>>>,
        to: impl Into<Remote<Writable<'t>>>,
        together: usize,
    ) {
        self.memory().copy(from.into(), to.into(), together);
    }
}

/// A [`Reach`] whose members can report to each other how far they are.
pub trait Stepped: Reach {
    /// Opens a collective of at most `steps` steps, a number on which all members agree, and
    /// returns the number of its step 0 in their common count.
    fn open(&self, steps: u64) -> u64;

    /// Closes the collective, so that the next one can use its words.
    ///
    /// # Errors
    /// If a wait for the others ends early.
    fn close(&self) -> Outcome<Self> {
        Ok(())
    }

    /// Announces to all members that this process has reached `step`. What it wrote before is
    /// visible to members that wait for that step.
    fn announce(&self, step: u64);

    /// As [`announce`](Self::announce), but of the members on other nodes only `members` wait for
    /// this step.
    fn announce_to(&self, step: u64, members: impl IntoIterator<Item = usize>) {
        let _ = members;
        self.announce(step);
    }

    /// As [`announce`](Self::announce), but no member on another node waits for this step.
    fn announce_near(&self, step: u64) {
        self.announce(step);
    }

    /// Waits until `member` has announced `step` or a later one.
    ///
    /// # Errors
    /// If the wait ends early.
    fn await_member(&self, step: u64, member: usize) -> Outcome<Self>;

    /// Announces the last step of the collective, and waits until all members have. A group whose
    /// [`close`](Self::close) waits for all members leaves it to that, so only what is after `close` may
    /// rely on it.
    ///
    /// # Errors
    /// If the wait ends early.
    fn finish(&self, step: u64) -> Outcome<Self> {
        self.announce(step);
        (0..self.size()).try_for_each(|member| self.await_member(step, member))
    }

    /// Whether messages can be [sent](Self::send) to members on other nodes.
    fn sends(&self) -> bool {
        false
    }

    /// As [`announce_to`](Self::announce_to) to one member on another node, with a message, which
    /// the member [receives](Self::receive). For groups that [send](Self::sends), with one member
    /// per node; [`sent`](super::sent) says how long the message may be. Waits for room.
    ///
    /// # Errors
    /// If the wait ends early.
    fn send(&self, step: u64, member: usize, message: &[u64]) -> Outcome<Self> {
        let _ = message;
        self.announce_to(step, [member]);
        Ok(())
    }

    /// Announces `step` to members on this node, and to `member`, which has sent a message, if it may wait for that.
    fn answer(&self, step: u64, member: usize) {
        self.announce_to(step, [member]);
    }

    /// Waits for the message that `member` sends with `step`, and copies it to `message`.
    ///
    /// # Errors
    /// If the wait ends early.
    fn receive(&self, step: u64, member: usize, message: &mut [u64]) -> Outcome<Self> {
        let _ = message;
        self.await_member(step, member)
    }

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

/// A [`Stepped`] group with further means of communication.
pub trait CollectiveGroup: Stepped {
    /// Adds one to `member`'s notifications.
    fn notify(&self, member: usize);

    /// Waits until this process has been notified `times` times in this collective. Must be called
    /// at most once per collective.
    ///
    /// # Errors
    /// If the wait ends early.
    fn await_notifications(&self, times: usize) -> Outcome<Self>;

    /// Most words of a message.
    fn room(&self) -> usize {
        MOST_WORDS
    }

    /// Sends `mine` to every member and passes the words `wanted` of each member's message (this
    /// process's included) to `each`, in the members' order. All messages have the same length. A
    /// collective of its own.
    ///
    /// # Errors
    /// If a wait ends early, and those of `each`.
    fn exchange_words(
        &self,
        mine: &[u64],
        wanted: Range<usize>,
        each: impl FnMut(usize, &[u64]) -> Outcome<Self>,
    ) -> Outcome<Self>;

    /// Combines the first `words` words of every member's message, in the members' order, into every
    /// member's `message`. `combine` combines the first member's words, as far as they are combined,
    /// with the next one's. The first member that has combined all publishes the result, and the
    /// others need not combine the rest. A collective of its own.
    ///
    /// # Errors
    /// If a wait ends early.
    fn combine(
        &self,
        message: &mut Few,
        words: usize,
        mut combine: impl FnMut(&mut Few, &Few),
    ) -> Outcome<Self> {
        let (mut sums, mut next) = ([0; FEW_WORDS], [0; FEW_WORDS]);
        self.exchange_words(&message[..words], 0..words, |member, theirs| {
            next[..words].copy_from_slice(theirs);
            if member == 0 {
                sums = next
            } else {
                combine(&mut sums, &next)
            }
            Ok(())
        })?;
        *message = sums;
        Ok(())
    }

    /// Copies `root`'s `message` to every member's, of the same length. Nobody waits for members
    /// that only read. A collective of its own.
    ///
    /// # Errors
    /// If a wait ends early.
    fn spread(&self, root: usize, message: &mut [u64]) -> Outcome<Self>;

    /// As [`exchange_words`](Self::exchange_words), for small messages.
    ///
    /// # Errors
    /// As for [`exchange_words`](Self::exchange_words).
    fn exchange(
        &self,
        mine: &Small,
        mut each: impl FnMut(usize, &Small) -> Outcome<Self>,
    ) -> Outcome<Self> {
        self.exchange_words(mine, 0..SMALL_WORDS, |member, theirs| {
            each(member, &std::array::from_fn(|i| theirs[i]))
        })
    }

    /// Returns when every member has called it, by the quickest method for these words. A
    /// collective of its own.
    ///
    /// # Errors
    /// If the wait ends early.
    fn sync(&self) -> Outcome<Self>;

    /// As [`sync`](Self::sync), but the first member that finds all here says so in one word, and
    /// the others need not look at the words of all.
    ///
    /// # Errors
    /// As for [`sync`](Self::sync).
    fn sync_by_one_word(&self) -> Outcome<Self> {
        self.sync()
    }
}

/// A collective in progress. Steps are numbered from 1.
#[derive(Debug)]
pub struct Steps<'g, G> {
    group: &'g G,
    base: u64,
}

impl<G: Stepped> Steps<'_, G> {
    /// The group that runs it.
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
    /// As for [`Stepped::await_member`].
    pub fn await_member(&self, step: usize, member: usize) -> Outcome<G> {
        self.group.await_member(self.base + step as u64, member)
    }

    /// As [`Stepped::send`].
    ///
    /// # Errors
    /// As for [`Stepped::send`].
    pub fn send(&self, step: usize, member: usize, message: &[u64]) -> Outcome<G> {
        self.group.send(self.base + step as u64, member, message)
    }

    /// As [`Stepped::answer`].
    pub fn answer(&self, step: usize, member: usize) {
        self.group.answer(self.base + step as u64, member);
    }

    /// As [`Stepped::receive`].
    ///
    /// # Errors
    /// As for [`Stepped::receive`].
    pub fn receive(&self, step: usize, member: usize, message: &mut [u64]) -> Outcome<G> {
        self.group.receive(self.base + step as u64, member, message)
    }

    /// Waits until each of `members` has announced `step`.
    ///
    /// # Errors
    /// As for [`await_member`](Self::await_member).
    pub fn await_each(&self, step: usize, members: impl IntoIterator<Item = usize>) -> Outcome<G> {
        members.into_iter().try_for_each(|member| self.await_member(step, member))
    }

    /// As [`Stepped::finish`].
    ///
    /// # Errors
    /// As for [`Stepped::finish`].
    pub fn finish(&self, step: usize) -> Outcome<G> {
        self.group.finish(self.base + step as u64)
    }
}

/// All members, starting after `index` and ending with it, so that not everybody reads from the
/// same member at the same time.
pub fn others_first(index: usize, size: usize) -> impl Iterator<Item = usize> {
    (index + 1..size).chain(0..index + 1)
}
