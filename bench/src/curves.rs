//! Plots and tables of a report's quantities: one curve or column for each implementation, or for each quantity.

use oneshmem_plots::plot::{Axis, Curve, Ink, Mark, Plot, Shade};
use oneshmem_plots::stats::{self, Range};
use oneshmem_plots::{Unit, figures};
use serde::{Deserialize, Serialize};

use crate::report::{Place, Point, Report, Run};

/// Some curves in one plot.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// The quantity; of several, a curve each, what their names begin with: `step.`.
    pub name: String,
    pub title: String,
    pub x: Axis,
    /// Only figures of this size.
    pub size: Option<u64>,
    /// Only figures of the most PEs.
    #[serde(default)]
    pub many: bool,
    /// The curves drawn of a figure.
    #[serde(default, rename = "as")]
    pub shows: Shows,
    /// From where to where its bars go.
    #[serde(skip)]
    pub bars: Bars,
}

/// The drawn form of a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shows {
    #[default]
    Itself,
    /// Of a time: the bandwidth that it means.
    Bandwidth,
    /// Of a bandwidth with one transfer at a time: the time of one.
    Time,
    /// Of a bandwidth: transfers a second.
    Rate,
    /// Of the time of a problem that all PEs share: the time of one PE by that of all together.
    Efficiency,
}

/// The meaning of bars.
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

/// A table of a figure.
#[derive(Debug, PartialEq, Serialize)]
pub struct Table {
    pub title: String,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Panel {
    /// One quantity, whose name is the title, too.
    pub fn of(name: &str, x: Axis) -> Self {
        let (shows, bars) = (Shows::Itself, Bars::Runs);
        Self { title: name.into(), name: name.into(), x, size: None, many: false, shows, bars }
    }

    /// The points of a curve, in the order of x.
    fn points<'a>(&self, report: &'a Report, who: &str, name: &str) -> Vec<&'a Point> {
        let is_it = |point: &&Point| point.implementation == who && point.key.name == name;
        let sized = |point: &&Point| match self.size {
            Some(size) => point.key.size == size,
            None => self.x != Axis::Bytes || point.key.size > 0,
        };
        let mut points: Vec<&Point> = report.points.iter().filter(is_it).filter(sized).collect();
        if let Some(most) = points.iter().map(|point| point.key.pes).max().filter(|_| self.many) {
            points.retain(|point| point.key.pes == most);
        }
        points.sort_by_key(|point| (point.key.size, point.key.pes));
        points
    }

    /// A figure of a point as it is drawn. `alone` is the time of one PE.
    fn shown(&self, point: &Point, y: f64, alone: f64) -> f64 {
        let size = point.key.size as f64;
        match self.shows {
            Shows::Itself => y,
            // Megabytes a second are bytes per microsecond.
            Shows::Bandwidth | Shows::Time => size * 1000.0 / y,
            Shows::Rate => y / size,
            Shows::Efficiency => 100.0 * alone / (y * point.key.pes as f64),
        }
    }

    fn unit(&self, unit: Unit) -> Unit {
        match self.shows {
            Shows::Itself => unit,
            Shows::Bandwidth => Unit::MegaBytes,
            Shows::Time => Unit::Nanoseconds,
            Shows::Rate => Unit::MegaOperations,
            Shows::Efficiency => Unit::Percent,
        }
    }

    /// The point as it is drawn.
    fn mark(&self, point: &Point, alone: f64) -> Mark {
        let runs: Vec<f64> =
            point.of_runs().into_iter().map(|figure| self.shown(point, figure, alone)).collect();
        let ends = |run: &Run| [run.min, run.max].map(|end| self.shown(point, end, alone));
        let y = point.statistic.over(&runs);
        let range = match self.bars {
            Bars::Samples => Range::of(&point.runs.iter().flat_map(ends).collect::<Vec<_>>()),
            Bars::Runs => Range::of_runs(&runs),
            Bars::Deviation => {
                let by = stats::deviation(&runs);
                // The axis is logarithmic.
                Range { low: if y > by { y - by } else { Range::of(&runs).low }, high: y + by }
            }
        };
        let x = if self.x == Axis::Bytes { point.key.size } else { point.key.pes as u64 } as f64;
        let has_bar = runs.len() > 1 || self.bars == Bars::Samples;
        Mark { x, y, bar: has_bar.then_some((range.low, range.high)) }
    }

    /// The curves: of all implementations and of what they are measured by, or of all quantities.
    pub fn plot(&self, report: &Report) -> Plot {
        let mut plot = Plot {
            title: self.title.clone(),
            x: self.x,
            unit: self.unit(Unit::Nanoseconds),
            curves: Vec::new(),
        };
        let mut add = |label: &str, ink: Option<Ink>, points: Vec<&Point>| {
            let alone = points.first().map_or(f64::NAN, |first| first.value());
            plot.unit = points.first().map_or(plot.unit, |first| self.unit(first.unit));
            let ink = ink.unwrap_or(Ink::Nth(plot.curves.len(), Shade::Full));
            let marks = points.into_iter().map(|point| self.mark(point, alone));
            // The axis is logarithmic.
            let points = marks.filter(|mark| mark.y > 0.0).collect();
            plot.curves.push(Curve { label: label.into(), ink, points });
        };
        let own = report.names.first().map_or("", String::as_str);
        if self.name.ends_with('.') {
            let mut names: Vec<&str> = Vec::new();
            for Point { key, .. } in &report.points {
                if key.name.starts_with(&self.name) && !names.contains(&key.name.as_str()) {
                    names.push(&key.name);
                }
            }
            for name in names {
                add(&name[self.name.len()..], None, self.points(report, own, name));
            }
            return plot;
        }
        for who in &report.names {
            add(who, None, self.points(report, who, &self.name));
        }
        let ours = self.points(report, own, &self.name).into_iter();
        let limits: Vec<&Point> = ours.filter_map(|point| report.limit(point)).collect();
        let is_job = self.name == "wall.hello";
        let label = if is_job { "/bin/true from the launcher" } else { "raw shared memory" };
        if !limits.is_empty() {
            add(label, Some(Ink::Raw), limits);
        }
        plot
    }
}

/// All figures of the first implementation, each beside plain shared memory, if that was measured, and the others.
pub fn beside(report: &Report) -> Table {
    let own = report.names.first().map_or("", String::as_str);
    let peers = report.names.get(1..).unwrap_or_default();
    let limits = report.points.iter().any(|point| report.limit(point).is_some());
    let mut header = ["", "bytes", "PEs", own, ""].map(str::to_owned).to_vec();
    header.extend(limits.then(|| "x raw".into()));
    peers.iter().for_each(|peer| header.extend([peer.clone(), format!("x {own}")]));
    let row = |point: &Point| {
        let ratio = |times: Option<f64>| times.map(figures::ratio).unwrap_or_default();
        let mut row = vec![
            point.key.name.clone(),
            figures::size(point.key.size),
            point.key.pes.to_string(),
            figures::figure(point.value(), point.unit),
            figures::spread(point.spread()),
        ];
        row.extend(limits.then(|| ratio(report.limit(point).and_then(|it| point.times(it)))));
        for peer in peers {
            let other = report.find(peer, &point.key);
            row.push(other.map(|it| figures::figure(it.value(), it.unit)).unwrap_or_default());
            row.push(ratio(other.and_then(|it| it.times(point))));
        }
        row
    };
    let ours = report.points.iter().filter(|point| point.implementation == own);
    let place = if report.place == Place::Nodes { ", on two nodes" } else { "" };
    Table { title: format!("All figures{place}"), header, rows: ours.map(row).collect() }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use comfy_table::{CellAlignment, TableComponent, presets};
        let mut table = comfy_table::Table::new();
        table.load_preset(presets::NOTHING).set_style(TableComponent::HeaderLines, '─');
        table.set_header(self.header.clone());
        table
            .column_iter_mut()
            .skip(1)
            .for_each(|column| column.set_cell_alignment(CellAlignment::Right));
        table.add_rows(self.rows.clone());
        write!(f, "{table}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Key, RAW, Statistic};

    fn report(unit: Unit, statistic: Statistic) -> Report {
        let names = vec!["mine".into(), "theirs".into()];
        let mut report = Report { names, statistic, ..Report::default() };
        for size in [64, 8] {
            for (who, value) in [(RAW, 50.0), ("mine", 100.0), ("theirs", 400.0)] {
                for (turn, median) in [(0, value), (1, 3.0 * value)] {
                    let [min, mean, max] = [0.5, 1.5, 2.0].map(|factor| factor * median);
                    let run = Run { turn, min, median, mean, max, samples: 20 };
                    report.add(who, Key { name: "pingpong.put".into(), size, pes: 2 }, unit, run);
                }
            }
        }
        report
    }

    #[test]
    fn ours_and_raw_by_the_same_statistic() {
        let panel = Panel::of("pingpong.put", Axis::Bytes);
        let second = |bars, statistic| {
            let panel = Panel { bars, ..panel.clone() };
            let curves = panel.plot(&report(Unit::Nanoseconds, statistic)).curves;
            let labels: Vec<&str> = curves.iter().map(|curve| curve.label.as_str()).collect();
            assert_eq!(labels, ["mine", "theirs", "raw shared memory"]);
            [0, 2].map(|n| (curves[n].points[1].y, curves[n].points[1].bar))
        };
        let runs = [(200.0, Some((100.0, 300.0))), (100.0, Some((50.0, 150.0)))];
        assert_eq!(second(Bars::Runs, Statistic::Median), runs);
        // From the least to the largest of all runs, not the medians of both.
        let samples = [(300.0, Some((50.0, 600.0))), (150.0, Some((25.0, 300.0)))];
        assert_eq!(second(Bars::Samples, Statistic::Mean), samples);
        let by = 20_000_f64.sqrt();
        let [mine, _] = second(Bars::Deviation, Statistic::Median);
        assert_eq!(mine.1, Some((200.0 - by, 200.0 + by)));
    }

    #[test]
    fn figures_as_others() {
        let of = |unit, shows| {
            let panel = Panel { shows, ..Panel::of("pingpong.put", Axis::Bytes) };
            let plot = panel.plot(&report(unit, Statistic::Median));
            (plot.unit, plot.curves[0].points[1].y)
        };
        let bandwidth = of(Unit::Nanoseconds, Shows::Bandwidth);
        assert_eq!(bandwidth, (Unit::MegaBytes, (640.0 + 640.0 / 3.0) / 2.0));
        assert_eq!(of(Unit::MegaBytes, Shows::Rate), (Unit::MegaOperations, 3.125));
        assert_eq!(of(Unit::MegaBytes, Shows::Time).0, Unit::Nanoseconds);
        // The time alone by that of all together.
        let mut report = Report::default();
        report.note("mine", "fft2d.time", (0, 1), &[4e9]);
        report.note("mine", "fft2d.time", (0, 4), &[2e9]);
        let panel = Panel { shows: Shows::Efficiency, ..Panel::of("fft2d.time", Axis::Pes) };
        let plot = panel.plot(&report);
        assert_eq!((plot.unit, plot.curves[0].points[1].y), (Unit::Percent, 50.0));
    }

    #[test]
    fn a_curve_for_each_quantity() {
        let mut report = Report::default();
        for (name, value) in [("step.layout", 1.0), ("step.memory", 2.0), ("step.none", 0.0)] {
            report.note("mine", name, (0, 2), &[value]);
        }
        let curves = Panel::of("step.", Axis::Pes).plot(&report).curves;
        let found = curves.iter().map(|curve| (curve.label.as_str(), curve.points.len()));
        assert_eq!(found.collect::<Vec<_>>(), [("layout", 1), ("memory", 1), ("none", 0)]);
    }

    #[test]
    fn rows_have_ratios_to_raw_and_to_peers() {
        let text = beside(&report(Unit::Nanoseconds, Statistic::Median)).to_string();
        let line = text.lines().find(|line| line.contains(" 64 ")).unwrap();
        let fields: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(fields.join(" "), "pingpong.put 64 2 200 ns ±50 % 2.00 800 ns 4.00");
        let mut alone = Report::default();
        alone.note("mine", "step.memory", (0, 2), &[2.0]);
        assert_eq!(beside(&alone).header, ["", "bytes", "PEs", "mine", ""]);
    }
}
