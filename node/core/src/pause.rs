//! How a process waits: it spins while that can pay, then yields the CPU, then sleeps, and keeps
//! checking whether the wait still makes sense.

use crate::atomics::{AtomicBool, AtomicU32, Ordering};
use crate::counter::{Counter, WaitStrategy};
use crate::sys::{futex, process};
use std::time::{Duration, Instant};

/// How many spins pay when every process has a CPU: a few microseconds, ten times as long as a
/// message between running processes takes. More spins do harm as soon as other programs want the
/// CPUs: with 2000, a barrier of 2 on 2 CPUs took 76 us beside other work; with 200 it took 5 to
/// 11.
const SPINS_ALONE: u32 = 100;
/// When processes share CPUs, the awaited process may need this very CPU, so a wait does not spin
/// at all. (With 20 spins a wait, a barrier of 4 to 16 processes on 2 CPUs took 1.35 times as long
/// as a central counter with `sched_yield`; without, 1.05 times.)
const SPINS_SHARED: u32 = 1;
/// Yields before a wait counts as long: more than any barrier among running processes needs.
const YIELDS: u32 = 512;
/// Yields between two looks at the clock. On a busy machine a yield may take milliseconds.
const YIELDS_A_LOOK: u32 = 16;
/// A wait that has yielded for this time counts as long, too.
const LONG: Duration = Duration::from_millis(100);
/// The longest sleep on a counter, in a small job.
const SLEEP: Duration = Duration::from_millis(20);
/// The longest nap where nobody can wake the process.
const NAP: Duration = Duration::from_millis(1);

/// How the processes of one client wait.
#[derive(Debug)]
pub struct WaitPolicy {
    shared: AtomicBool,
    sleeps: AtomicBool,
    crowd: AtomicU32,
}

impl WaitPolicy {
    /// The policy of processes that share CPUs.
    pub const fn new() -> Self {
        Self {
            shared: AtomicBool::new(true),
            sleeps: AtomicBool::new(true),
            crowd: AtomicU32::new(1),
        }
    }

    /// Sets whether processes share CPUs, whether long waits may sleep, and how many times as large
    /// as a small job this one is. In a larger job, a yield gives that many times as many others
    /// their turn, so processes that wake up only to look must do so that much less often.
    pub fn set(&self, shared: bool, sleeps: bool, crowd: u32) {
        self.crowd.store(crowd.max(1), Ordering::Relaxed);
        self.shared.store(shared, Ordering::Relaxed);
        self.sleeps.store(sleeps, Ordering::Relaxed);
    }

    /// Whether processes share CPUs.
    #[inline(always)]
    pub fn shared(&self) -> bool {
        self.shared.load(Ordering::Relaxed)
    }

    /// The longest sleep on a counter: how late a sleeping process may notice that its wait should end.
    pub fn longest_sleep(&self) -> Duration {
        SLEEP * self.crowd()
    }

    fn crowd(&self) -> u32 {
        self.crowd.load(Ordering::Relaxed)
    }
}

impl Default for WaitPolicy {
    fn default() -> Self {
        Self::new()
    }
}

/// What a client does during a wait, besides passing the time. An error ends the wait.
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
    /// The longest sleep between two looks.
    fn longest_sleep(&self) -> Duration {
        self.policy().longest_sleep()
    }
}

/// One wait. Call [`step`](Self::step) until the awaited event has occurred.
#[derive(Debug, Default)]
pub struct Pause<W> {
    steps: u32,
    yields: u32,
    /// When the clock was first read.
    began: Option<Instant>,
    /// Since when the wait counts as long.
    since: Option<Instant>,
    waiting: W,
}

impl<W> Pause<W> {
    /// Begins a wait.
    #[inline(always)]
    pub const fn new(waiting: W) -> Self {
        Self { steps: 0, yields: 0, began: None, since: None, waiting }
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
        let spins = if self.waiting.policy().shared() { SPINS_SHARED } else { SPINS_ALONE };
        self.steps = self.steps.saturating_add(1);
        if self.steps < spins {
            std::hint::spin_loop();
        }
        self.steps < spins
    }

    /// [`step`](Self::step) for a caller that has spun long enough: yields the CPU.
    ///
    /// # Errors
    /// As for `step`.
    #[cold]
    pub fn step_aside(&mut self) -> Result<(), W::Stop> {
        self.give_way()?;
        if self.is_long() { self.nap() } else { Ok(()) }
    }

    /// Yields the CPU. Inlined, because a processor that has switched processes no longer knows where
    /// calls return to: each return then takes as long as a hundred instructions.
    #[inline(always)]
    fn give_way(&mut self) -> Result<(), W::Stop> {
        process::yield_cpu();
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

    /// Sleeps in a long wait for a plain word, which nobody announces. Where processes share CPUs,
    /// a waiting process must not take time from working ones: the scheduler gives processes that
    /// only yield the same share as those that work. The nap lasts an eighth of the time waited so
    /// far, so it never makes a wait much longer.
    fn nap(&mut self) -> Result<(), W::Stop> {
        match self.since {
            Some(since) if self.waiting.policy().shared() => {
                process::sleep((since.elapsed() / 8).min(NAP));
                self.look()
            }
            _ => Ok(()),
        }
    }
}

impl<W: Waiting> WaitStrategy for Pause<W> {
    type Stop = W::Stop;

    fn pause(&mut self) -> Result<bool, W::Stop> {
        if !self.spin() {
            self.give_way()?;
        }
        Ok(self.is_long() && self.waiting.policy().sleeps.load(Ordering::Relaxed))
    }

    fn sleep(&mut self, counter: &Counter, seen: u64) -> Result<(), W::Stop> {
        futex::sleep(counter.place(), seen, self.waiting.longest_sleep());
        self.look()
    }
}
