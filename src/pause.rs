//! How a PE waits: spin while that can pay, then give the CPU away, and keep
//! looking whether the job is still alive.

use crate::atomics::{AtomicU32, Ordering};
use crate::job::{self, health::Watch};
use crate::sys::process;

/// Spins that pay when every PE has a CPU: a few microseconds, ten times what a message
/// between running PEs takes. More does harm as soon as other programs want the CPUs:
/// with 2000, a barrier of 2 PEs on 2 CPUs took 76 us beside other work, with 200 it
/// took 5 to 11.
const SPINS_ALONE: u32 = 100;
/// When PEs share CPUs, the one waited for may need this very CPU: not one spin. (20
/// spins a wait made the barrier of 4 to 16 PEs on 2 CPUs cost 1.35 times a central
/// counter's with `sched_yield`; this way it is 1.05.)
const SPINS_SHARED: u32 = 1;
/// Yields between looks at the clock and the peers.
const YIELDS_PER_CHECK: u32 = 512;

static SPINS: AtomicU32 = AtomicU32::new(SPINS_SHARED);

/// Sets how long PEs of this process spin before they yield.
pub(crate) fn set_oversubscribed(shared: bool) {
    SPINS.store(if shared { SPINS_SHARED } else { SPINS_ALONE }, Ordering::Relaxed);
}

/// One wait. Call [`step`](Self::step) until what is waited for has come.
#[derive(Debug, Default)]
pub struct Pause {
    steps: u32,
    watch: Watch,
}

impl Pause {
    /// A wait that begins now.
    #[inline(always)]
    pub const fn new() -> Self {
        Self { steps: 0, watch: Watch::new() }
    }

    /// Passes a little time. Ends the process if the job has ended or a peer died.
    #[inline(always)]
    pub fn step(&mut self) {
        self.steps = self.steps.wrapping_add(1);
        if self.steps < SPINS.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        } else {
            self.step_aside();
        }
    }

    #[cold]
    fn step_aside(&mut self) {
        process::yield_cpu();
        if let Some(job) = job::existing() {
            job::health::look(job);
            if self.steps.is_multiple_of(YIELDS_PER_CHECK) {
                job::health::check_peers(job, &mut self.watch);
            }
        }
        // Never back to spinning within one wait.
        self.steps |= 1 << 31;
    }
}
