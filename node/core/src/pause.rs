//! How a process waits: it spins while that can pay, then yields the CPU, then sleeps, and keeps
//! checking whether the wait still makes sense. Where yields are lost to other jobs, it sleeps at once.

mod policy;

pub use policy::{Share, WaitMode, WaitPolicy};

use crate::counter::{Counter, WaitStrategy};
use crate::sys::{futex, process};
use policy::{SPIN, SPINS_ALONE};
use std::time::{Duration, Instant};

/// Spins between two looks at the clock: about half a microsecond.
const SPINS_A_LOOK: u32 = 32;
/// Yields before a wait counts as long: more than any barrier among running processes needs.
const YIELDS: u32 = 512;
/// Yields between two looks at the clock. On a busy machine a yield may take milliseconds.
const YIELDS_A_LOOK: u32 = 16;
/// A wait that has yielded for this time counts as long, too.
const LONG: Duration = Duration::from_millis(100);
/// The longest nap where nobody can wake the process, and the longest sleep in the place of a lost yield.
const NAP: Duration = Duration::from_millis(1);
/// The first nap in the place of a lost yield. The next ones are longer by as much each, up to five
/// times.
const SHORT_NAP: Duration = Duration::from_micros(20);

/// A client's work during a wait, besides passing the time. An error ends the wait.
pub trait Waiting {
    /// Why a wait may end early.
    type Stop;
    /// How the client's processes wait.
    fn policy(&self) -> &WaitPolicy;
    /// Called each time the CPU was yielded. Must be cheap.
    ///
    /// # Errors
    /// If the wait must end.
    fn turn(&mut self) -> Result<(), Self::Stop>;
    /// Called now and then in a long wait, which has lasted since `since`.
    ///
    /// # Errors
    /// As for [`turn`](Self::turn).
    fn look(&mut self, since: Instant) -> Result<(), Self::Stop>;
    /// How many nanoseconds of CPU time the client's processes that share this thread's CPU have used, and
    /// this thread itself.
    fn used(&self) -> u64 {
        process::time_of_thread()
    }
    /// The longest sleep between two looks.
    fn longest_sleep(&self) -> Duration {
        self.policy().longest_sleep()
    }
}

/// A value of [`Pause::spins_until`]: the spin is over.
const SPUN: u64 = u64::MAX;

/// One wait. Call [`step`](Self::step) until the awaited event has occurred.
#[derive(Debug, Default)]
pub struct Pause<W> {
    steps: u32,
    yields: u32,
    /// When the spin ends, by [`process::clock`]; 0 before it is known.
    spins_until: u64,
    /// When the clock was first read in a wait that yields.
    began: Option<Instant>,
    /// Since when the wait counts as long.
    since: Option<Instant>,
    waiting: W,
}

impl<W> Pause<W> {
    /// Begins a wait.
    #[inline(always)]
    pub const fn new(waiting: W) -> Self {
        Self { steps: 0, yields: 0, spins_until: 0, began: None, since: None, waiting }
    }

    /// The waiting client.
    pub const fn waiting(&self) -> &W {
        &self.waiting
    }
}

impl<W: Waiting> Pause<W> {
    /// Passes a little time.
    ///
    /// # Errors
    /// The error that `W` returned.
    #[inline(always)]
    pub fn step(&mut self) -> Result<(), W::Stop> {
        if self.spin() { Ok(()) } else { self.step_aside() }
    }

    #[inline(always)]
    fn spin(&mut self) -> bool {
        let spins = self.waiting.policy().first_spins();
        self.steps = self.steps.saturating_add(1);
        if self.steps < spins {
            std::hint::spin_loop();
        }
        self.steps < spins
    }

    /// [`step`](Self::step) for a caller that has polled often enough: spins by the clock if every
    /// process has a CPU, then yields it or naps.
    ///
    /// # Errors
    /// As for `step`.
    #[cold]
    pub fn step_aside(&mut self) -> Result<(), W::Stop> {
        if self.spins_on()? {
            return Ok(());
        }
        let policy = self.waiting.policy();
        if policy.loses_yields() || self.is_long() && policy.naps() {
            self.nap()
        } else {
            self.give_way().map(drop)
        }
    }

    /// Spins once more, if waits do so by the clock and the time for that is not over.
    #[inline(always)]
    fn spins_on(&mut self) -> Result<bool, W::Stop> {
        if self.spins_until == SPUN || !self.waiting.policy().spins() {
            return Ok(false);
        }
        std::hint::spin_loop();
        if self.spins_until == 0 || self.steps % SPINS_A_LOOK == 0 {
            self.look_at_clock()
        } else {
            Ok(true)
        }
    }

    #[cold]
    #[inline(never)]
    fn look_at_clock(&mut self) -> Result<bool, W::Stop> {
        let (now, policy) = (process::clock(), self.waiting.policy());
        if self.spins_until == 0 && policy.may_spin(now) {
            self.spins_until = now + SPIN;
        } else if now >= self.spins_until && policy.spins_only() {
            self.spins_until = now + SPIN;
            // It counts no further than its type allows.
            self.steps = SPINS_ALONE.next_multiple_of(SPINS_A_LOOK);
            self.look()?;
        } else if now >= self.spins_until {
            let spun = self.spins_until > 0;
            self.spins_until = SPUN;
            if spun {
                self.learn_from_vain_spin(now)?;
            }
            return Ok(spun);
        }
        self.waiting.turn()?;
        Ok(true)
    }

    /// Finds out by a yield whether a process of this job needs this CPU.
    fn learn_from_vain_spin(&mut self, now: u64) -> Result<(), W::Stop> {
        let policy = self.waiting.policy();
        // Where waits may not sleep (Kitten), each process has a CPU, and the kernel counts no switches.
        if !policy.sleeps() || policy.loses_yields() {
            policy.spun_in_vain(now, false);
            return Ok(());
        }
        let switches = process::switches_of_thread();
        let lost = self.give_way()?;
        let switched = process::switches_of_thread() != switches;
        self.waiting.policy().spun_in_vain(now, switched && !lost);
        Ok(())
    }

    /// Yields the CPU. Returns whether the yield was lost. Inlined, because a processor that has switched
    /// processes no longer knows where calls return to: each return then takes as long as a hundred instructions.
    #[inline(always)]
    fn give_way(&mut self) -> Result<bool, W::Stop> {
        let lost = self.waiting.policy().yield_cpu(|| self.waiting.used());
        self.gave_way()?;
        Ok(lost)
    }

    #[inline(always)]
    fn gave_way(&mut self) -> Result<(), W::Stop> {
        self.waiting.turn()?;
        self.yields = self.yields.wrapping_add(1);
        if self.yields % YIELDS_A_LOOK == 0 { self.look_if_due() } else { Ok(()) }
    }

    /// Looks every so many yields, and if the wait has lasted for long.
    #[cold]
    #[inline(never)]
    fn look_if_due(&mut self) -> Result<(), W::Stop> {
        let crowd = self.waiting.policy().crowd();
        let yields = YIELDS.div_ceil(crowd).next_multiple_of(YIELDS_A_LOOK);
        if self.yields % yields == 0
            || self.began.get_or_insert_with(Instant::now).elapsed() >= LONG * crowd
        {
            return self.look();
        }
        Ok(())
    }

    fn is_long(&self) -> bool {
        self.since.is_some()
    }

    fn look(&mut self) -> Result<(), W::Stop> {
        let since = *self.since.get_or_insert_with(Instant::now);
        self.waiting.look(since)
    }

    /// Sleeps in a wait for a plain word, which nobody announces: in the place of a lost yield, and in a
    /// long wait where processes share CPUs or their time. There a waiting process must not take time from working ones:
    /// the scheduler gives processes that only yield the same share as those that work. The nap lasts an
    /// eighth of the long time waited so far, so it never makes a wait much longer.
    fn nap(&mut self) -> Result<(), W::Stop> {
        let time = match self.since {
            None => SHORT_NAP * (self.yields + 1).min(5),
            Some(since) => (since.elapsed() / 8).clamp(SHORT_NAP, NAP),
        };
        process::nap(time * self.waiting.policy().crowd());
        if self.is_long() { self.look() } else { self.gave_way() }
    }
}

impl<W: Waiting> WaitStrategy for Pause<W> {
    type Stop = W::Stop;

    fn pause(&mut self) -> Result<bool, W::Stop> {
        if self.spin() || self.spins_on()? {
            return Ok(false);
        }
        let policy = self.waiting.policy();
        if policy.loses_yields() {
            // Sleeps only after the client had two turns, in which it sends what it has held back.
            self.gave_way()?;
            return Ok(self.yields >= 2);
        }
        self.give_way()?;
        Ok(self.is_long() && self.waiting.policy().sleeps())
    }

    fn sleep(&mut self, counter: &Counter, seen: u64) -> Result<(), W::Stop> {
        let short = NAP * self.waiting.policy().crowd();
        let most = if self.is_long() { self.waiting.longest_sleep() } else { short };
        let woken = futex::sleep(counter.place(), seen, most);
        // A short sleep is no more than a yield.
        if woken && !self.is_long() { Ok(()) } else { self.look() }
    }
}
