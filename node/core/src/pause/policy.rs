//! The wait policy of a client's processes: whether they spin, yield or sleep. Each process adapts it to what it
//! has measured on its CPU.
//!
//! A yield should give the CPU to another process of the job. Beside a busy process of another job it costs a
//! whole time slice, some milliseconds, in each process of the job. A process that sleeps instead gets the CPU
//! when it wakes. So yields are timed, and while they are lost to other jobs, waits sleep.

use crate::arch;
use crate::atomics::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use crate::sys::cgroup::Cpus;
use crate::sys::process;
use std::time::Duration;

/// The longest sleep on a counter, in a small job.
const SLEEP: Duration = Duration::from_millis(20);
/// How many spins a wait begins with when its process has a CPU: a microsecond or more, longer than a message
/// between running processes takes. Then it spins by the clock.
pub(super) const SPINS_ALONE: u32 = 100;
/// Where another process of the job needs this CPU, that may be the awaited one, so a wait does not spin
/// at all. (With 20 spins a wait, a barrier of 4 to 16 processes on 2 CPUs took 1.35 times as long
/// as a central counter with `sched_yield`; without, 1.05 times.)
const SPINS_SHARED: u32 = 1;
/// How many nanoseconds a wait spins when every process has a CPU. What a running process does meanwhile
/// mostly takes less, and one that does not run is away for milliseconds.
pub(super) const SPIN: u64 = 100_000;
/// After a spin in vain none is made for so many nanoseconds: should threads or processes want this CPU after
/// all, spins take a ninth of it. Where a process of the job wants it, twice as long each time, up to a limit.
const NO_SPIN: u64 = 8 * SPIN;
const LONGEST_NO_SPIN: u64 = 16 * NO_SPIN;
/// How many microseconds a yield takes at least that gave the CPU to a process that computes. Others take some
/// tenths of one for each process that they give a turn.
const LOST: u64 = 500;
/// Lost yields are dear if fewer others than this came between them. Beside a busy process in this scheduler's
/// group there are at most three. One in another group (a session, a container) takes the CPU as rarely as if
/// nobody yielded.
const CHEAP: u32 = 8;
/// The number of dear yields in a row that shows that others want this CPU: a single one may be the start of a
/// process.
const SURE: u32 = 3;
/// For how many nanoseconds that is assumed then; twice as long if it is found again at once, up to a limit.
const HOLD: u64 = 10_000_000;
const LONGEST_HOLD: u64 = 1_000_000_000;

/// How waits pass the time, once their first steps are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum WaitMode {
    /// The way that has proved best.
    Auto,
    /// They spin until they end, and never give the CPU away.
    Spin,
    /// They yield the CPU, and sleep only when they have lasted for long.
    Yield,
    /// They sleep at once, if waits may sleep.
    Sleep,
}

/// The share of the CPUs that each process of a client has. Waits spin by the clock in the first two cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Share {
    /// One of its own.
    Whole,
    /// One of its own, while the control group's quota lasts. A process that waits for long must not use it up.
    Quota,
    /// One of its own, which now and then a process needs that serves this one: an agent.
    Served,
    /// There are fewer CPUs than processes.
    Part,
}

impl Share {
    /// The share of each of `processes` processes on these CPUs.
    pub const fn of(processes: usize, cpus: Cpus) -> Self {
        if processes > cpus.number {
            Self::Part
        } else if processes > cpus.quota {
            Self::Quota
        } else {
            Self::Whole
        }
    }

    /// This share if an agent serves the processes: it needs what they do not use of their CPUs or quota.
    pub const fn served(self) -> Self {
        match self {
            Self::Whole | Self::Served => Self::Served,
            Self::Quota | Self::Part => Self::Part,
        }
    }
}

/// How the processes of one client wait.
#[derive(Debug)]
pub struct WaitPolicy {
    /// A [`WaitMode`].
    mode: AtomicU8,
    /// A [`Share`].
    share: AtomicU8,
    sleeps: AtomicBool,
    crowd: AtomicU32,
    /// How many spins a wait begins with.
    first_spins: AtomicU32,
    /// Yields since one was lost.
    yields: AtomicU32,
    /// Dear ones in a row.
    dear: AtomicU32,
    /// Until when yields count as lost, by [`process::clock`]; 0 if they never did.
    until: AtomicU64,
    /// For how long that was assumed.
    hold: AtomicU64,
    /// When a dear yield was over, and how much CPU time had then been used.
    last: [AtomicU64; 2],
    /// When a wait may spin again, and for how long it could not.
    spin_from: AtomicU64,
    no_spin: AtomicU64,
}

impl WaitPolicy {
    /// The policy of processes that share CPUs.
    pub const fn new() -> Self {
        Self {
            mode: AtomicU8::new(WaitMode::Auto as u8),
            share: AtomicU8::new(Share::Part as u8),
            sleeps: AtomicBool::new(true),
            crowd: AtomicU32::new(1),
            first_spins: AtomicU32::new(SPINS_SHARED),
            yields: AtomicU32::new(0),
            dear: AtomicU32::new(0),
            until: AtomicU64::new(0),
            hold: AtomicU64::new(0),
            last: [AtomicU64::new(0), AtomicU64::new(0)],
            spin_from: AtomicU64::new(0),
            no_spin: AtomicU64::new(NO_SPIN),
        }
    }

    /// Sets what each process has of the CPUs, whether waits may sleep, and how many times as large
    /// as a small job this one is. In a larger job, a yield gives that many times as many others
    /// their turn, so processes that wake up only to look must do so that much less often.
    pub fn set(&self, share: Share, sleeps: bool, crowd: u32) {
        self.crowd.store(crowd.max(1), Ordering::Relaxed);
        self.share.store(share as u8, Ordering::Relaxed);
        let spins = if share == Share::Part { SPINS_SHARED } else { SPINS_ALONE };
        self.first_spins.store(spins, Ordering::Relaxed);
        self.sleeps.store(sleeps, Ordering::Relaxed);
    }

    /// Sets what waits do.
    pub fn fix(&self, mode: WaitMode) {
        self.mode.store(mode as u8, Ordering::Relaxed);
    }

    /// How waits pass the time.
    pub fn mode(&self) -> WaitMode {
        let modes = [WaitMode::Auto, WaitMode::Spin, WaitMode::Yield, WaitMode::Sleep];
        modes.into_iter().find(|mode| self.is(*mode)).unwrap_or(WaitMode::Auto)
    }

    fn is(&self, mode: WaitMode) -> bool {
        self.mode.load(Ordering::Relaxed) == mode as u8
    }

    /// Whether waits spin by the clock.
    #[inline(always)]
    pub(super) fn spins(&self) -> bool {
        self.is(WaitMode::Auto) && self.share.load(Ordering::Relaxed) <= Share::Quota as u8
            || self.spins_only()
    }

    /// How many spins a wait begins with.
    #[inline(always)]
    pub(super) fn first_spins(&self) -> u32 {
        self.first_spins.load(Ordering::Relaxed)
    }

    /// Whether waits never give the CPU away.
    pub fn spins_only(&self) -> bool {
        self.is(WaitMode::Spin)
    }

    /// Whether processes share CPUs.
    #[inline(always)]
    pub fn shared(&self) -> bool {
        self.has(Share::Part)
    }

    /// Whether each process has this share of the CPUs.
    #[inline(always)]
    pub fn has(&self, share: Share) -> bool {
        self.share.load(Ordering::Relaxed) == share as u8
    }

    /// Whether a long wait takes CPU time from working processes unless it naps.
    pub fn naps(&self) -> bool {
        self.has(Share::Part) || self.has(Share::Quota)
    }

    /// Whether waits may sleep.
    pub fn sleeps(&self) -> bool {
        self.sleeps.load(Ordering::Relaxed)
    }

    /// The longest sleep on a counter: how late a sleeping process may notice that its wait should end.
    pub fn longest_sleep(&self) -> Duration {
        SLEEP * self.crowd()
    }

    #[inline(always)]
    pub(super) fn crowd(&self) -> u32 {
        self.crowd.load(Ordering::Relaxed)
    }

    /// Whether a wait that begins to spin at this time may do so.
    pub(super) fn may_spin(&self, now: u64) -> bool {
        let may = now >= self.spin_from.load(Ordering::Relaxed);
        if may {
            self.first_spins.store(SPINS_ALONE, Ordering::Relaxed);
        }
        may
    }

    /// Notes that a spin has ended before the wait, and whether a yield then gave the CPU to a process of the
    /// job: the scheduler may put two on one CPU and a process of others on the next.
    pub(super) fn spun_in_vain(&self, now: u64, shares_cpu: bool) {
        let before = self.no_spin.load(Ordering::Relaxed);
        let time = if shares_cpu { (2 * before).min(LONGEST_NO_SPIN) } else { NO_SPIN };
        let spins = if shares_cpu { SPINS_SHARED } else { SPINS_ALONE };
        self.first_spins.store(spins, Ordering::Relaxed);
        self.no_spin.store(time, Ordering::Relaxed);
        self.spin_from.store(now + time, Ordering::Relaxed);
    }

    /// Whether a wait should sleep, since a yield would be lost.
    #[inline(always)]
    pub fn loses_yields(&self) -> bool {
        let until = self.until.load(Ordering::Relaxed);
        (until > 0 && process::clock() < until || self.is(WaitMode::Sleep)) && self.sleeps()
    }

    /// Yields the CPU and learns from how long that takes. Returns whether the yield was lost. `used` is
    /// [`Waiting::used`](super::Waiting::used).
    #[inline(always)]
    pub fn yield_cpu(&self, used: impl FnOnce() -> u64) -> bool {
        let before = arch::ticks();
        process::yield_cpu();
        let took = arch::ticks().wrapping_sub(before);
        let lost = self.is_lost(took);
        if lost {
            self.lost(took, used);
        } else {
            self.yielded();
        }
        lost
    }

    /// Whether a yield that took so many ticks gave the CPU to a process that computes. None counts in a large
    /// job: so many sleepers that wake up to look would leave the CPUs no time for others.
    #[inline(always)]
    fn is_lost(&self, ticks: u64) -> bool {
        ticks > LOST * arch::ticks_a_microsecond() && self.crowd() == 1
    }

    /// Counts a yield that was not lost. Threads may miss each other's: the number matters little.
    #[inline(always)]
    fn yielded(&self) {
        let yields = self.yields.load(Ordering::Relaxed);
        self.yields.store(yields.wrapping_add(1), Ordering::Relaxed);
    }

    /// Notes a lost yield that took so many ticks. `used` tells how much CPU time this thread and the others
    /// of the client on its CPU have used so far: what they have not used, others have. It is asked about
    /// the last two of [`SURE`] dear yields: asking takes time just when a process has got its CPU back.
    #[cold]
    fn lost(&self, ticks: u64, used: impl FnOnce() -> u64) {
        if self.yields.swap(0, Ordering::Relaxed) >= CHEAP || !self.is(WaitMode::Auto) {
            return self.dear.store(0, Ordering::Relaxed);
        }
        let now = process::clock();
        let (until, hold) = (self.until.load(Ordering::Relaxed), self.hold.load(Ordering::Relaxed));
        if until != 0 && now < until + 2 * hold {
            return self.assume_lost(now, (2 * hold).min(LONGEST_HOLD));
        }
        let dear = self.dear.fetch_add(1, Ordering::Relaxed) + 1;
        if dear < SURE - 1 {
            return;
        }
        let used = used();
        let [since, before] = &self.last;
        let passed = now.saturating_sub(since.swap(now, Ordering::Relaxed));
        let used = used.saturating_sub(before.swap(used, Ordering::Relaxed));
        if dear < SURE {
            return;
        }
        if passed.saturating_sub(used) > ticks / arch::ticks_a_microsecond() * 1000 / 2 {
            self.assume_lost(now, HOLD);
        } else {
            self.dear.store(0, Ordering::Relaxed);
        }
    }

    fn assume_lost(&self, now: u64, hold: u64) {
        self.dear.store(0, Ordering::Relaxed);
        self.hold.store(hold, Ordering::Relaxed);
        self.until.store(now + hold, Ordering::Relaxed);
    }
}

impl Default for WaitPolicy {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lose(policy: &WaitPolicy, used: u64) {
        policy.lost(0, || used);
    }

    #[test]
    fn waits_sleep_once_yields_are_lost_to_others() {
        let policy = WaitPolicy::new();
        for _ in 1..SURE {
            lose(&policy, 0);
            assert!(!policy.loses_yields());
        }
        lose(&policy, 0);
        assert!(policy.loses_yields());
        policy.set(Share::Part, false, 1);
        assert!(!policy.loses_yields());
    }

    #[test]
    fn a_mode_that_is_fixed_does_not_change() {
        let policy = WaitPolicy::new();
        policy.fix(WaitMode::Yield);
        (0..SURE).for_each(|_| lose(&policy, 0));
        assert!(!policy.loses_yields() && !policy.spins());
        policy.fix(WaitMode::Spin);
        assert!(!policy.loses_yields() && policy.spins());
        policy.fix(WaitMode::Sleep);
        assert!(policy.loses_yields() && !policy.spins());
    }

    #[test]
    fn rarely_lost_yields_are_no_reason_to_sleep() {
        let policy = WaitPolicy::new();
        for _ in 0..2 * SURE {
            (0..CHEAP).for_each(|_| policy.yielded());
            lose(&policy, 0);
        }
        assert!(!policy.loses_yields());
    }

    #[test]
    fn yields_that_others_of_the_client_used_are_not_lost() {
        let policy = WaitPolicy::new();
        for time in 1..=2 * SURE {
            // Many minutes more each time, whatever this thread loses meanwhile.
            lose(&policy, u64::from(time) << 40);
        }
        assert!(!policy.loses_yields());
    }

    #[test]
    fn processes_that_only_a_quota_limits_spin_and_nap() {
        let shares =
            |quota| [2, 3, 5].map(|processes| Share::of(processes, Cpus { number: 4, quota }));
        assert_eq!(shares(usize::MAX), [Share::Whole, Share::Whole, Share::Part]);
        assert_eq!(shares(2), [Share::Whole, Share::Quota, Share::Part]);
        let policy = WaitPolicy::new();
        for share in shares(2) {
            policy.set(share, true, 1);
            assert_eq!(
                (policy.spins(), policy.naps()),
                (share != Share::Part, share != Share::Whole)
            );
        }
        let served = shares(2).map(Share::served);
        assert_eq!(served, [Share::Served, Share::Part, Share::Part]);
        policy.set(served[0], true, 1);
        assert_eq!((policy.spins(), policy.naps(), policy.shared()), (false, false, false));
    }

    #[test]
    fn no_spin_soon_follows_one_in_vain() {
        let policy = WaitPolicy::new();
        assert!(policy.may_spin(1));
        policy.spun_in_vain(1, false);
        assert!(!policy.may_spin(1 + SPIN));
        assert!(policy.may_spin(1 + NO_SPIN));
    }

    #[test]
    fn waits_do_not_even_begin_with_spins_where_processes_of_the_job_need_the_cpu() {
        let policy = WaitPolicy::new();
        policy.set(Share::Whole, true, 1);
        assert_eq!(policy.first_spins(), SPINS_ALONE);
        for time in [2, 4, 8, 16, 16] {
            policy.spun_in_vain(0, true);
            assert!(!policy.may_spin(time * NO_SPIN - 1));
            assert_eq!(policy.first_spins(), SPINS_SHARED);
            assert!(policy.may_spin(time * NO_SPIN));
            assert_eq!(policy.first_spins(), SPINS_ALONE);
        }
        policy.spun_in_vain(0, false);
        assert!(policy.may_spin(NO_SPIN));
    }
}
