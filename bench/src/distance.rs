//! The distance between the first two CPUs: how long a cache line takes from one to the other.
//!
//! In a virtual machine the host may move virtual CPUs to the two threads of one core or to two
//! sockets. Everything between two PEs then takes several times as long as a second ago, and
//! nothing in the virtual machine shows it. So the distance is measured, between any two runs.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// Distances whose ratio exceeds this are different.
pub const APART: f64 = 1.25;

/// The batches in a probe, which takes their median, and the round trips in a batch. A probe takes
/// less than 3 ms at any distance.
const BATCHES: u64 = 15;
const TRIPS: u64 = 200;
/// A mode with a smaller share of the probes than this is ignored as an accident.
const SHARE: f64 = 0.05;

/// One probe.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// The turn in which it was taken.
    pub turn: usize,
    /// Half of the round trip, in nanoseconds.
    pub ns: f64,
}

/// Two CPUs.
#[derive(Debug, Clone, Copy)]
pub struct Between {
    cpus: [usize; 2],
}

/// A word with its cache lines to itself.
#[derive(Default)]
#[repr(align(256))]
struct Word(AtomicU64);

impl Between {
    /// The first two of a list. `None` if there is only one.
    pub fn first_two(cpus: &[usize]) -> Option<Self> {
        let &[first, second, ..] = cpus else { return None };
        Some(Self { cpus: [first, second] })
    }

    /// Half of the round trip of a word, in nanoseconds, between two threads on these CPUs.
    pub fn probe(self) -> anyhow::Result<f64> {
        let words = [Word::default(), Word::default()];
        let [there, here] = &words;
        std::thread::scope(|scope| {
            let back = scope.spawn(move || {
                // If this thread cannot be pinned, it still answers: the other one is waiting for
                // it.
                let pinned = pin(self.cpus[1]);
                for count in 1..=(BATCHES + 1) * TRIPS {
                    await_count(there, count);
                    here.0.store(count, Ordering::Release);
                }
                pinned
            });
            let to = scope.spawn(move || {
                let pinned = pin(self.cpus[0]);
                let mut times = Vec::new();
                for batch in 0..=BATCHES {
                    let start = std::time::Instant::now();
                    for count in batch * TRIPS + 1..=(batch + 1) * TRIPS {
                        there.0.store(count, Ordering::Release);
                        await_count(here, count);
                    }
                    times.push(start.elapsed().as_nanos() as f64 / (2 * TRIPS) as f64);
                }
                // The first batch includes the start of the other thread.
                pinned.map(|()| crate::stats::median(&times[1..]))
            });
            let both = (back.join(), to.join());
            let (Ok(back), Ok(to)) = both else { anyhow::bail!("a thread of the probe died") };
            back.and(to)
        })
    }
}

fn pin(cpu: usize) -> anyhow::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    sched_setaffinity(Pid::from_raw(0), &set).with_context(|| format!("cannot run on CPU {cpu}"))
}

/// Spins as tightly as the raw programs do, but yields if the other thread may need this CPU.
fn await_count(word: &Word, count: u64) {
    let mut spins = 0_u32;
    while word.0.load(Ordering::Acquire) < count {
        spins += 1;
        if spins > 10_000 {
            std::thread::yield_now();
        }
    }
}

/// Whether all of these are one distance.
pub fn is_one(distances: &[f64]) -> bool {
    let range = crate::stats::Range::of(distances);
    distances.is_empty() || range.high <= range.low * APART
}

/// A cluster of distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// The smallest of them.
    pub low: f64,
    /// The largest of them.
    pub high: f64,
    /// The number of probes.
    pub count: usize,
}

/// The modes of the distances, each further than [`APART`] from the next, without accidents.
pub fn modes(distances: &[f64]) -> Vec<Mode> {
    let mut sorted = distances.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut modes: Vec<Mode> = Vec::new();
    for ns in sorted {
        match modes.last_mut() {
            Some(mode) if ns <= mode.high * APART => {
                mode.high = ns;
                mode.count += 1;
            }
            _ => modes.push(Mode { low: ns, high: ns, count: 1 }),
        }
    }
    modes.retain(|mode| mode.count as f64 >= distances.len() as f64 * SHARE);
    modes
}

/// Describes the modes: `56 to 60 ns in 40 of 70 probes, 268 to 285 ns in 30`. `None` without
/// probes.
pub fn describe(distances: &[f64]) -> Option<String> {
    let span = |mode: &Mode| match (mode.low.round(), mode.high.round()) {
        (low, high) if low == high => format!("{low} ns"),
        (low, high) => format!("{low} to {high} ns"),
    };
    let modes = modes(distances);
    let (first, rest) = modes.split_first()?;
    let mut text = format!("{} in {} of {} probes", span(first), first.count, distances.len());
    for mode in rest {
        text.push_str(&format!(", {} in {}", span(mode), mode.count));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_modes_and_an_accident() {
        let mut distances = vec![57.0; 20];
        distances.extend([60.0, 56.2, 9000.0]);
        distances.extend([270.0, 280.4, 275.0]);
        let text = describe(&distances).unwrap();
        assert_eq!(text, "56 to 60 ns in 22 of 26 probes, 270 to 280 ns in 3");
        assert!(!is_one(&distances) && is_one(&distances[..21]));
    }

    #[test]
    fn one_cpu_has_no_distance() {
        assert!(Between::first_two(&[3]).is_none() && describe(&[]).is_none() && is_one(&[]));
    }

    #[test]
    fn a_line_takes_some_time() {
        let cpus = crate::machine::usable_cpus().unwrap();
        if let Some(between) = Between::first_two(&cpus) {
            assert!(between.probe().unwrap() > 0.0);
        }
        let before = crate::machine::usable_cpus().unwrap();
        assert_eq!(cpus, before, "the probe must not pin the driver");
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error() {
        let cpus = crate::machine::usable_cpus().unwrap();
        assert!(Between { cpus: [cpus[0], CpuSet::count() - 1] }.probe().is_err());
        assert!(Between { cpus: [CpuSet::count() - 1, cpus[0]] }.probe().is_err());
    }
}
