//! A [`CollectiveGroup`] over the user's `pSync` array (specification, 9.9 of 1.4: active sets). An active
//! set has no control words of its own: any subset of the PEs can be one at any time, and its
//! members share only a symmetric array of `long` that holds `SHMEM_SYNC_VALUE` before and after
//! each call.
//!
//! ```text
//!             ARRIVED  RELEASED  STEP   NOTIFIC.  MESSAGE...
//!  member 0   [  n  ]  [ 0/1 ]   [  ]   [  ]   [      ]   members count themselves in here;
//!  member 1   [  0  ]  [ 0/1 ]   [  ]   [  ]   [      ]   the last one clears the count, then
//!  member 2   [  0  ]  [ 0/1 ]   [  ]   [  ]   [      ]   releases each at its own word
//! ```
//!
//! Steps count from 1 in each call. When all members have arrived at the end of the call, none
//! reads a step any more: the last one clears all members' words before it releases any member. So
//! each call leaves the array as it found it, and the array can be used again at once.
//!
//! The last one is running already. If member 0 always released the others, they would wait until it
//! gets a CPU. It does so over nodes, where nobody learns by counting who is last.

use super::group::{CollectiveGroup, FEW_WORDS, Few, Outcome, Reach, SMALL_WORDS, Stepped};
use crate::atomics::{AtomicU64, Ordering};
use std::ops::Range;

const ARRIVED: usize = 0;
const RELEASED: usize = 1;
const STEP: usize = 2;
const NOTIFICATIONS: usize = 3;
const MESSAGE: usize = 4;

/// How many elements of a `pSync` array a barrier uses.
#[allow(dead_code)] // Old compilers do not count that an assertion uses it.
pub const BARRIER_WORDS: usize = MESSAGE;
/// How many elements of a `pSync` array any collective uses.
#[allow(dead_code)] // As above.
pub const MOST_WORDS: usize = MESSAGE + SMALL_WORDS;

/// An element of a `pSync` array, here or on another node.
#[allow(missing_docs)] // As for atomics.
pub trait SyncWord {
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
    /// The value before; `None` in an active set over several nodes, where the answer would take as
    /// long as another message.
    fn fetch_add(&self, value: u64, order: Ordering) -> Option<u64>;
}

impl SyncWord for &AtomicU64 {
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> Option<u64> {
        Some(AtomicU64::fetch_add(self, value, order))
    }
}

/// A [`Reach`] whose members have a `pSync` array.
pub trait SyncArray: Reach {
    /// How an element is accessed.
    type Word<'w>: SyncWord
    where
        Self: 'w;
    /// Element `element` of `member`'s array.
    fn word(&self, member: usize, element: usize) -> Self::Word<'_>;
    /// Returns once all stores to the members' arrays are visible there.
    fn complete(&self) {}
    /// Returns as soon as `ready` is true.
    ///
    /// # Errors
    /// If the wait ends early.
    fn wait_until(&self, ready: impl FnMut() -> bool) -> Outcome<Self>;
}

/// An active set in a collective.
#[derive(Debug)]
pub struct PSync<A>(pub A);

impl<A: SyncArray> PSync<A> {
    fn own(&self, element: usize) -> A::Word<'_> {
        self.0.word(self.index(), element)
    }

    fn wait_for(&self, word: impl SyncWord, value: u64) -> Outcome<Self> {
        self.0.wait_until(|| word.load(Ordering::Acquire) >= value)
    }

    /// Writes a message to `member`'s array, which is already zero, so a short one needs few stores.
    fn write(&self, member: usize, message: &[u64]) {
        for (element, value) in message.iter().enumerate().filter(|(_, value)| **value != 0) {
            self.0.word(member, MESSAGE + element).store(*value, Ordering::Relaxed);
        }
    }

    /// Removes the message from this process's array.
    fn restore(&self, message: &[u64]) {
        for (element, _) in message.iter().enumerate().filter(|(_, value)| **value != 0) {
            self.own(MESSAGE + element).store(0, Ordering::Relaxed);
        }
    }

    /// Reads words of `member`'s message, from word `first` on.
    fn read_words(&self, member: usize, first: usize, words: &mut [u64]) {
        for (element, word) in (MESSAGE + first..).zip(words) {
            *word = self.0.word(member, element).load(Ordering::Relaxed);
        }
    }

    /// A barrier. One member calls `between` when all have arrived and none has left.
    fn meet(&self, between: impl FnOnce()) -> Outcome<Self> {
        let (me, size) = (self.index(), self.size());
        if self.arrive()? {
            self.0.word(0, ARRIVED).store(0, Ordering::Relaxed);
            between();
            self.0.complete();
            for member in (0..size).filter(|member| *member != me) {
                self.0.word(member, RELEASED).store(1, Ordering::Release);
            }
        } else {
            self.wait_for(self.own(RELEASED), 1)?;
            self.own(RELEASED).store(0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Counts this member in. True for the one that releases the others: all have arrived.
    fn arrive(&self) -> Result<bool, A::Stop> {
        let size = self.size() as u64;
        match self.0.word(0, ARRIVED).fetch_add(1, Ordering::AcqRel) {
            Some(before) => Ok(before == size - 1),
            None if self.index() == 0 => {
                self.wait_for(self.own(ARRIVED), size)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

impl<A: SyncArray> Reach for PSync<A> {
    type Stop = A::Stop;
    type Memory = A::Memory;

    fn index(&self) -> usize {
        self.0.index()
    }
    fn size(&self) -> usize {
        self.0.size()
    }
    fn memory(&self) -> &A::Memory {
        self.0.memory()
    }
    fn number(&self, member: usize) -> usize {
        self.0.number(member)
    }
    fn nodes(&self) -> Vec<usize> {
        self.0.nodes()
    }
}

impl<A: SyncArray> Stepped for PSync<A> {
    fn open(&self, _steps: u64) -> u64 {
        0
    }

    fn close(&self) -> Outcome<Self> {
        self.meet(|| {
            for member in 0..self.size() {
                self.0.word(member, STEP).store(0, Ordering::Relaxed);
                self.0.word(member, NOTIFICATIONS).store(0, Ordering::Relaxed);
            }
        })
    }

    /// Nothing: `close` waits for all members.
    fn finish(&self, _step: u64) -> Outcome<Self> {
        Ok(())
    }

    fn announce(&self, step: u64) {
        self.own(STEP).store(step, Ordering::Release);
    }

    fn await_member(&self, step: u64, member: usize) -> Outcome<Self> {
        self.wait_for(self.0.word(member, STEP), step)
    }
}

impl<A: SyncArray> CollectiveGroup for PSync<A> {
    fn notify(&self, member: usize) {
        self.0.word(member, NOTIFICATIONS).fetch_add(1, Ordering::AcqRel);
    }

    fn await_notifications(&self, times: usize) -> Outcome<Self> {
        self.wait_for(self.own(NOTIFICATIONS), times as u64)
    }

    fn room(&self) -> usize {
        SMALL_WORDS
    }

    fn exchange_words(
        &self,
        mine: &[u64],
        wanted: Range<usize>,
        mut each: impl FnMut(usize, &[u64]) -> Outcome<Self>,
    ) -> Outcome<Self> {
        self.write(self.index(), mine);
        self.announce(1);
        let mut theirs = [0; SMALL_WORDS];
        let theirs = &mut theirs[..wanted.len()];
        for member in 0..self.size() {
            self.await_member(1, member)?;
            self.read_words(member, wanted.start, theirs);
            each(member, theirs)?;
        }
        self.close()?;
        self.restore(mine);
        Ok(())
    }

    /// One barrier: whoever releases the others combines all messages, and replaces each by the result.
    fn combine(
        &self,
        message: &mut Few,
        words: usize,
        mut combine: impl FnMut(&mut Few, &Few),
    ) -> Outcome<Self> {
        let read = |member| {
            let mut few = [0; FEW_WORDS];
            self.read_words(member, 0, &mut few[..words]);
            few
        };
        self.write(self.index(), &message[..words]);
        self.meet(|| {
            let mut sums = read(0);
            (1..self.size()).for_each(|member| combine(&mut sums, &read(member)));
            for member in 0..self.size() {
                for (element, sum) in (MESSAGE..).zip(&sums[..words]) {
                    self.0.word(member, element).store(*sum, Ordering::Relaxed);
                }
            }
        })?;
        *message = read(self.index());
        self.restore(&message[..words]);
        Ok(())
    }

    /// One barrier: whoever releases the others gives them the message first. The root meets the others,
    /// too, so its array is restored when it returns.
    fn spread(&self, root: usize, message: &mut [u64]) -> Outcome<Self> {
        if self.index() == root {
            self.write(self.index(), message);
        }
        self.meet(|| {
            self.read_words(root, 0, message);
            for member in (0..self.size()).filter(|member| *member != root) {
                self.write(member, message);
            }
        })?;
        self.read_words(self.index(), 0, message);
        self.restore(message);
        Ok(())
    }

    fn sync(&self) -> Outcome<Self> {
        self.meet(|| ())
    }
}
