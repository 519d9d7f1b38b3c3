//! How a PE waits: as `onenode-core` does, and checking that the job is still alive.

pub mod liveness;
mod timed;

use crate::atomics::{AtomicBool, Ordering};
use crate::call;
use crate::counter::{Counter, WaitStrategy};
use crate::failure::ending;
use crate::pe;
use crate::pe::about::{self, About};
use crate::sys::mpi;
use liveness::Watch;
use onenode_core::pause::{self, Share, WaitMode, WaitPolicy, Waiting};
use onenode_core::sys::process;
use oneshmem_job::env;
use std::convert::Infallible;
use std::time::{Duration, Instant};

pub use timed::Wait;

/// After how many yields a wait lets MPI make progress too: those among running processes are over by then.
const YIELDS_BEFORE_MPI: u8 = 32;
/// The longest sleep of a process that drives MPI: a long message needs it many times.
const SLEEP_WITH_MPI: Duration = Duration::from_millis(1);

/// How the PEs of this job wait.
pub(crate) static WAIT_POLICY: WaitPolicy = WaitPolicy::new();

/// Whether a PE that runs may take a free lock ahead of those in line: see
/// [`Order`](onenode_core::lock::Order).
static OVERTAKING: AtomicBool = AtomicBool::new(true);

/// Sets how the PEs of this job wait. If they share CPUs, locks are passed on by arrival only if `in_order`.
pub(crate) fn set_wait_policy(share: Share, sleeps: bool, crowd: u32, in_order: bool) {
    WAIT_POLICY.set(share, sleeps, crowd);
    OVERTAKING.store(share == Share::Part && !in_order, Ordering::Relaxed);
}

/// Whether a PE that runs may take a free lock ahead of those in line.
#[inline(always)]
pub(crate) fn may_overtake() -> bool {
    OVERTAKING.load(Ordering::Relaxed)
}

/// How many nanoseconds of CPU time this thread and the PEs that share its CPU have used.
pub(crate) fn time_on_this_cpu() -> u64 {
    let neighbours = pe::existing().map(liveness::time_of_neighbours);
    process::time_of_thread() + neighbours.unwrap_or(0)
}

/// How waits pass the time, and why, for users.
pub fn description() -> String {
    let name = env::WAIT.name;
    match (WAIT_POLICY.mode(), WAIT_POLICY.shared()) {
        (WaitMode::Auto, true) => format!(
            "yield the CPU, since PEs share CPUs, and sleep beside busy processes of others ({name}=auto)"
        ),
        (WaitMode::Auto, false) if WAIT_POLICY.naps() => format!(
            "spin, since each PE has a CPU, and sleep in long waits, since a quota limits their time ({name}=auto)"
        ),
        (WaitMode::Auto, false) if WAIT_POLICY.has(Share::Served) => format!(
            "yield the CPU, which the host's agent may need, and sleep beside busy processes of others \
             ({name}=auto)"
        ),
        (WaitMode::Auto, false) => format!(
            "spin, since each PE has a CPU, then yield it, and sleep beside busy processes of others \
             ({name}=auto)"
        ),
        (WaitMode::Spin, _) => format!("spin, since {name} says so"),
        (WaitMode::Yield, _) => format!("yield the CPU, since {name} says so"),
        (WaitMode::Sleep, _) => format!("sleep, since {name} says so"),
    }
}

/// One wait. Call [`step`](Self::step) until the awaited condition holds.
#[derive(Debug)]
pub struct Pause(pause::Pause<OfPe>);

/// A PE that waits. Its wait never ends early, except when the job ends.
#[derive(Debug)]
struct OfPe {
    watch: Watch,
    about: About,
    /// How many times the CPU was yielded; it saturates.
    yields: u8,
    /// Whether something shows that the PE waits: its record, or that a call is in progress.
    noted: bool,
}

impl Pause {
    /// A wait that begins now, and what it is for.
    #[inline(always)]
    pub const fn about(about: About) -> Self {
        Self(pause::Pause::new(OfPe { watch: Watch::new(), about, yields: 0, noted: false }))
    }

    /// The object of the wait.
    pub(crate) fn subject(&self) -> About {
        self.0.waiting().about
    }

    /// Waits one step. Ends the process if the job has ended or a peer died.
    #[inline(always)]
    pub fn step(&mut self) {
        let Ok(()) = self.0.step();
    }

    /// As [`step`](Self::step), for a caller that has polled often enough: yields the CPU.
    #[cold]
    pub(crate) fn step_aside(&mut self) {
        let Ok(()) = self.0.step_aside();
    }
}

impl Waiting for OfPe {
    type Stop = Infallible;

    #[inline(always)]
    fn policy(&self) -> &WaitPolicy {
        &WAIT_POLICY
    }

    /// Looks whether the job has ended, but not after the first yield, with which most waits of
    /// crowded jobs are over: to a PE that has just got a CPU, the job's state is cold memory.
    /// After the second, sends what this PE has issued to other nodes, and later drives MPI: the awaited event
    /// may depend on it.
    fn turn(&mut self) -> Result<(), Infallible> {
        let before = self.yields;
        self.yields = before.saturating_add(1);
        if before > 0 {
            if let Some(job) = pe::existing() {
                ending::look(job);
                job.network().filter(|_| before == 1).inspect(|network| network.send_waiting());
            }
            self.noted |= call::begin_wait(self.about.routine());
        }
        if before >= YIELDS_BEFORE_MPI && mpi::is_there() {
            mpi::drive();
        }
        Ok(())
    }

    fn used(&self) -> u64 {
        time_on_this_cpu()
    }

    fn longest_sleep(&self) -> Duration {
        let usual = WAIT_POLICY.longest_sleep();
        if mpi::is_there() { usual.min(SLEEP_WITH_MPI) } else { usual }
    }

    fn look(&mut self, since: Instant) -> Result<(), Infallible> {
        mpi::drive();
        if let Some(job) = pe::existing() {
            ending::look(job);
            job.note_cpu();
            let checks = self.watch.checks();
            if liveness::check_peers(job, &mut self.watch) {
                about::note(job, self.about, since.elapsed(), checks);
                self.noted = true;
            }
            self.noted |= call::begin_wait(self.about.routine());
        }
        Ok(())
    }
}

impl Drop for OfPe {
    #[inline(always)]
    fn drop(&mut self) {
        if self.noted {
            pe::existing().inspect(|job| about::forget(job));
            call::end_wait();
        }
    }
}

impl WaitStrategy for Pause {
    type Stop = Infallible;

    fn pause(&mut self) -> Result<bool, Infallible> {
        self.0.pause()
    }

    fn sleep(&mut self, counter: &Counter, seen: u64) -> Result<(), Infallible> {
        self.0.sleep(counter, seen)
    }
}
