//! Curves of a report's quantities: one for each implementation, beside the machine's limit.

use serde::Deserialize;

use crate::limits;
use crate::plot::{Axis, Curve, Ink, Mark, Plot, Shade};
use crate::report::{Point, Report, Run, Unit};
use crate::stats::{self, Range};

/// Some curves in one plot.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// The quantity.
    pub name: String,
    /// The title of the plot.
    pub title: String,
    /// The x axis.
    pub x: Axis,
    /// Only figures of this size.
    pub size: Option<u64>,
    /// Only figures of the most PEs.
    #[serde(default)]
    pub many: bool,
    /// What is drawn of a figure.
    #[serde(default, rename = "as")]
    pub shows: Shows,
    /// Which figure of the runs that is: all panels of a part of a figure have the same.
    #[serde(skip)]
    pub statistic: Statistic,
    /// From where to where its bars go.
    #[serde(skip)]
    pub bars: Bars,
}

/// What is drawn of a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shows {
    /// Itself.
    #[default]
    Itself,
    /// Of a time: the bandwidth that it means.
    Bandwidth,
    /// Of a bandwidth with one transfer at a time: the time of one.
    Time,
    /// Of a bandwidth: transfers a second.
    Rate,
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

/// What bars are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bars {
    /// The range of the runs ([`Range::of_runs`]).
    #[default]
    Runs,
    /// From the least to the largest sample of all runs.
    Samples,
    /// The standard deviation of the runs, to both sides.
    Deviation,
}

/// The label of plain shared memory.
const RAW_MEMORY: &str = "raw shared memory";

impl Panel {
    /// Medians of one quantity.
    pub fn of(name: &str, title: &str, x: Axis) -> Self {
        Self {
            title: title.into(),
            name: name.into(),
            x,
            size: None,
            many: false,
            shows: Shows::Itself,
            statistic: Statistic::Median,
            bars: Bars::Runs,
        }
    }

    /// One implementation's points, in the order of x.
    fn points<'a>(&self, report: &'a Report, who: &'a str) -> Vec<&'a Point> {
        let mut points: Vec<&Point> = report
            .points_of(who)
            .filter(|point| point.name == self.name)
            .filter(|point| self.size.is_none_or(|size| point.size == size))
            .filter(|point| self.x != Axis::Bytes || point.size > 0)
            .collect();
        if let Some(most) = points.iter().map(|point| point.pes).max().filter(|_| self.many) {
            points.retain(|point| point.pes == most);
        }
        points.sort_by_key(|point| (point.size, point.pes));
        points
    }

    /// A figure of a point as it is drawn.
    fn shown(&self, point: &Point, y: f64) -> f64 {
        let size = point.size as f64;
        match self.shows {
            Shows::Itself => y,
            // Megabytes a second are bytes per microsecond.
            Shows::Bandwidth | Shows::Time => size * 1000.0 / y,
            Shows::Rate => y / size,
        }
    }

    fn unit(&self, point: &Point) -> Unit {
        match self.shows {
            Shows::Itself => point.unit,
            Shows::Bandwidth => Unit::MegaBytes,
            Shows::Time => Unit::Nanoseconds,
            Shows::Rate => Unit::MegaOperations,
        }
    }

    /// The point as it is drawn: ours and raw ones by the same statistic.
    pub fn mark(&self, point: &Point) -> Mark {
        let of_run = |run: &Run| match self.statistic {
            Statistic::Median => run.samples.median,
            Statistic::Mean => run.samples.mean,
        };
        let runs: Vec<f64> = point.runs.iter().map(|run| self.shown(point, of_run(run))).collect();
        let y = match self.statistic {
            Statistic::Median => stats::median(&runs),
            Statistic::Mean => stats::mean(&runs),
        };
        let ends = |run: &Run| [run.samples.min, run.samples.max].map(|end| self.shown(point, end));
        let range = match self.bars {
            Bars::Samples => Range::of(&point.runs.iter().flat_map(ends).collect::<Vec<_>>()),
            Bars::Runs => Range::of_runs(&runs),
            Bars::Deviation => {
                let by = stats::deviation(&runs);
                // The axis is logarithmic.
                let low = if y > by { y - by } else { Range::of(&runs).low };
                Range { low, high: y + by }
            }
        };
        let x = if self.x == Axis::Bytes { point.size } else { point.pes as u64 } as f64;
        let has_bar = runs.len() > 1 || self.bars == Bars::Samples;
        Mark { x, y, bar: has_bar.then_some((range.low, range.high)) }
    }

    /// The best raw figure for a point, by the same statistic.
    fn limit(&self, report: &Report, point: &Point) -> Option<Mark> {
        let raw = limits::candidates(report, point).into_iter().map(|raw| Point {
            // What limits small messages may be measured at one size.
            size: point.size,
            pes: point.pes,
            ..raw.clone()
        });
        let unit = self.unit(point);
        let cost = |mark: &Mark| unit.cost_ratio(mark.y, 1.0);
        raw.map(|raw| self.mark(&raw)).min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// The curves of all implementations, and of the quantity's limit.
    pub fn plot(&self, report: &Report) -> Plot {
        let mut curves = Vec::new();
        let mut unit = Unit::Nanoseconds;
        let mut limit: Vec<Mark> = Vec::new();
        for (place, implementation) in report.implementations.iter().enumerate() {
            let points = self.points(report, &implementation.name);
            unit = points.first().map_or(unit, |first| self.unit(first));
            if limit.is_empty() {
                limit = points.iter().filter_map(|point| self.limit(report, point)).collect();
            }
            curves.push(Curve {
                label: implementation.name.clone(),
                ink: Ink::Nth(place, Shade::Full),
                points: points.iter().map(|point| self.mark(point)).collect(),
            });
        }
        if !limit.is_empty() {
            let label = match self.name.as_str() {
                "startup.hello" => "/bin/true from the launcher",
                _ => RAW_MEMORY,
            };
            curves.push(Curve { label: label.into(), ink: Ink::Raw, points: limit });
        }
        Plot { title: self.title.clone(), x: self.x, unit, curves }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Key, RAW, Summary};

    fn report(unit: Unit) -> Report {
        let mut report = Report::of(&["mine", "theirs"]);
        for size in [64, 8] {
            for (who, name, value) in [
                (RAW, "raw.pingpong.pause", 50.0),
                (RAW, "raw.pingpong.tight", 60.0),
                ("mine", "pingpong.put", 100.0),
                ("theirs", "pingpong.put", 400.0),
            ] {
                for (turn, factor) in [(0, 1.0), (1, 3.0)] {
                    let value = value * factor;
                    let (min, max) = (value / 2.0, value * 2.0);
                    let samples = Summary { min, max, mean: value * 1.5, ..Summary::one(value) };
                    let key = Key { name: name.into(), size, pes: 2 };
                    report.add(who, "p", key, unit, Run { turn, samples });
                }
            }
        }
        report
    }

    #[test]
    fn ours_and_raw_by_the_same_statistic() {
        let report = report(Unit::Nanoseconds);
        let panel = Panel::of("pingpong.put", "t", Axis::Bytes);
        let curves = panel.plot(&report).curves;
        let labels: Vec<&str> = curves.iter().map(|curve| curve.label.as_str()).collect();
        assert_eq!(labels, ["mine", "theirs", RAW_MEMORY]);
        let [mine, _, raw] = [0, 1, 2].map(|n| curves[n].points[1]);
        assert_eq!((mine.x, mine.y, mine.bar), (64.0, 200.0, Some((100.0, 300.0))));
        assert_eq!((raw.y, raw.bar), (100.0, Some((50.0, 150.0))));
        let mean = Panel { statistic: Statistic::Mean, bars: Bars::Samples, ..panel.clone() };
        let curves = mean.plot(&report).curves;
        let [mine, _, raw] = [0, 1, 2].map(|n| curves[n].points[1]);
        // From the least to the largest of all runs, not the medians of both.
        assert_eq!((mine.y, mine.bar), (300.0, Some((50.0, 600.0))));
        assert_eq!((raw.y, raw.bar), (150.0, Some((25.0, 300.0))));
        let deviation = Panel { bars: Bars::Deviation, ..panel }.plot(&report);
        let by = 20_000_f64.sqrt();
        assert_eq!(deviation.curves[0].points[0].bar, Some((200.0 - by, 200.0 + by)));
    }

    #[test]
    fn figures_as_others() {
        let of = |unit, shows| {
            let panel = Panel { shows, ..Panel::of("pingpong.put", "t", Axis::Bytes) };
            let plot = panel.plot(&report(unit));
            (plot.unit, plot.curves[0].points.iter().map(|mark| mark.y).collect::<Vec<_>>())
        };
        let bandwidth = of(Unit::Nanoseconds, Shows::Bandwidth);
        assert_eq!(bandwidth.0, Unit::MegaBytes);
        assert_eq!(bandwidth.1[1], (640.0 + 640.0 / 3.0) / 2.0);
        assert_eq!(of(Unit::MegaBytes, Shows::Rate), (Unit::MegaOperations, vec![25.0, 3.125]));
        assert_eq!(of(Unit::MegaBytes, Shows::Time).0, Unit::Nanoseconds);
    }

    #[test]
    fn only_what_was_asked_for() {
        let mut report = report(Unit::Nanoseconds);
        report.note("mine", "pingpong.put", (8, 4), Unit::Nanoseconds, &[1.0]);
        let panel = Panel::of("pingpong.put", "t", Axis::Pes);
        let count = |panel: Panel| panel.plot(&report).curves[0].points.len();
        assert_eq!(count(Panel { size: Some(8), ..panel.clone() }), 2);
        assert_eq!(count(Panel { many: true, ..panel }), 1);
    }
}
