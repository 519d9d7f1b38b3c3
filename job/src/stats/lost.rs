//! How much CPU time a PE lost to processes that are not of its job.
//!
//! The kernel tells for how long the PE's first thread was ready to run and had no CPU. In part of that time the
//! PE's other threads, or other PEs on its CPUs, may have had the CPU; that part is subtracted. So the rest is a
//! lower bound. It includes time for which the quota of a control group stopped the PE.

use crate::atomics::Ordering;
use crate::jobfile::control::Control;
use onenode_core::sys::process;
use std::time::{Duration, Instant};

/// Losses below this part of a PE's time, or shorter, are not reported.
const NOTABLE: f64 = 0.05;
const NOTABLE_TIME: Duration = Duration::from_millis(100);

/// The system's counters of a process at some moment. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct ProcessUsage {
    at: Instant,
    /// For how long its first thread has run.
    ran: u64,
    /// For how long that was ready to run and had no CPU.
    ready: u64,
    /// For how long all its threads have run.
    all: u64,
}

impl ProcessUsage {
    /// The usage of a process; `None` if the system does not tell.
    pub fn of(pid: u32) -> Option<Self> {
        let at = Instant::now();
        let [ran, ready] = process::ran_and_ready(pid)?;
        Some(Self { at, ran, ready, all: process::time_of(pid) })
    }

    /// How many nanoseconds of CPU time it has used since an earlier moment.
    pub fn since(&self, before: &Self) -> u64 {
        self.all.saturating_sub(before.all)
    }
}

/// A PE's time, and what others took of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostTime {
    /// The time for which this was counted.
    pub all: Duration,
    /// The part of it that others took.
    pub lost: Duration,
    /// The CPU that the PE is bound to, if it is only one.
    pub cpu: Option<u32>,
}

impl LostTime {
    /// Time that a PE of this node has lost between two moments. Meanwhile another used so many nanoseconds of CPU
    /// time as `used` tells; `None` if that is not known.
    pub fn between(
        control: &Control,
        pe: usize,
        [before, now]: [&ProcessUsage; 2],
        used: impl Fn(usize) -> Option<u64>,
    ) -> Option<Self> {
        let near = control.job().near();
        let cpus = process::cpus_of(control.job().pid(pe)?);
        let peers: u64 = match cpus {
            1 => control.neighbours(pe).map(used).sum::<Option<_>>()?,
            // There is a CPU for each.
            _ if near.len() <= cpus => 0,
            // They run on all CPUs.
            _ => near.filter(|peer| *peer != pe).map(used).sum::<Option<u64>>()? / cpus as u64,
        };
        let first_thread = now.ran.saturating_sub(before.ran);
        let threads = now.since(before).saturating_sub(first_thread) / cpus as u64;
        let lost = now.ready.saturating_sub(before.ready).saturating_sub(threads + peers);
        let all = now.at - before.at;
        Some(Self {
            all,
            lost: Duration::from_nanos(lost).min(all),
            cpu: control.pe(pe).cpu.load(Ordering::Relaxed).checked_sub(1).filter(|_| cpus == 1),
        })
    }

    /// For users: what was lost, if it is much.
    pub fn described(&self) -> Option<String> {
        let part = self.lost.as_secs_f64() / self.all.as_secs_f64();
        let place = self.cpu.map_or("its CPUs".into(), |cpu| format!("CPU {cpu}"));
        (part >= NOTABLE && self.lost >= NOTABLE_TIME)
            .then(|| format!("lost {:.0}% of its time to other processes on {place}", 100.0 * part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_much_is_told() {
        let told = |all, lost, cpu| {
            let time = Duration::from_millis;
            LostTime { all: time(all), lost: time(lost), cpu }.described()
        };
        assert_eq!(
            told(10_000, 4_321, Some(1)).unwrap(),
            "lost 43% of its time to other processes on CPU 1"
        );
        assert_eq!(
            told(10_000, 500, None).unwrap(),
            "lost 5% of its time to other processes on its CPUs"
        );
        assert_eq!(told(10_000, 490, None), None);
        assert_eq!(told(100, 90, None), None);
        assert_eq!(LostTime::default().described(), None);
    }
}
