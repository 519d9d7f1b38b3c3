//! How quiet the machine is during measurements.

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{SysconfVar, sysconf};
use serde::{Deserialize, Serialize};

use crate::distance::{self, Probe};

/// Other activity seen on this machine.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Noise {
    /// The load average over the minute before the suite began.
    pub load: f64,
    /// The share of CPU time that the host took from this virtual machine.
    pub stolen: f64,
    /// The average number of CPUs that other processes kept busy.
    pub others: f64,
    /// The times of a fixed piece of work, in nanoseconds, taken between the runs.
    pub probes: Vec<f64>,
    /// The distance between the first two CPUs, before and after every run.
    pub distances: Vec<Probe>,
    /// How often figures were discarded and measured again because the distance had changed.
    pub retaken: usize,
    /// How often it had changed even then. Such figures are not compared with others.
    pub unsteady: usize,
}

/// The maximum load of an otherwise idle machine.
const LOAD: f64 = 0.3;
const STOLEN: f64 = 0.01;
/// The maximum number of CPUs that an otherwise idle machine keeps busy.
const OTHERS: f64 = 0.05;
/// The maximum ratio of the probe's ninth decile to its minimum.
const JITTER: f64 = 1.10;
/// The maximum distance of a point's runs from their median, relative to it.
const SPREAD: f64 = 0.10;

/// Observes the machine from creation to [`Self::end`].
#[derive(Debug)]
pub struct Watch {
    load: f64,
    before: Option<Times>,
    began: Instant,
    ours: f64,
    probes: Vec<f64>,
    /// Observations added by others.
    pub seen: Noise,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Times {
    all: u64,
    busy: u64,
    stolen: u64,
}

impl Times {
    /// What has passed until `after`. The kernel's counters may decrease (proc(5)); that counts as
    /// nothing.
    fn until(&self, after: &Self) -> Self {
        Self {
            all: after.all.saturating_sub(self.all),
            busy: after.busy.saturating_sub(self.busy),
            stolen: after.stolen.saturating_sub(self.stolen),
        }
    }
}

impl Watch {
    /// Starts to observe.
    pub fn start() -> Self {
        let load = fs::read_to_string("/proc/loadavg").ok();
        let load = load.and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(0.0);
        Self {
            load,
            before: times(),
            began: Instant::now(),
            ours: ours(),
            probes: Vec::new(),
            seen: Noise::default(),
        }
    }

    /// Times the fixed piece of work a few times, which takes well under a second in all.
    pub fn probe(&mut self) {
        for _ in 0..10 {
            let start = Instant::now();
            let mut x = black_box(88_172_645_463_325_252_u64);
            for _ in 0..1_000_000 {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
            }
            black_box(x);
            self.probes.push(start.elapsed().as_nanos() as f64);
        }
    }

    /// Ends the observation.
    pub fn end(self) -> Noise {
        let (mut stolen, mut others) = (0.0, 0.0);
        let since = self.before.zip(times()).filter(|(before, after)| after.all > before.all);
        if let Some((before, after)) = since {
            let since = before.until(&after);
            stolen = since.stolen as f64 / since.all as f64;
            let busy = seconds(since.busy) - (ours() - self.ours);
            others = (busy / self.began.elapsed().as_secs_f64()).max(0.0);
        }
        Noise { load: self.load, stolen, others, probes: self.probes, ..self.seen }
    }
}

impl Noise {
    /// The probes' ninth decile relative to their minimum.
    pub fn jitter(&self) -> f64 {
        let mut sorted = self.probes.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => 1.0,
            n => sorted[(n - 1) * 9 / 10] / sorted[0],
        }
    }

    /// The probed distances, in order.
    pub fn far(&self) -> Vec<f64> {
        self.distances.iter().map(|probe| probe.ns).collect()
    }

    /// A warning if the CPUs were moved.
    fn moved(&self) -> Option<String> {
        let far = self.far();
        let text = distance::describe(&far).filter(|_| distance::modes(&far).len() > 1)?;
        let why = match self.others > OTHERS {
            true => "others use the CPUs, or the host moves them",
            false => "the host moves the CPUs",
        };
        let mut text = format!("a cache line took {text}: {why}");
        if self.retaken > 0 {
            text += &format!("; {} taken again", times_over(self.retaken));
        }
        if self.unsteady > 0 {
            text += &format!("; {} left without ratios", times_over(self.unsteady));
        }
        Some(text)
    }

    /// Warnings for readers of the figures. `spreads` are those of all points, `governor` the
    /// machine's frequency governor.
    pub fn warnings(&self, spreads: &[f64], governor: Option<&str>) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.load > LOAD {
            warnings.push(format!(
                "the machine was busy before the suite began (load average {:.2})",
                self.load
            ));
        }
        if self.others > OTHERS {
            warnings.push(format!("others kept {:.2} CPUs busy meanwhile", self.others));
        }
        if self.stolen > STOLEN {
            warnings
                .push(format!("the host took {:.1} % of the CPU time away", self.stolen * 100.0));
        }
        if self.jitter() > JITTER {
            warnings.push(format!(
                "a fixed piece of work took up to {:.2} times its best time (ninth decile)",
                self.jitter()
            ));
        }
        warnings.extend(self.moved());
        let wide = spreads.iter().filter(|&&spread| spread > SPREAD).count();
        if wide * 10 > spreads.len() {
            warnings.push(format!(
                "in {wide} of {} points the runs differ from their median by more than {:.0} %",
                spreads.len(),
                SPREAD * 100.0
            ));
        }
        if let Some(governor @ ("powersave" | "ondemand" | "conservative" | "schedutil")) = governor
        {
            warnings.push(format!(
                "the frequency governor is {governor}: clocks change while measuring"
            ));
        }
        warnings
    }
}

fn times_over(groups: usize) -> String {
    format!("{groups} {} of runs", if groups == 1 { "group" } else { "groups" })
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
        let before = Times { all: 100, busy: 20, stolen: 7 };
        let after = Times { all: 150, busy: 60, stolen: 5 };
        assert_eq!(before.until(&after), Times { all: 50, busy: 40, stolen: 0 });
    }

    #[test]
    fn a_still_machine_is_not_complained_about() {
        let noise = Noise { load: 0.1, probes: vec![100.0, 101.0, 102.0], ..Noise::default() };
        assert!(noise.warnings(&[0.01, 0.02], Some("performance")).is_empty());
    }

    #[test]
    fn each_kind_of_noise_is_named() {
        let probe = |(turn, ns)| Probe { turn, ns };
        let noise = Noise {
            load: 3.0,
            stolen: 0.2,
            others: 1.5,
            probes: vec![100.0, 200.0, 200.0],
            distances: [57.0, 58.0, 270.0].into_iter().enumerate().map(probe).collect(),
            retaken: 2,
            unsteady: 1,
        };
        let warnings = noise.warnings(&[0.5, 0.01], Some("powersave"));
        assert_eq!(warnings.len(), 7, "{warnings:?}");
        let moved = "a cache line took 57 to 58 ns in 2 of 3 probes, 270 ns in 1: others use the CPUs, or the host moves them; \
                     2 groups of runs taken again; 1 group of runs left without ratios";
        assert_eq!(warnings[1], "others kept 1.50 CPUs busy meanwhile");
        assert_eq!(warnings[4], moved);
    }
}
