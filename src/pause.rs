//! How a PE waits: spin while that can pay, then give the CPU away, then sleep; and
//! keep looking whether the job is still alive.

use crate::atomics::{AtomicBool, AtomicU32, Ordering};
use crate::counter::{Counter, Rest};
use crate::job::about::{self, About};
use crate::job::{self, health::Watch};
use onenode::sys::futex;
use onenode::sys::process;
use std::time::{Duration, Instant};

/// Spins that pay when every PE has a CPU: a few microseconds, ten times what a message
/// between running PEs takes. More does harm as soon as other programs want the CPUs:
/// with 2000, a barrier of 2 PEs on 2 CPUs took 76 us beside other work, with 200 it
/// took 5 to 11.
const SPINS_ALONE: u32 = 100;
/// When PEs share CPUs, the one waited for may need this very CPU: not one spin. (20
/// spins a wait made the barrier of 4 to 16 PEs on 2 CPUs cost 1.35 times a central
/// counter's with `sched_yield`; this way it is 1.05.)
const SPINS_SHARED: u32 = 1;
/// Yields before a wait counts as long: more than any barrier among PEs that run.
const YIELDS: u32 = 512;
/// Longest sleep on a counter: how late a PE that sleeps may notice the job's end.
const SLEEP: Duration = Duration::from_millis(20);
/// Longest nap where nobody can wake us.
const NAP: Duration = Duration::from_millis(1);

static SHARED: AtomicBool = AtomicBool::new(true);
static SLEEPS: AtomicBool = AtomicBool::new(true);
static CROWD: AtomicU32 = AtomicU32::new(1);

/// Sets whether PEs share CPUs, whether those who wait long may sleep, and how many times as large
/// as a small job this one is: a yield gives as many more others their turn then, and PEs that
/// wake up only to look must do so as much less often.
pub(crate) fn set_habits(shared: bool, sleeps: bool, crowd: u32) {
    CROWD.store(crowd, Ordering::Relaxed);
    SHARED.store(shared, Ordering::Relaxed);
    SLEEPS.store(sleeps, Ordering::Relaxed);
}

/// Whether PEs share CPUs.
pub(crate) fn shared() -> bool {
    SHARED.load(Ordering::Relaxed)
}

/// One wait. Call [`step`](Self::step) until what is waited for has come.
#[derive(Debug, Default)]
pub struct Pause {
    steps: u32,
    yields: u32,
    /// Since when the wait is long.
    since: Option<Instant>,
    watch: Watch,
    about: About,
    /// Whether the PE's record says what it waits for.
    noted: bool,
}

impl Pause {
    /// A wait that begins now.
    #[inline(always)]
    pub const fn new() -> Self {
        Self::about(About::Unsaid)
    }

    /// As [`new`](Self::new), for a wait that can tell what it is about.
    #[inline(always)]
    pub const fn about(about: About) -> Self {
        Self { steps: 0, yields: 0, since: None, watch: Watch::new(), about, noted: false }
    }

    /// Passes a little time. Ends the process if the job has ended or a peer died.
    #[inline(always)]
    pub fn step(&mut self) {
        if !self.spin() {
            self.step_aside();
        }
    }

    #[inline(always)]
    fn spin(&mut self) -> bool {
        let spins = if shared() { SPINS_SHARED } else { SPINS_ALONE };
        self.steps = self.steps.saturating_add(1);
        if self.steps < spins {
            std::hint::spin_loop();
        }
        self.steps < spins
    }

    /// [`step`](Self::step) of one who has looked often enough: gives the CPU away.
    #[cold]
    pub(crate) fn step_aside(&mut self) {
        self.give_way();
        if self.is_long() {
            self.nap();
        }
    }

    #[cold]
    fn give_way(&mut self) {
        process::yield_cpu();
        if let Some(job) = job::existing() {
            job::ending::look(job);
        }
        self.yields = self.yields.wrapping_add(1);
        if self.yields.is_multiple_of(YIELDS.div_ceil(CROWD.load(Ordering::Relaxed))) {
            self.look_around();
        }
    }

    fn is_long(&self) -> bool {
        self.since.is_some()
    }

    fn look_around(&mut self) {
        let since = *self.since.get_or_insert_with(Instant::now);
        if let Some(job) = job::existing() {
            job::ending::look(job);
            if job::health::check_peers(job, &mut self.watch) {
                about::note(job, self.about, since.elapsed());
                self.noted = true;
            }
        }
    }

    /// A long wait for a plain word, which nobody announces. Where PEs share CPUs, who
    /// waits must not take time from who works: CPU shares are fair between those who
    /// work and those who do nothing but yield. An eighth of the time waited so far, so
    /// that a nap never makes a wait much longer.
    fn nap(&mut self) {
        if let (true, Some(since)) = (shared(), self.since) {
            std::thread::sleep((since.elapsed() / 8).min(NAP));
            self.look_around();
        }
    }
}

impl Drop for Pause {
    #[inline(always)]
    fn drop(&mut self) {
        if self.noted {
            job::existing().inspect(|job| about::forget(job));
        }
    }
}

impl Rest for Pause {
    fn pause(&mut self) -> bool {
        if !self.spin() {
            self.give_way();
        }
        self.is_long() && SLEEPS.load(Ordering::Relaxed)
    }

    fn sleep(&mut self, counter: &Counter, seen: u64) {
        futex::sleep(counter.place(), seen, SLEEP * CROWD.load(Ordering::Relaxed));
        self.look_around();
    }
}
