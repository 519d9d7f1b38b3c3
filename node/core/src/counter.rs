//! A growing number in shared memory on which processes can sleep: what members of a collective
//! wait for.
//!
//! ```text
//!  who waits                              who raises
//!    sleepers += 1                          value = 8
//!    value is still 7? sleep on it          sleepers > 0? wake them all
//!    sleepers -= 1
//! ```
//!
//! All four accesses are sequentially consistent, so one side sees the other: either the sleeper
//! sees the new value, or the raiser sees the sleeper. Between the sleeper's check and its sleep,
//! the kernel checks once more (`futex(2)`).

use crate::atomics::{AtomicU32, AtomicU64, Ordering, in_order};

/// The number, and how many processes sleep on it.
#[repr(C)]
#[derive(Debug)]
pub struct Counter {
    value: AtomicU64,
    sleepers: AtomicU32,
}

/// The behaviour of a process while it waits for a counter.
pub trait WaitStrategy {
    /// Why the wait may end early.
    type Stop;
    /// Passes a little time. Returns true if the wait has been long and should sleep next.
    ///
    /// # Errors
    /// If the wait must end.
    fn pause(&mut self) -> Result<bool, Self::Stop>;
    /// Sleeps until woken on `counter`, unless its value is no longer `seen`. May return
    /// spuriously.
    ///
    /// # Errors
    /// As for [`pause`](Self::pause).
    fn sleep(&mut self, counter: &Counter, seen: u64) -> Result<(), Self::Stop>;
}

impl Counter {
    /// A counter at 0. Zeroed memory is one, too.
    #[allow(clippy::new_without_default)] // Counters are found in memory, hardly ever made.
    pub fn new() -> Self {
        Self { value: AtomicU64::new(0), sleepers: AtomicU32::new(0) }
    }

    /// The number. Everything that its last raiser wrote before is visible.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.value.load(Ordering::Acquire)
    }

    /// The number's address. Sleepers pass the address of its low half to the kernel.
    pub fn place(&self) -> *const u64 {
        (&raw const self.value).cast()
    }

    /// Counts one more process that sleeps on it.
    #[cfg(test)]
    pub fn add_sleeper(&self) {
        self.sleepers.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the number. Only one process does so, and never lowers it. Calls `wake` if anyone
    /// sleeps on it.
    #[inline(always)]
    pub fn raise(&self, value: u64, wake: impl FnOnce(&Self)) {
        self.value.swap(value, Ordering::SeqCst);
        self.wake_sleepers(wake);
    }

    /// Adds to the number. Any process may do so.
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

    /// Waits until the number is at least `value`. `rest` is called only if it is not yet.
    ///
    /// # Errors
    /// If `rest` ends the wait.
    #[inline(always)]
    pub fn wait<R: WaitStrategy>(
        &self,
        value: u64,
        rest: impl FnOnce(&Self) -> R,
    ) -> Result<(), R::Stop> {
        if self.get() < value { self.wait_long(value, rest) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)] // Who need not wait has no room on the stack for what waiting needs.
    fn wait_long<R: WaitStrategy>(
        &self,
        value: u64,
        rest: impl FnOnce(&Self) -> R,
    ) -> Result<(), R::Stop> {
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
