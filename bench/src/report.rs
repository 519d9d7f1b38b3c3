//! The data of a report, which is written as JSON, and plotted.

use std::path::Path;

use anyhow::Context;
use serde::Serialize;

pub use oneshmem_plots::Unit;

use crate::instructions::Count;
use crate::machine::Machine;
use crate::noise::Noise;

/// The version of this format.
const FORMAT: u32 = 3;

/// All results of one run of the suite.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The version: see [`FORMAT`].
    pub format: u32,
    /// When the run began, in UTC.
    pub began: String,
    /// Whether it was the short form.
    pub quick: bool,
    /// How often each program was run.
    pub repeats: usize,
    /// The CPUs to which PEs are pinned, in order.
    pub cpus: Vec<usize>,
    /// The machine.
    pub machine: Machine,
    /// How quiet the machine was.
    pub noise: Noise,
    /// The implementations measured, our own first.
    pub implementations: Vec<Implementation>,
    /// All measurements.
    pub points: Vec<Point>,
    /// Instructions per call, by implementation.
    pub instructions: Vec<(String, Vec<Count>)>,
    /// Failures, and quantities that could not be measured.
    pub remarks: Vec<Remark>,
}

/// One implementation of OpenSHMEM, as it describes itself.
#[derive(Debug, Clone, Serialize)]
pub struct Implementation {
    /// Its name in this report.
    pub name: String,
    /// Facts about it, as names and values.
    pub facts: Vec<(String, String)>,
}

/// One quantity of one implementation, at one size and number of PEs.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    /// The implementation. [`RAW`] is the machine itself.
    pub implementation: String,
    /// The program that measured it.
    pub program: String,
    /// The quantity, such as `pingpong.put`.
    pub name: String,
    /// The size in bytes, or 0 if there is none.
    pub size: u64,
    /// The number of PEs.
    pub pes: usize,
    /// The unit of the figures.
    pub unit: Unit,
    /// One entry for each run of the program.
    pub runs: Vec<Run>,
}

pub use crate::implementation::RAW;

/// The part of one run that concerns a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Run {
    /// The turn of the suite.
    pub turn: usize,
    /// The figures.
    #[serde(flatten)]
    pub samples: Summary,
}

/// A summary of one run's samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Smallest sample.
    pub min: f64,
    /// Median of the samples.
    pub median: f64,
    /// Mean of the samples.
    pub mean: f64,
    /// Largest sample.
    pub max: f64,
    /// Number of samples.
    #[serde(rename = "samples")]
    pub count: u64,
}

impl Summary {
    /// Of a single sample.
    pub fn one(value: f64) -> Self {
        Self { min: value, median: value, mean: value, max: value, count: 1 }
    }
}

/// What happened besides figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The implementation.
    pub implementation: String,
    /// The program.
    pub program: String,
    /// How serious it is.
    pub kind: RemarkKind,
    /// A description.
    pub what: String,
}

/// How serious a remark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum RemarkKind {
    /// The implementation lacks the feature.
    Skipped,
    /// The figures are valid, but the job then ended badly.
    BadEnd,
    /// Something failed: figures are missing.
    Failed,
}

impl Remark {
    /// It without its kind.
    pub fn about(&self) -> String {
        format!("{}, {}: {}", self.implementation, self.program, self.what)
    }
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            RemarkKind::Skipped => "Not measured",
            RemarkKind::BadEnd => "Bad end",
            RemarkKind::Failed => "Failed",
        };
        write!(f, "{kind}: {}", self.about())
    }
}

impl Report {
    /// An empty report of this format.
    pub fn new(quick: bool, repeats: usize, cpus: Vec<usize>, machine: Machine) -> Self {
        Self {
            format: FORMAT,
            began: crate::machine::now(),
            quick,
            repeats,
            cpus,
            machine,
            noise: Noise::default(),
            implementations: Vec::new(),
            points: Vec::new(),
            instructions: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Writes the report to a file.
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(path, text + "\n")
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Adds one run's figures to its point.
    pub fn add(&mut self, implementation: &str, program: &str, key: Key, unit: Unit, run: Run) {
        let known = self
            .points
            .iter_mut()
            .find(|point| point.implementation == implementation && point.key() == key);
        match known {
            Some(point) => point.runs.push(run),
            None => self.points.push(Point {
                implementation: implementation.into(),
                program: program.into(),
                name: key.name,
                size: key.size,
                pes: key.pes,
                unit,
                runs: vec![run],
            }),
        }
    }

    /// Adds a remark, unless it has been made before.
    pub fn remark(
        &mut self,
        implementation: &str,
        program: &str,
        kind: RemarkKind,
        what: impl Into<String>,
    ) {
        let remark = Remark {
            implementation: implementation.into(),
            program: program.into(),
            kind,
            what: what.into(),
        };
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// The points of one implementation.
    pub fn points_of<'a>(&'a self, implementation: &'a str) -> impl Iterator<Item = &'a Point> {
        self.points.iter().filter(move |point| point.implementation == implementation)
    }

    /// One implementation's point for a quantity.
    pub fn find(&self, implementation: &str, key: &Key) -> Option<&Point> {
        self.points
            .iter()
            .find(|point| point.implementation == implementation && point.key() == *key)
    }

    /// The first implementation: the one that the report is about.
    pub fn own(&self) -> Option<&str> {
        self.implementations.first().map(|implementation| implementation.name.as_str())
    }

    /// Whether anything of our own implementation or of the raw programs has failed or ended badly.
    /// Failures of others only stand in the report.
    pub fn fails(&self) -> bool {
        let others: Vec<&str> = self.peers().collect();
        let ours = |remark: &&Remark| !others.contains(&remark.implementation.as_str());
        self.remarks.iter().filter(ours).any(|remark| remark.kind != RemarkKind::Skipped)
    }

    /// The other implementations.
    pub fn peers(&self) -> impl Iterator<Item = &str> {
        self.implementations.iter().skip(1).map(|implementation| implementation.name.as_str())
    }
}

/// Identifies a quantity across implementations and reports.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The quantity's name.
    pub name: String,
    /// The size.
    pub size: u64,
    /// The number of PEs.
    pub pes: usize,
}

impl Point {
    /// The key of this point.
    pub fn key(&self) -> Key {
        Key { name: self.name.clone(), size: self.size, pes: self.pes }
    }

    /// The figure to quote: the median of the runs' medians.
    pub fn value(&self) -> f64 {
        crate::stats::median(&self.medians())
    }

    /// Each run's median.
    pub fn medians(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.samples.median).collect()
    }

    /// The spread of the runs ([`spread`](crate::stats::spread)).
    pub fn spread(&self) -> f64 {
        crate::stats::spread(&self.medians())
    }

    /// The run of one turn.
    pub fn in_turn(&self, turn: usize) -> Option<&Run> {
        self.runs.iter().find(|run| run.turn == turn)
    }

    /// The typical minimum, mean and maximum within a run: for each the median over the runs.
    pub fn within(&self) -> (f64, f64, f64) {
        let over = |part: fn(&Summary) -> f64| {
            crate::stats::median(
                &self.runs.iter().map(|run| part(&run.samples)).collect::<Vec<_>>(),
            )
        };
        (over(|of| of.min), over(|of| of.mean), over(|of| of.max))
    }
}

#[cfg(test)]
impl Run {
    /// A run with one sample in an undisturbed turn.
    pub fn one(turn: usize, value: f64) -> Self {
        Self { turn, samples: Summary::one(value) }
    }
}

#[cfg(test)]
impl Report {
    /// One with these implementations, and no figures yet.
    pub fn of(names: &[&str]) -> Self {
        let mut report = Self::new(true, 3, vec![0, 1], Machine::default());
        let add = |name: &&str| Implementation { name: (*name).into(), facts: Vec::new() };
        report.implementations.extend(names.iter().map(add));
        report
    }

    /// Adds a figure for each turn, of a size and a number of PEs.
    pub fn note(
        &mut self,
        who: &str,
        name: &str,
        (size, pes): (u64, usize),
        unit: Unit,
        turns: &[f64],
    ) -> Point {
        let key = Key { name: name.into(), size, pes };
        for (turn, value) in turns.iter().enumerate() {
            self.add(who, "p", key.clone(), unit, Run::one(turn, *value));
        }
        self.find(who, &key).unwrap().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(median: f64) -> Run {
        let samples =
            Summary { min: median / 2.0, median, mean: median, max: median * 2.0, count: 20 };
        Run { samples, ..Run::one(0, median) }
    }

    #[test]
    fn runs_of_one_point_gather() {
        let mut report = Report::of(&[]);
        let key = Key { name: "a.b".into(), size: 8, pes: 2 };
        for median in [3.0, 1.0, 2.0] {
            report.add("one", "a", key.clone(), Unit::Nanoseconds, run(median));
        }
        report.add("two", "a", key.clone(), Unit::Nanoseconds, run(9.0));
        assert_eq!(report.points.len(), 2);
        let point = report.find("one", &key).unwrap();
        assert_eq!((point.value(), point.spread()), (2.0, 0.5));
        assert_eq!(point.within(), (1.0, 2.0, 4.0));
    }

    #[test]
    fn remarks_are_made_once() {
        let mut report = Report::of(&[]);
        report.remark("one", "a", RemarkKind::Failed, "no");
        report.remark("one", "a", RemarkKind::Failed, "no");
        report.remark("one", "b", RemarkKind::Failed, "no");
        assert_eq!(report.remarks.len(), 2);
    }
}
