//! A number in shared memory that only grows, and on which processes sleep until it
//! has: what members of a collective wait for.
//!
//! ```text
//!  who waits                              who raises
//!    sleepers += 1                          value = 8
//!    value is still 7? sleep on it          sleepers > 0? wake them all
//!    sleepers -= 1
//! ```
//!
//! All four accesses are sequentially consistent, so one of the two sees the other:
//! either the sleeper sees the new value, or who raised it sees the sleeper. Between
//! its look and its sleep the kernel looks once more (`futex(2)`).

use crate::atomics::{AtomicU32, AtomicU64, Ordering, in_order};

/// The number and how many sleep on it.
#[repr(C)]
#[derive(Debug)]
pub struct Counter {
    value: AtomicU64,
    sleepers: AtomicU32,
}

/// How a process passes the time while it waits for a counter.
pub trait Rest {
    /// Why the wait may end early.
    type Stop;
    /// Passes a little time. True: it has been long, sleep next.
    ///
    /// # Errors
    /// If the wait is to end.
    fn pause(&mut self) -> Result<bool, Self::Stop>;
    /// Sleeps until someone wakes those who sleep on `counter`, unless its value is
    /// not `seen`. May return for no reason.
    ///
    /// # Errors
    /// As for [`pause`](Self::pause).
    fn sleep(&mut self, counter: &Counter, seen: u64) -> Result<(), Self::Stop>;
}

impl Counter {
    /// A counter that stands at 0; so does one of zero bytes.
    #[allow(clippy::new_without_default)] // Counters are found in memory, hardly ever made.
    pub fn new() -> Self {
        Self { value: AtomicU64::new(0), sleepers: AtomicU32::new(0) }
    }

    /// The number. What its last raiser wrote before is visible.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.value.load(Ordering::Acquire)
    }

    /// Where the number is: sleepers give the kernel the address of its low half.
    pub fn place(&self) -> *const u64 {
        (&raw const self.value).cast()
    }

    /// Sets the number, which only one process does and never lowers; `wake` is called
    /// if anyone sleeps on it.
    #[inline(always)]
    pub fn raise(&self, value: u64, wake: impl FnOnce(&Self)) {
        self.value.swap(value, Ordering::SeqCst);
        self.wake_sleepers(wake);
    }

    /// Adds to the number, which any process may do.
    #[inline(always)]
    pub fn add(&self, more: u64, wake: impl FnOnce(&Self)) {
        self.value.fetch_add(more, Ordering::SeqCst);
        self.wake_sleepers(wake);
    }

    #[inline(always)]
    fn wake_sleepers(&self, wake: impl FnOnce(&Self)) {
        in_order();
        if self.sleepers.load(Ordering::SeqCst) != 0 {
            wake(self);
        }
    }

    /// Waits until the number is at least `value`; `rest` is made only if it is not yet.
    ///
    /// # Errors
    /// If `rest` ends the wait.
    #[inline(always)]
    pub fn wait<R: Rest>(&self, value: u64, rest: impl FnOnce(&Self) -> R) -> Result<(), R::Stop> {
        if self.get() < value { self.wait_long(value, rest) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)] // Who need not wait has no room on the stack for what waiting needs.
    fn wait_long<R: Rest>(&self, value: u64, rest: impl FnOnce(&Self) -> R) -> Result<(), R::Stop> {
        let mut rest = rest(self);
        while self.get() < value {
            if !rest.pause()? {
                continue;
            }
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            in_order();
            let seen = self.value.load(Ordering::SeqCst);
            let slept = if seen < value { rest.sleep(self, seen) } else { Ok(()) };
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
            slept?;
        }
        Ok(())
    }
}
