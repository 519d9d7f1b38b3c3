//! Figures in the output of jobs.

use std::path::Path;

use anyhow::{Context, bail};
use oneshmem_watched::Outcome;
use serde::Deserialize;

use crate::report::{Key, Run, Unit};

/// The part of a job's output that is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// The lines that `programs/bench.h` defines.
    #[default]
    Lines,
    /// The wall time of the whole job, `wall.PROGRAM`; a program of ours has to verify its result, or every PE to say who it is.
    Wall,
    /// Time and work a second that a program reports with `verified`: `PROGRAM.time`, `PROGRAM.rate`.
    Report,
    /// To how many others a PE's operations go, and how many it attaches or connects to, in collectives, too, by SHMEM_STATS:
    /// `peers.PROGRAM`, `reached.PROGRAM`.
    Peers,
    /// The steps of `shmem_init`, by SHMEM_TRACE: `step.NAME`.
    Steps,
    /// Two columns under a heading with a unit, as public suites print them: a size, and a figure of the program.
    Columns,
}

/// The results of a job.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    pub figures: Vec<(Key, Unit, Run)>,
    /// Things not measured, and why; whether that is a failure.
    pub remarks: Vec<(bool, String)>,
    /// Whether all checks have passed.
    pub done: bool,
}

impl Told {
    /// Single figures of a job that is done.
    fn of(figures: impl IntoIterator<Item = (String, Unit, f64)>, pes: usize) -> Self {
        let figure = |(name, unit, value)| (Key { name, size: 0, pes }, unit, Run::one(0, value));
        let figures = figures.into_iter().map(figure).collect();
        Self { figures, done: true, ..Self::default() }
    }
}

/// The file into which a job's timeline goes.
pub const TRACE: &str = "trace.json";

impl Reading {
    /// Further environment of a job in this folder.
    pub fn environment(self, folder: &Path) -> Option<(&'static str, String)> {
        match self {
            Self::Peers => Some(("SHMEM_STATS", "1".into())),
            Self::Steps => Some(("SHMEM_TRACE", folder.join(TRACE).display().to_string())),
            _ => None,
        }
    }

    /// The results of a job of this program. An error if they make no sense.
    pub fn of(
        self,
        program: &str,
        pes: usize,
        outcome: &Outcome,
        folder: &Path,
    ) -> anyhow::Result<Told> {
        let said = &outcome.stdout;
        if self == Self::Lines {
            return lines(said);
        }
        if !outcome.success() {
            return Ok(Told::default());
        }
        let is_silent = program.starts_with('/') || matches!(self, Self::Steps | Self::Columns);
        if !is_silent && !said.contains("verified") && !all_greet(said, pes) {
            bail!("neither verified its result nor greeted from each of {pes} PEs");
        }
        let one = |name: &str, unit, value| Told::of([(name.to_owned(), unit, value)], pes);
        let name = program.rsplit('/').next().unwrap_or_default();
        let ns = Unit::Nanoseconds;
        Ok(match self {
            Self::Wall => one(&format!("wall.{name}"), ns, outcome.took.as_nanos() as f64),
            Self::Peers => {
                let count = |what| peers(&outcome.stderr, what);
                let talked = (format!("peers.{name}"), Unit::Count, count("talked to")?);
                let reached = count("attached or connected to")?;
                Told::of([talked, (format!("reached.{name}"), Unit::Count, reached)], pes)
            }
            Self::Steps => steps(&std::fs::read_to_string(folder.join(TRACE))?, pes)?,
            Self::Columns => columns(program, pes, said),
            Self::Report | Self::Lines => {
                let (seconds, work) = reported(said)?;
                let time = (format!("{program}.time"), ns, seconds * 1e9);
                let rate = (format!("{program}.rate"), Unit::MegaOperations, work / 1e6);
                Told::of([time, rate], pes)
            }
        })
    }
}

/// Parses lines. Those that do not begin with a known word are passed by: launchers and libraries print, too. A known word
/// with invalid text is an error.
fn lines(text: &str) -> anyhow::Result<Told> {
    let mut told = Told::default();
    for line in text.lines().map(str::trim_end) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "RESULT" => {
                told.figures.push(result(rest).with_context(|| format!("not a result: {line}"))?);
            }
            "SKIP" => told.remarks.push((false, rest.to_owned())),
            "DONE" if rest.is_empty() => told.done = true,
            _ => {}
        }
    }
    Ok(told)
}

fn result(rest: &str) -> anyhow::Result<(Key, Unit, Run)> {
    let fields = csv::StringRecord::from(rest.split(' ').collect::<Vec<_>>());
    if fields.len() != 9 {
        bail!("{} fields instead of 9", fields.len());
    }
    type Fields = (String, u64, usize, Unit, [f64; 4], u64);
    let (name, size, pes, unit, figures, samples): Fields = fields.deserialize(None)?;
    let [min, median, mean, max] = figures;
    if !figures.iter().all(|it| it.is_finite() && *it >= 0.0) || min > median || median > max {
        bail!("figures that cannot be");
    }
    Ok((Key { name, size, pes }, unit, Run { turn: 0, min, median, mean, max, samples }))
}

/// The first two columns of numbers: a size, and a figure in the unit that the last heading before it has first.
fn columns(program: &str, pes: usize, text: &str) -> Told {
    let (mut unit, mut told) = (None, Told { done: true, ..Told::default() });
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let size = words.next().and_then(|word| word.parse::<u64>().ok());
        let value = words.next().and_then(|word| word.parse::<f64>().ok());
        match (size.zip(value), unit) {
            (Some((size, value)), Some((unit, factor))) if value > 0.0 => {
                let key = Key { name: program.into(), size, pes };
                told.figures.push((key, unit, Run::one(0, value * factor)));
            }
            (Some(_), _) => {}
            (None, _) => unit = heading(line).or(unit),
        }
    }
    if told.figures.is_empty() {
        told.remarks.push((false, "no two columns under a heading with a known unit".into()));
    }
    told
}

/// The unit that stands first in a heading, and the factor to it.
fn heading(line: &str) -> Option<(Unit, f64)> {
    let units = [
        ("(us)", Unit::Nanoseconds, 1e3),
        ("(ns)", Unit::Nanoseconds, 1.0),
        ("MB/s", Unit::MegaBytes, 1.0),
        ("(Messages/s)", Unit::MegaOperations, 1e-6),
        ("(Million ops/s)", Unit::MegaOperations, 1.0),
    ];
    let places = units.map(|(word, unit, factor)| Some((line.find(word)?, unit, factor)));
    let first = places.into_iter().flatten().min_by_key(|(place, ..)| *place);
    first.map(|(_, unit, factor)| (unit, factor))
}

/// Whether the example `hello` has run on every PE.
fn all_greet(stdout: &str, pes: usize) -> bool {
    let is_there = |pe| {
        let greeting = format!("Hello from PE {pe} of {pes}");
        stdout.lines().filter(|line| line.trim_end() == greeting).count() == 1
    };
    (0..pes).all(is_there)
}

/// The time and the work a second in a program's report: `NAME ...: 0.5 s, 7e6 points/s, verified`.
fn reported(said: &str) -> anyhow::Result<(f64, f64)> {
    let figures = said.trim_end().strip_suffix("/s, verified").and_then(|said| {
        let (time, rate) = said.split_once(": ")?.1.split_once(" s, ")?;
        Some((time.parse().ok()?, rate.split(' ').next()?.parse().ok()?))
    });
    figures.with_context(|| format!("not a report: {said}"))
}

/// The mean number of peers of this kind in the table of SHMEM_STATS.
fn peers(statistics: &str, what: &str) -> anyhow::Result<f64> {
    let (_, rest) = statistics.split_once(&format!("PEs that a PE {what}: ")).unwrap_or_default();
    let number = rest.split(' ').next().and_then(|number| number.parse().ok());
    number.with_context(|| format!("SHMEM_STATS did not say how many PEs a PE {what}"))
}

/// The mean time of each step of `shmem_init` over the PEs, in the order of a PE, from a timeline.
fn steps(trace: &str, pes: usize) -> anyhow::Result<Told> {
    let data: serde_json::Value = serde_json::from_str(trace).context("no timeline")?;
    let mut steps: Vec<(String, Unit, f64)> = Vec::new();
    for event in data["traceEvents"].as_array().context("a timeline without events")? {
        if event["cat"] != "init" {
            continue;
        }
        let name = format!("step.{}", event["name"].as_str().context("a step without a name")?);
        let share = event["dur"].as_f64().context("a step without a time")? * 1e3 / pes as f64;
        match steps.iter_mut().find(|step| step.0 == name) {
            Some((.., sum)) => *sum += share,
            None => steps.push((name, Unit::Nanoseconds, share)),
        }
    }
    if steps.is_empty() {
        bail!("the timeline has no steps of shmem_init");
    }
    Ok(Told::of(steps, pes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_print() {
        let text = "warning: no fabric\nRESULT pingpong.put 8 2 ns 55.7 56.5 175e1 2.7e+04 20\nSKIP signal needs 1.5\n\\nRESULTS of something\nDONE\n";
        let told = lines(text).unwrap();
        let key = Key { name: "pingpong.put".into(), size: 8, pes: 2 };
        let run = Run { turn: 0, min: 55.7, median: 56.5, mean: 1750.0, max: 27000.0, samples: 20 };
        assert_eq!(told.figures, [(key, Unit::Nanoseconds, run)]);
        assert_eq!((told.remarks, told.done), (vec![(false, "signal needs 1.5".to_owned())], true));
        for line in [
            "a 8 2 ns 1 2 3",
            "a 8 2 furlongs 1 2 3 4 5",
            "a 8 2 ns 1 nan 3 4 5",
            "a 8 2 ns 3 2 2 4 5",
            "a -8 2 ns 1 2 3 4 5",
        ] {
            assert!(lines(&format!("RESULT {line}")).is_err(), "{line}");
        }
    }

    #[test]
    fn two_columns_under_a_heading() {
        let text = "# Put Test\n1 2\n# Size  Latency (us)\n1  0.5 9\n64  2.00\n64 0.00\n\nMessage Size     Avg MB/s  (us)\n128 7\n";
        let figure =
            |(key, unit, run): &(Key, Unit, Run)| (key.name.clone(), key.size, *unit, run.median);
        let found: Vec<_> = columns("p", 2, text).figures.iter().map(figure).collect();
        let (name, ns) = (String::from("p"), Unit::Nanoseconds);
        let expected = [(1, ns, 500.0), (64, ns, 2000.0), (128, Unit::MegaBytes, 7.0)];
        assert_eq!(found, expected.map(|(size, unit, value)| (name.clone(), size, unit, value)));
        assert_eq!(columns("p", 2, "4 5\n").remarks.len(), 1);
        assert!(heading("# Messages/s").is_none());
    }

    #[test]
    fn every_pe_has_to_greet_once() {
        assert!(all_greet("Hello from PE 1 of 2\nnoise\nHello from PE 0 of 2\n", 2));
        assert!(!all_greet("Hello from PE 0 of 2\nHello from PE 0 of 2\n", 2));
    }

    #[test]
    fn reports_and_statistics() {
        let said =
            "FFT 2-D extended, size 128, 2 PEs: 0.014365 s, 7.984e+07 operations/s, verified\n";
        assert_eq!(reported(said).ok(), Some((0.014365, 7.984e7)));
        assert!(reported("heat, 2 PEs: 0.5 s, 7 points/s, wrong").is_err());
        let said = "x\nPEs that a PE talked to: 1.5 on average, at most 2\n";
        assert_eq!(peers(said, "talked to").ok(), Some(1.5));
        assert!(peers(said, "attached").is_err());
    }

    #[test]
    fn steps_of_initialisation() {
        let event = |name: &str, time: f64| {
            format!("{{\"cat\": \"init\", \"name\": \"{name}\", \"dur\": {time}}}")
        };
        let events = [event("layout", 1.0), event("memory", 4.0), event("layout", 2.0)].join(", ");
        let told =
            steps(&format!("{{\"traceEvents\": [{{\"cat\": \"put\"}}, {events}]}}"), 2).unwrap();
        let found: Vec<(&str, f64)> =
            told.figures.iter().map(|(key, _, run)| (key.name.as_str(), run.mean)).collect();
        assert_eq!(found, [("step.layout", 1500.0), ("step.memory", 2000.0)]);
        assert!(steps("{\"traceEvents\": []}", 2).is_err());
    }
}
