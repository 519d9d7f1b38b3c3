//! How a process waits: spin while that can pay, then give the CPU away, then sleep; and
//! keep looking whether the wait still makes sense.

use crate::atomics::{AtomicBool, AtomicU32, Ordering};
use crate::counter::{Counter, Rest};
use crate::sys::{futex, process};
use std::time::{Duration, Instant};

/// Spins that pay when every process has a CPU: a few microseconds, ten times what a message
/// between running ones takes. More does harm as soon as other programs want the CPUs:
/// with 2000, a barrier of 2 on 2 CPUs took 76 us beside other work, with 200 it
/// took 5 to 11.
const SPINS_ALONE: u32 = 100;
/// When they share CPUs, the one waited for may need this very CPU: not one spin. (20
/// spins a wait made the barrier of 4 to 16 on 2 CPUs cost 1.35 times a central
/// counter's with `sched_yield`; this way it is 1.05.)
const SPINS_SHARED: u32 = 1;
/// Yields before a wait counts as long: more than any barrier among processes that run.
const YIELDS: u32 = 512;
/// Yields between two looks at the clock. On a busy machine a yield may take milliseconds.
const YIELDS_A_LOOK: u32 = 16;
/// A wait that has yielded for this time is long, too.
const LONG: Duration = Duration::from_millis(100);
/// Longest sleep on a counter: how late a process that sleeps may notice that it need not wait.
const SLEEP: Duration = Duration::from_millis(20);
/// Longest nap where nobody can wake us.
const NAP: Duration = Duration::from_millis(1);

/// How the processes of one client wait.
#[derive(Debug)]
pub struct Habits {
    shared: AtomicBool,
    sleeps: AtomicBool,
    crowd: AtomicU32,
}

impl Habits {
    /// Those of processes that share CPUs.
    pub const fn new() -> Self {
        Self {
            shared: AtomicBool::new(true),
            sleeps: AtomicBool::new(true),
            crowd: AtomicU32::new(1),
        }
    }

    /// Sets whether processes share CPUs, whether those who wait long may sleep, and how many times
    /// as large as a small job this one is: a yield gives as many more others their turn then, and
    /// processes that wake up only to look must do so as much less often.
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

    fn crowd(&self) -> u32 {
        self.crowd.load(Ordering::Relaxed)
    }
}

impl Default for Habits {
    fn default() -> Self {
        Self::new()
    }
}

/// What a client does while it waits, besides passing the time. An error ends the wait.
pub trait Waiting {
    /// Why a wait may end early.
    type Stop;
    /// How the client's processes wait.
    fn habits(&self) -> &Habits;
    /// Done each time the CPU was given away. Cheap.
    ///
    /// # Errors
    /// If the wait is to end.
    fn turn(&mut self) -> Result<(), Self::Stop>;
    /// Done now and then in a wait that has lasted since `since`, and is long.
    ///
    /// # Errors
    /// As for [`turn`](Self::turn).
    fn look(&mut self, since: Instant) -> Result<(), Self::Stop>;
}

/// One wait. Call [`step`](Self::step) until what is waited for has come.
#[derive(Debug, Default)]
pub struct Pause<W> {
    steps: u32,
    yields: u32,
    /// When the clock was looked at first.
    began: Option<Instant>,
    /// Since when the wait is long.
    since: Option<Instant>,
    waiting: W,
}

impl<W> Pause<W> {
    /// A wait that begins now.
    #[inline(always)]
    pub const fn new(waiting: W) -> Self {
        Self { steps: 0, yields: 0, began: None, since: None, waiting }
    }
}

impl<W: Waiting> Pause<W> {
    /// Passes a little time.
    ///
    /// # Errors
    /// What `W` has found.
    #[inline(always)]
    pub fn step(&mut self) -> Result<(), W::Stop> {
        if self.spin() { Ok(()) } else { self.step_aside() }
    }

    #[inline(always)]
    fn spin(&mut self) -> bool {
        let spins = if self.waiting.habits().shared() { SPINS_SHARED } else { SPINS_ALONE };
        self.steps = self.steps.saturating_add(1);
        if self.steps < spins {
            std::hint::spin_loop();
        }
        self.steps < spins
    }

    /// [`step`](Self::step) of one who has looked often enough: gives the CPU away.
    ///
    /// # Errors
    /// As for `step`.
    #[cold]
    pub fn step_aside(&mut self) -> Result<(), W::Stop> {
        self.give_way()?;
        if self.is_long() { self.nap() } else { Ok(()) }
    }

    #[cold]
    fn give_way(&mut self) -> Result<(), W::Stop> {
        process::yield_cpu();
        self.waiting.turn()?;
        self.yields = self.yields.wrapping_add(1);
        let crowd = self.waiting.habits().crowd();
        if self.yields.is_multiple_of(YIELDS.div_ceil(crowd)) {
            return self.look();
        }
        if self.yields.is_multiple_of(YIELDS_A_LOOK)
            && self.began.get_or_insert_with(Instant::now).elapsed() >= LONG * crowd
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

    /// A long wait for a plain word, which nobody announces. Where processes share CPUs, who
    /// waits must not take time from who works: CPU shares are fair between those who
    /// work and those who do nothing but yield. An eighth of the time waited so far, so
    /// that a nap never makes a wait much longer.
    fn nap(&mut self) -> Result<(), W::Stop> {
        match self.since {
            Some(since) if self.waiting.habits().shared() => {
                std::thread::sleep((since.elapsed() / 8).min(NAP));
                self.look()
            }
            _ => Ok(()),
        }
    }
}

impl<W: Waiting> Rest for Pause<W> {
    type Stop = W::Stop;

    fn pause(&mut self) -> Result<bool, W::Stop> {
        if !self.spin() {
            self.give_way()?;
        }
        Ok(self.is_long() && self.waiting.habits().sleeps.load(Ordering::Relaxed))
    }

    fn sleep(&mut self, counter: &Counter, seen: u64) -> Result<(), W::Stop> {
        futex::sleep(counter.place(), seen, SLEEP * self.waiting.habits().crowd());
        self.look()
    }
}
