//! How quiet the machine is during measurements.

use std::fs;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{SysconfVar, sysconf};
use serde::Serialize;

/// Other activity seen on this machine.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Noise {
    /// The load average over the minute before the suite began.
    pub load: f64,
    /// The share of CPU time that the host took from this virtual machine.
    pub stolen: f64,
    /// The average number of CPUs that other processes kept busy.
    pub others: f64,
}

/// Observes the machine from creation to [`Self::end`].
#[derive(Debug)]
pub struct Watch {
    load: f64,
    before: Option<Times>,
    began: Instant,
    ours: f64,
}

/// CPU times since boot, in the kernel's ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Times {
    all: u64,
    busy: u64,
    stolen: u64,
}

impl Watch {
    /// Starts to observe.
    pub fn start() -> Self {
        let load = fs::read_to_string("/proc/loadavg").ok();
        let load = load.and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(0.0);
        Self { load, before: times(), began: Instant::now(), ours: ours() }
    }

    /// Ends the observation.
    pub fn end(self) -> Noise {
        let mut noise = Noise { load: self.load, ..Noise::default() };
        if let Some((before, after)) = self.before.zip(times()).filter(|(b, a)| a.all > b.all) {
            // The kernel's counters may decrease (proc(5)); that counts as nothing.
            let stolen = after.stolen.saturating_sub(before.stolen);
            let busy = seconds(after.busy.saturating_sub(before.busy)) - (ours() - self.ours);
            noise.stolen = stolen as f64 / (after.all - before.all) as f64;
            noise.others = (busy / self.began.elapsed().as_secs_f64()).max(0.0);
        }
        noise
    }
}

impl std::fmt::Display for Noise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { load, others, stolen } = self;
        let stolen = stolen * 100.0;
        write!(
            f,
            "Load before {load:.2}; CPUs busy with other things meanwhile {others:.2}; CPU time taken by the host {stolen:.1} %"
        )
    }
}

/// CPU times since boot, from the first line of /proc/stat: user nice system idle iowait irq
/// softirq steal.
fn times() -> Option<Times> {
    parse_times(&fs::read_to_string("/proc/stat").ok()?)
}

fn parse_times(text: &str) -> Option<Times> {
    let fields: Vec<u64> = text
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    let all = fields.get(..8)?.iter().sum();
    // Not busy: idle, waiting for I/O, or stolen.
    Some(Times { all, busy: all - fields[3] - fields[4] - fields[7], stolen: fields[7] })
}

/// Converts the kernel's unit of CPU time to seconds.
fn seconds(ticks: u64) -> f64 {
    let hertz = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100);
    ticks as f64 / hertz as f64
}

/// Seconds of CPU time used so far by this process and by its descendants that have been waited
/// for.
fn ours() -> f64 {
    let spent = |who| {
        getrusage(who).map_or(0.0, |usage| {
            [usage.user_time(), usage.system_time()]
                .iter()
                .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
                .sum()
        })
    };
    spent(UsageWho::RUSAGE_SELF) + spent(UsageWho::RUSAGE_CHILDREN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_times() {
        let text = "cpu  10 1 5 80 2 0 1 7 0 0\ncpu0 1 2 3\n";
        assert_eq!(parse_times(text), Some(Times { all: 106, busy: 17, stolen: 7 }));
        assert_eq!(parse_times("cpu  10 1"), None);
    }
}
