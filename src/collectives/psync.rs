//! A [`Group`] over the user's `pSync` array (specification, 9.9 of 1.4: active
//! sets). An active set has no control words of its own: any subset of the PEs can
//! be one at any time, and all that its members share is a symmetric array of
//! `long` that holds `SHMEM_SYNC_VALUE` before and after each call.
//!
//! ```text
//!             ARRIVED  RELEASED  MESSAGE...
//!  member 0   [ n-1 ]  [  0  ]   [      ]      members count themselves in here;
//!  member 1   [  0  ]  [ 0/1 ]   [      ]      member 0 clears the count, then
//!  member 2   [  0  ]  [ 0/1 ]   [      ]      releases each member at its own word
//! ```
//!
//! Every step is this whole barrier. Member 0 clears the count before it releases
//! anyone, and a member clears its word before it counts itself in again, so the
//! array may be used again at once and is as it was when a call returns.

use super::group::{Group, Reach, SMALL_BYTES, Small};
use crate::atomics::{AtomicU64, Ordering};

const ARRIVED: usize = 0;
const RELEASED: usize = 1;
const MESSAGE: usize = 2;

/// Elements of a `pSync` array that are ever touched by a barrier.
pub const BARRIER_WORDS: usize = MESSAGE;
/// Elements of a `pSync` array that are ever touched by any collective.
pub const MOST_WORDS: usize = MESSAGE + SMALL_BYTES / 8;

/// A [`Reach`] with a `pSync` array.
pub trait SyncArray: Reach {
    /// Element `element` of `member`'s array.
    fn word(&self, member: usize, element: usize) -> &AtomicU64;
}

/// An active set in a collective.
#[derive(Debug)]
pub struct PSync<A>(pub A);

impl<A: SyncArray> Reach for PSync<A> {
    fn index(&self) -> usize {
        self.0.index()
    }
    fn size(&self) -> usize {
        self.0.size()
    }
    fn peer(&self, argument: &'static str, address: usize, member: usize) -> usize {
        self.0.peer(argument, address, member)
    }
    fn wait_until(&self, ready: impl FnMut() -> bool) {
        self.0.wait_until(ready)
    }
}

impl<A: SyncArray> Group for PSync<A> {
    /// A step is over for all members when it is over for one.
    type Step = ();

    fn announce(&self) {
        let (me, size) = (self.index(), self.size());
        let arrived = self.0.word(0, ARRIVED);
        if me == 0 {
            self.wait_until(|| arrived.load(Ordering::Acquire) == size as u64 - 1);
            arrived.store(0, Ordering::Relaxed);
            for member in 1..size {
                self.0.word(member, RELEASED).store(1, Ordering::Release);
            }
        } else {
            let released = self.0.word(me, RELEASED);
            arrived.fetch_add(1, Ordering::AcqRel);
            self.wait_until(|| released.load(Ordering::Acquire) == 1);
            released.store(0, Ordering::Relaxed);
        }
    }

    fn await_member(&self, (): (), _member: usize) {}

    fn exchange(&self, mine: &Small, mut each: impl FnMut(usize, &Small)) {
        let own = |element| self.0.word(self.index(), MESSAGE + element);
        for (element, value) in mine.iter().enumerate() {
            own(element).store(*value, Ordering::Relaxed);
        }
        self.announce();
        for member in 0..self.size() {
            let word = |i| self.0.word(member, MESSAGE + i).load(Ordering::Relaxed);
            each(member, &std::array::from_fn(word));
        }
        self.announce();
        for element in 0..mine.len() {
            own(element).store(0, Ordering::Relaxed);
        }
    }
}
