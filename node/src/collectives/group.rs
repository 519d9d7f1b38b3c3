//! What an algorithm needs of the PEs it runs on: the seam between the
//! collectives and the words and mappings they run over.
//!
//! [`Reach`] is who takes part and where their memory is; [`Group`] adds how they
//! tell each other how far they are. An algorithm is a function over a `Group`, so
//! the same text runs over a team's control words ([`super::epochs`]), over a
//! user's `pSync` array ([`super::psync`]), and over threads in the tests.
//!
//! A collective is a sequence of numbered *steps*. A member announces the steps that
//! others depend on, in order, and waits for just those steps of just those members
//! that it depends on: "your source is ready", "you no longer read mine". A published
//! algorithm's message from A to B is here B waiting for A's step, then copying from
//! where the data lies: the same partners, rounds and bytes, and nobody needs to know
//! whether another's dest is ready.
#![allow(unsafe_code)]

use crate::collectives::words::SMALL_WORDS;

/// A message small enough to travel beside a control word.
pub type Small = [u64; SMALL_WORDS];

/// Most bytes of a [`Small`].
pub const SMALL_BYTES: usize = SMALL_WORDS * 8;

/// The members of a collective, and their memory as this process sees it.
pub trait Reach {
    /// This PE's number among the members.
    fn index(&self) -> usize;
    /// Number of members.
    fn size(&self) -> usize;
    /// Where the copy of the symmetric `address` that `member` owns is mapped here.
    /// `argument` names the address in messages.
    fn peer(&self, argument: &'static str, address: usize, member: usize) -> usize;

    /// Ends the job unless `bytes` bytes from the symmetric `address` on are in one segment.
    fn check(&self, argument: &'static str, address: usize, bytes: usize);

    /// Copies bytes: the way all bytes go that an algorithm moves in the members' memory.
    ///
    /// # Safety
    /// `from` is readable and `to` writable for `bytes` bytes; they do not overlap.
    unsafe fn copy(&self, from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
    }

    /// Notes that an algorithm has read so many bytes of the members' memory where they lie.
    fn read(&self, _bytes: usize) {}

    /// Where `member`'s copy of `array` is, as a pointer.
    fn of(&self, argument: &'static str, array: *const u8, member: usize) -> *const u8 {
        if member == self.index() {
            array
        } else {
            self.peer(argument, array as usize, member) as *const u8
        }
    }
}

/// A [`Reach`] whose members can tell each other how far they are.
pub trait Group: Reach {
    /// Opens a collective of at most `steps` steps, a number on which all members
    /// agree, and returns what its step 0 is in their common count.
    fn open(&self, steps: u64) -> u64;

    /// Closes the collective: the words it used can serve the next one.
    fn close(&self) {}

    /// Tells all members that this PE has come to `step`; what it wrote before is
    /// visible to those who wait for that step.
    fn announce(&self, step: u64);

    /// Waits until `member` has announced `step`, or a later one.
    fn await_member(&self, step: u64, member: usize);

    /// Tells `member` something, once.
    fn tell(&self, member: usize);

    /// Waits until this PE has been told `times` times in this collective. To be called
    /// at most once in each.
    fn await_told(&self, times: usize);

    /// Gives `mine` to every member and hands every member's message (this PE's
    /// included) to `each`, in the members' order. A collective of its own.
    fn exchange(&self, mine: &Small, each: impl FnMut(usize, &Small));

    /// Returns when every member has called it, in whichever way these words make the
    /// quickest. A collective of its own.
    fn sync(&self);

    /// Runs a collective of at most `steps` steps.
    fn steps(&self, steps: usize, body: impl FnOnce(&Steps<'_, Self>))
    where
        Self: Sized,
    {
        let base = self.open(steps as u64);
        body(&Steps { group: self, base });
        self.close();
    }
}

/// A collective that is going on. Steps are numbered from 1.
#[derive(Debug)]
pub struct Steps<'g, G> {
    group: &'g G,
    base: u64,
}

impl<G: Group> Steps<'_, G> {
    /// As [`Group::announce`].
    pub fn announce(&self, step: usize) {
        self.group.announce(self.base + step as u64);
    }

    /// As [`Group::await_member`].
    pub fn await_member(&self, step: usize, member: usize) {
        self.group.await_member(self.base + step as u64, member);
    }

    /// Waits until each of `members` has announced `step`.
    pub fn await_each(&self, step: usize, members: impl IntoIterator<Item = usize>) {
        members.into_iter().for_each(|member| self.await_member(step, member));
    }

    /// Waits until every member has announced `step`.
    pub fn await_all(&self, step: usize) {
        self.await_each(step, 0..self.group.size());
    }
}

/// All members, starting after `index`, so that not everybody reads from the same
/// member at the same time; `index` itself comes last.
pub fn others_first(index: usize, size: usize) -> impl Iterator<Item = usize> {
    (index + 1..size).chain(0..index + 1)
}
