//! Measurements: points, each with its runs, and other events.

use oneshmem_plots::{figures, stats};
use serde::{Deserialize, Serialize};

pub use oneshmem_plots::Unit;

/// The name of plain shared memory among the implementations.
pub const RAW: &str = "raw";

/// All that one part of a figure has measured.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The implementations, our own first; without [`RAW`].
    pub names: Vec<String>,
    /// Where it was.
    pub place: Place,
    /// Which figure of the runs of a point counts.
    pub statistic: Statistic,
    /// The measurements.
    pub points: Vec<Point>,
    /// Failures, and what could not be measured.
    pub remarks: Vec<Remark>,
    /// The implementations' names of themselves.
    pub facts: Vec<(String, String)>,
}

/// Where a program runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// On one node.
    #[default]
    Node,
    /// Over two emulated nodes.
    Nodes,
}

/// Which figure of several runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// The median of the runs' medians.
    #[default]
    Median,
    /// The mean of the runs' means.
    Mean,
}

impl Statistic {
    /// The figure of a run.
    pub fn of(self, run: &Run) -> f64 {
        if self == Self::Mean { run.mean } else { run.median }
    }

    /// The figure of several runs.
    pub fn over(self, runs: &[f64]) -> f64 {
        if self == Self::Mean { stats::mean(runs) } else { stats::median(runs) }
    }
}

/// Identifies a quantity: its name, the size in bytes (0 if it has none), and the number of PEs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Key {
    /// Such as `pingpong.put`.
    pub name: String,
    /// In bytes, or 0.
    pub size: u64,
    /// The number of PEs.
    pub pes: usize,
}

/// A quantity of one implementation.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    /// Where it was measured.
    pub place: Place,
    /// The implementation.
    pub implementation: String,
    /// The quantity.
    #[serde(flatten)]
    pub key: Key,
    /// The unit of the figures.
    pub unit: Unit,
    /// Which figure of the runs counts.
    #[serde(skip)]
    pub statistic: Statistic,
    /// An entry for each run of the program.
    pub runs: Vec<Run>,
}

/// A summary of one run's samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Run {
    /// The turn, in which all implementations ran one after the other.
    pub turn: usize,
    /// Smallest sample.
    pub min: f64,
    /// Median of the samples.
    pub median: f64,
    /// Mean of the samples.
    pub mean: f64,
    /// Largest sample.
    pub max: f64,
    /// Number of samples.
    pub samples: u64,
}

impl Run {
    /// A run with a single sample.
    pub fn one(turn: usize, value: f64) -> Self {
        Self { turn, min: value, median: value, mean: value, max: value, samples: 1 }
    }
}

/// Events besides figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The implementation.
    pub implementation: String,
    /// The description.
    pub what: String,
    /// Whether something failed, or ended badly after its figures; else the implementation lacks it.
    pub fails: bool,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.fails { "Failed" } else { "Not measured" };
        write!(f, "{kind}: {}, {}", self.implementation, self.what)
    }
}

impl Report {
    /// Adds one run's figures to their point.
    pub fn add(&mut self, who: &str, key: Key, unit: Unit, run: Run) {
        let same = |point: &&mut Point| point.implementation == who && point.key == key;
        match self.points.iter_mut().find(same) {
            Some(point) => point.runs.push(run),
            None => {
                let Self { place, statistic, .. } = *self;
                let (implementation, runs) = (who.into(), vec![run]);
                self.points.push(Point { place, implementation, key, unit, statistic, runs });
            }
        }
    }

    /// Adds a remark, unless it has been made before.
    pub fn remark(&mut self, who: &str, fails: bool, what: impl Into<String>) {
        let remark = Remark { implementation: who.into(), what: what.into(), fails };
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// One implementation's point for a quantity.
    pub fn find(&self, who: &str, key: &Key) -> Option<&Point> {
        self.points.iter().find(|point| point.implementation == who && point.key == *key)
    }

    /// The reference of a point: the same over plain shared memory; of a whole job, as many processes that do nothing,
    /// from the same launcher.
    pub fn limit(&self, point: &Point) -> Option<&Point> {
        if point.key.name == "wall.hello" {
            let key = Key { name: "wall.true".into(), ..point.key.clone() };
            return self.find(&point.implementation, &key);
        }
        self.find(RAW, &point.key)
    }

    /// Whether anything but these has failed.
    pub fn fails(&self, others: &[&str]) -> bool {
        let ours = |remark: &&Remark| !others.contains(&remark.implementation.as_str());
        self.remarks.iter().filter(ours).any(|remark| remark.fails)
    }

    /// Where one of `others` is ahead of all the rest, as a sentence; empty if nothing was compared.
    pub fn behind(&self, others: &[&str]) -> String {
        let is_other = |name: &str| others.contains(&name);
        let (mut compared, mut places) = (0, Vec::new());
        for theirs in self.points.iter().filter(|point| is_other(&point.implementation)) {
            let ours = self.points.iter().filter(|point| {
                !is_other(&point.implementation)
                    && point.implementation != RAW
                    && point.key == theirs.key
            });
            let best = ours.filter_map(|mine| mine.times(theirs)).min_by(f64::total_cmp);
            let Some(best) = best else { continue };
            compared += 1;
            if best > 1.0 {
                let Key { name, size, pes } = &theirs.key;
                let size = figures::bytes(*size);
                let times = figures::ratio(best);
                places.push(format!(
                    "{name} {size} on {pes} PEs ({times} times {}'s)",
                    theirs.implementation
                ));
            }
        }
        match (compared, places.len()) {
            (0, _) => String::new(),
            (_, 0) => format!("Slower than another implementation at none of {compared} points."),
            (_, some) => format!(
                "Slower than another implementation at {some} of {compared} points: {}.",
                places.join(", ")
            ),
        }
    }
}

impl Point {
    /// The figure to quote.
    pub fn value(&self) -> f64 {
        self.statistic.over(&self.of_runs())
    }

    /// The figures of the runs.
    pub fn of_runs(&self) -> Vec<f64> {
        self.runs.iter().map(|run| self.statistic.of(run)).collect()
    }

    /// How far the runs are from each other ([`stats::spread`]).
    pub fn spread(&self) -> f64 {
        stats::spread(&self.of_runs())
    }

    /// The cost in units of another point's: the median over the turns of the ratio within a turn, so that a machine that
    /// changes between turns does not get into it. `None` without a turn that both have.
    pub fn times(&self, other: &Self) -> Option<f64> {
        let within = |run: &Run| {
            let theirs = other.runs.iter().find(|theirs| theirs.turn == run.turn)?;
            Some(self.unit.cost_ratio(self.statistic.of(run), self.statistic.of(theirs)))
        };
        let ratios: Vec<f64> = self.runs.iter().filter_map(within).collect();
        (!ratios.is_empty()).then(|| stats::median(&ratios))
    }
}

#[cfg(test)]
impl Report {
    /// Adds a figure for each turn.
    pub fn note(
        &mut self,
        who: &str,
        name: &str,
        (size, pes): (u64, usize),
        unit: Unit,
        turns: &[f64],
    ) {
        if who != RAW && !self.names.iter().any(|name| name == who) {
            self.names.push(who.into());
        }
        for (turn, value) in turns.iter().enumerate() {
            self.add(who, Key { name: name.into(), size, pes }, unit, Run::one(turn, *value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_compared_with_themselves() {
        let mut report = Report::default();
        let ns = Unit::Nanoseconds;
        // The ratio of the medians would be 110 / 50.
        report.note("mine", "a.b", (8, 2), ns, &[55.0, 110.0, 330.0]);
        report.note(RAW, "a.b", (8, 2), ns, &[50.0, 50.0, 300.0]);
        report.note("mine", "wall.hello", (0, 64), ns, &[20.0]);
        report.note("mine", "wall.true", (0, 64), ns, &[10.0]);
        let times = |point: &Point| point.times(report.limit(point)?);
        assert_eq!(times(&report.points[0]), Some(1.1));
        assert_eq!((report.points[0].value(), report.points[0].runs.len()), (110.0, 3));
        assert_eq!(times(&report.points[2]), Some(2.0));
        assert_eq!(times(&report.points[3]), None);
    }

    #[test]
    fn each_variant_of_ours_is_behind() {
        let mut report = Report::default();
        for (who, name, value) in [
            ("mine", "behind", 300.0),
            ("mine, SMARTMAP", "behind", 200.0),
            ("other", "behind", 100.0),
            ("mine, SMARTMAP", "ahead", 50.0),
            ("other", "ahead", 100.0),
            ("other", "alone", 1.0),
        ] {
            report.note(who, name, (8, 2), Unit::Nanoseconds, &[value; 3]);
        }
        let told = "Slower than another implementation at 1 of 2 points: behind 8 B on 2 PEs (2.00 times other's).";
        assert_eq!(report.behind(&["other"]), told);
        assert_eq!(report.behind(&[]), "");
    }

    #[test]
    fn remarks_are_made_once() {
        let mut report = Report::default();
        report.remark("one", true, "a: no");
        report.remark("one", true, "a: no");
        assert_eq!(
            (report.remarks.len(), report.fails(&[]), report.fails(&["one"])),
            (1, true, false)
        );
    }
}
