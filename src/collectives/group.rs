//! What an algorithm needs of the PEs it runs on: the seam between the
//! collectives and the words and mappings they run over.
//!
//! [`Reach`] is who takes part and where their memory is; [`Group`] adds how they
//! tell each other how far they are. An algorithm is a function over a `Group`, so
//! the same text runs over a team's control words ([`super::epochs`]), over a
//! user's `pSync` array ([`super::psync`]), and over threads in the tests.
//!
//! A collective is a sequence of *steps*. Every member announces the same number
//! of steps in each collective, and waits for just those steps of just those
//! members that it depends on: "your source is ready", "you no longer read mine".
#![allow(unsafe_code)]

use crate::job::words::SMALL_WORDS;

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
    /// Returns as soon as `ready` does say so.
    fn wait_until(&self, ready: impl FnMut() -> bool);
}

/// A [`Reach`] whose members can tell each other how far they are.
pub trait Group: Reach {
    /// A point in the members' common sequence of steps.
    type Step: Copy;

    /// Tells all members that this PE has come to its next step; what it wrote
    /// before is visible to those who wait for that step.
    fn announce(&self) -> Self::Step;

    /// Waits until `member` has announced `step`.
    fn await_member(&self, step: Self::Step, member: usize);

    /// Waits until every member has announced `step`.
    fn await_all(&self, step: Self::Step) {
        for member in 0..self.size() {
            self.await_member(step, member);
        }
    }

    /// Gives `mine` to every member and hands every member's message (this PE's
    /// included) to `each`, in the members' order.
    fn exchange(&self, mine: &Small, each: impl FnMut(usize, &Small));

    /// Returns when every member has called it.
    fn sync(&self) {
        let here = self.announce();
        self.await_all(here);
    }

    /// Copies `bytes` bytes from `offset` of `member`'s `source` to this PE's `to`.
    ///
    /// # Safety
    /// `member` has announced that its source is ready and waits before it reuses
    /// it; `to` is writable for `bytes` bytes and does not overlap the source.
    unsafe fn copy_from(
        &self,
        member: usize,
        source: *const u8,
        offset: usize,
        to: *mut u8,
        bytes: usize,
    ) {
        if bytes == 0 {
            return;
        }
        let from = if member == self.index() {
            source
        } else {
            self.peer("source", source as usize, member) as *const u8
        };
        // SAFETY: the caller's promise; `peer` gives a mapped address.
        unsafe { std::ptr::copy_nonoverlapping(from.add(offset), to, bytes) }
    }
}

/// All members, starting after `index`, so that not everybody reads from the same
/// member at the same time; `index` itself comes last.
pub fn others_first(index: usize, size: usize) -> impl Iterator<Item = usize> {
    (index + 1..size).chain(0..index + 1)
}
