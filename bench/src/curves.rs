//! Curves of a report's quantities: one for each implementation, beside the machine's limit.

use crate::limits;
use crate::plot::{Axis, Curve, Ink, Mark, Plot, Shade};
use crate::report::{Point, Report, Unit};

/// Some curves in one plot.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The title of the plot.
    pub title: String,
    /// Names of quantities, at most two, with what they add to the label of a curve.
    pub names: Vec<(String, &'static str)>,
    /// The x axis.
    pub x: Axis,
    /// Only figures of so many PEs.
    pub pes: Option<usize>,
    /// Only figures of this size.
    pub size: Option<u64>,
    /// What is drawn of a figure.
    pub shows: Shows,
}

/// What is drawn of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// The median, with bars over the runs.
    Median,
    /// The median, with bars from the smallest to the largest sample of a typical run.
    Range,
    /// The mean of a typical run, with the same bars.
    Mean,
    /// Of a time: the bandwidth that it means.
    Bandwidth,
    /// Of a bandwidth with one transfer at a time: the time of one.
    TimeOfOne,
    /// Of a bandwidth: transfers a second.
    Rate,
}

/// The label of plain shared memory.
pub const RAW_MEMORY: &str = "raw shared memory";

impl Panel {
    /// Medians of one quantity.
    pub fn of(name: &str, title: &str, x: Axis) -> Self {
        Self {
            title: title.into(),
            names: vec![(name.into(), "")],
            x,
            pes: None,
            size: None,
            shows: Shows::Median,
        }
    }

    /// Medians of two quantities of each implementation.
    pub fn of_both(names: [(&str, &'static str); 2], title: &str, x: Axis) -> Self {
        let names = names.map(|(name, label)| (name.to_owned(), label));
        Self { names: names.into(), ..Self::of("", title, x) }
    }

    /// The same, showing something else.
    pub fn showing(self, shows: Shows) -> Self {
        Self { shows, ..self }
    }

    /// One implementation's points for a name, in the order of x.
    fn points<'a>(&self, report: &'a Report, who: &'a str, name: &str) -> Vec<&'a Point> {
        let mut points: Vec<&Point> = report
            .points_of(who)
            .filter(|point| point.name == name)
            .filter(|point| self.pes.is_none_or(|pes| point.pes == pes))
            .filter(|point| self.size.is_none_or(|size| point.size == size))
            .filter(|point| self.x != Axis::Bytes || point.size > 0)
            .collect();
        points.sort_by_key(|point| (point.size, point.pes));
        points
    }

    /// A figure of a point as it is drawn.
    fn shown(&self, point: &Point, y: f64) -> f64 {
        let size = point.size as f64;
        match self.shows {
            Shows::Median | Shows::Range | Shows::Mean => y,
            // Megabytes a second are bytes per microsecond.
            Shows::Bandwidth | Shows::TimeOfOne => size * 1000.0 / y,
            Shows::Rate => y / size,
        }
    }

    fn unit(&self, point: &Point) -> Unit {
        match self.shows {
            Shows::Median | Shows::Range | Shows::Mean => point.unit,
            Shows::Bandwidth => Unit::MegaBytes,
            Shows::TimeOfOne => Unit::Nanoseconds,
            Shows::Rate => Unit::MegaOperations,
        }
    }

    fn mark(&self, point: &Point) -> Mark {
        let (min, mean, max) = point.within();
        let x = match self.x {
            Axis::Bytes | Axis::Peers => point.size as f64,
            Axis::Pes => point.pes as f64,
        };
        match self.shows {
            Shows::Mean => Mark { x, y: mean, bar: Some((min, max)) },
            Shows::Range => Mark { x, y: point.value(), bar: Some((min, max)) },
            _ => {
                let runs = point.medians().into_iter().map(|y| self.shown(point, y));
                Mark::of_runs(x, &runs.collect::<Vec<_>>())
            }
        }
    }

    /// The curves of all implementations, and of the last quantity's limit.
    pub fn plot(&self, report: &Report) -> Plot {
        let mut curves = Vec::new();
        let mut unit = Unit::Nanoseconds;
        let mut limit: Vec<Mark> = Vec::new();
        for (place, implementation) in report.implementations.iter().enumerate() {
            for ((name, form), shade) in self.names.iter().zip([Shade::Full, Shade::Light]) {
                let points = self.points(report, &implementation.name, name);
                unit = points.first().map_or(unit, |first| self.unit(first));
                if self.names.last().is_some_and(|last| last.0 == *name) && limit.is_empty() {
                    let raw = |point: &&Point| {
                        let y = self.shown(point, limits::limit_of(report, point)?.value);
                        Some(Mark { y, bar: None, ..self.mark(point) })
                    };
                    limit = points.iter().filter_map(raw).collect();
                }
                curves.push(Curve {
                    label: format!("{}{form}", implementation.name),
                    ink: Ink::Nth(place, shade),
                    points: points.iter().map(|point| self.mark(point)).collect(),
                });
            }
        }
        if !limit.is_empty() {
            let label = match self.names.last().map(|(name, _)| name.as_str()) {
                Some("startup.true") => "/bin/true, no launcher",
                Some("startup.hello") => "/bin/true from the launcher",
                _ => RAW_MEMORY,
            };
            curves.push(Curve { label: label.into(), ink: Ink::Raw, points: limit });
        }
        Plot { title: self.title.clone(), x: self.x, unit, curves }
    }

    /// The costs relative to the limits, with bars over the turns.
    pub fn in_units(&self, report: &Report, of: &str) -> Plot {
        let mut curves = Vec::new();
        for (place, implementation) in report.implementations.iter().enumerate() {
            for ((name, form), shade) in self.names.iter().zip([Shade::Full, Shade::Light]) {
                let points = self.points(report, &implementation.name, name);
                let mark = |point: &&Point| {
                    let ratios = limits::ratios(report, point)?;
                    let range = ratios.range();
                    let bar = Some((range.low, range.high));
                    Some(Mark { y: ratios.value(), bar, ..self.mark(point) })
                };
                let points: Vec<Mark> = points.iter().filter_map(mark).collect();
                if !points.is_empty() {
                    let label = format!("{}{form}", implementation.name);
                    curves.push(Curve { label, ink: Ink::Nth(place, shade), points });
                }
            }
        }
        let title = format!("Cost in units of {of}");
        Plot { title, x: self.x, unit: Unit::Times, curves }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Key, RAW, Run, Summary};

    fn report(unit: Unit) -> Report {
        let mut report = Report::of(&["mine", "theirs"]);
        for size in [64, 8] {
            for (who, name, value) in [
                (RAW, "raw.pingpong.pause", 50.0),
                ("mine", "pingpong.put", 100.0),
                ("theirs", "pingpong.put", 400.0),
            ] {
                let (min, max) = (value / 2.0, value * 2.0);
                let samples = Summary { min, max, mean: value * 1.5, ..Summary::one(value) };
                let key = Key { name: name.into(), size, pes: 2 };
                report.add(who, "p", key, unit, Run { samples, ..Run::one(0, value) });
            }
        }
        report
    }

    #[test]
    fn curves_of_all_and_the_limit() {
        let report = report(Unit::Nanoseconds);
        let panel = Panel::of("pingpong.put", "t", Axis::Bytes);
        let plot = panel.clone().showing(Shows::Range).plot(&report);
        let labels: Vec<&str> = plot.curves.iter().map(|curve| curve.label.as_str()).collect();
        assert_eq!(labels, ["mine", "theirs", RAW_MEMORY]);
        let mine = &plot.curves[0].points;
        assert_eq!((mine[0].x, mine[1].x, mine[0].bar), (8.0, 64.0, Some((50.0, 200.0))));
        let mean = panel.clone().showing(Shows::Mean).plot(&report);
        assert_eq!(mean.curves[0].points[0].y, 150.0);
        let bandwidth = panel.clone().showing(Shows::Bandwidth).plot(&report);
        assert_eq!(bandwidth.unit, Unit::MegaBytes);
        assert_eq!(bandwidth.curves[0].points[1].y, 640.0);
        let times = panel.in_units(&report, "raw");
        let of_raw: Vec<f64> = times.curves.iter().map(|curve| curve.points[0].y).collect();
        assert_eq!(of_raw, [2.0, 8.0]);
    }

    #[test]
    fn times_and_rates_of_bandwidths() {
        let report = report(Unit::MegaBytes);
        let panel = Panel::of("pingpong.put", "t", Axis::Bytes);
        let one = panel.clone().showing(Shows::TimeOfOne).plot(&report);
        assert_eq!((one.unit, one.curves[0].points[1].y), (Unit::Nanoseconds, 640.0));
        let rate = panel.showing(Shows::Rate).plot(&report);
        assert_eq!((rate.unit, rate.curves[0].points[0].y), (Unit::MegaOperations, 12.5));
    }

    #[test]
    fn only_what_was_asked_for() {
        let report = report(Unit::Nanoseconds);
        let panel = Panel::of("pingpong.put", "t", Axis::Pes);
        let count =
            |panel: Panel| panel.plot(&report).curves.iter().map(|c| c.points.len()).sum::<usize>();
        assert_eq!(count(Panel { size: Some(8), ..panel.clone() }), 3);
        assert_eq!(count(Panel { pes: Some(3), ..panel }), 0);
    }
}
