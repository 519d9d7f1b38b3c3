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
    pub place: Place,
    pub statistic: Statistic,
    pub points: Vec<Point>,
    /// Failures, and what could not be measured: the implementation, whether it fails, the sentence.
    pub remarks: Vec<(String, bool, String)>,
}

/// Where a program runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
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

/// Identifies a quantity: its name (`pingpong.put`), the size in bytes (0 if it has none), and the number of PEs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Key {
    pub name: String,
    pub size: u64,
    pub pes: usize,
}

/// A quantity of one implementation.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    pub place: Place,
    pub implementation: String,
    #[serde(flatten)]
    pub key: Key,
    pub unit: Unit,
    #[serde(skip)]
    pub statistic: Statistic,
    /// An entry for each run of the program.
    pub runs: Vec<Run>,
}

/// A summary of one run's samples. In a turn, all implementations ran one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Run {
    pub turn: usize,
    pub min: f64,
    pub median: f64,
    pub mean: f64,
    pub max: f64,
    pub samples: u64,
}

impl Run {
    /// A run with a single sample.
    pub fn one(turn: usize, value: f64) -> Self {
        Self { turn, min: value, median: value, mean: value, max: value, samples: 1 }
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

    /// Adds a remark, unless it has been made before: a failure, or what an implementation lacks.
    pub fn remark(&mut self, who: &str, fails: bool, what: &str) {
        let kind = if fails { "Failed" } else { "Not measured" };
        let remark = (who.to_owned(), fails, format!("{kind}: {who}, {what}"));
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
        self.remarks.iter().any(|(who, fails, _)| *fails && !others.contains(&who.as_str()))
    }
}

impl Point {
    /// The figure to quote.
    pub fn value(&self) -> f64 {
        self.statistic.over(&self.of_runs())
    }

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

/// How far the runs of points are from each other, as words.
pub fn spreads(points: &[Point]) -> String {
    let mut spreads: Vec<f64> = points.iter().map(Point::spread).collect();
    spreads.retain(|spread| !spread.is_nan());
    spreads.sort_by(f64::total_cmp);
    let at = |share: usize| spreads.get(spreads.len() * share / 10).map(|it| figures::spread(*it));
    match at(5).zip(at(9)) {
        Some((half, most)) => format!("{half} at half of the points, {most} at nine of ten"),
        None => "not known of single runs".into(),
    }
}

#[cfg(test)]
impl Report {
    /// Adds a figure for each turn.
    pub fn note(&mut self, who: &str, name: &str, (size, pes): (u64, usize), turns: &[f64]) {
        if who != RAW && !self.names.iter().any(|name| name == who) {
            self.names.push(who.into());
        }
        for (turn, value) in turns.iter().enumerate() {
            let key = Key { name: name.into(), size, pes };
            self.add(who, key, Unit::Nanoseconds, Run::one(turn, *value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_compared_with_themselves() {
        let mut report = Report::default();
        // The ratio of the medians would be 110 / 50.
        report.note("mine", "a.b", (8, 2), &[55.0, 110.0, 330.0]);
        report.note(RAW, "a.b", (8, 2), &[50.0, 50.0, 300.0]);
        report.note("mine", "wall.hello", (0, 64), &[20.0]);
        report.note("mine", "wall.true", (0, 64), &[10.0]);
        let times = |point: &Point| point.times(report.limit(point)?);
        assert_eq!(times(&report.points[0]), Some(1.1));
        assert_eq!((report.points[0].value(), report.points[0].runs.len()), (110.0, 3));
        assert_eq!(times(&report.points[2]), Some(2.0));
        assert_eq!(times(&report.points[3]), None);
        assert_eq!(
            spreads(&report.points[..1]),
            "±125 % at half of the points, ±125 % at nine of ten"
        );
    }

    #[test]
    fn remarks_are_made_once() {
        let mut report = Report::default();
        report.remark("one", true, "a: no");
        report.remark("one", true, "a: no");
        let fails = |others: &[&str]| report.fails(others);
        assert_eq!((report.remarks.len(), fails(&[]), fails(&["one"])), (1, true, false));
    }
}
