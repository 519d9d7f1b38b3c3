//! Compares two reports. Gives a verdict only where their spreads allow one.

use crate::distance::{self, Mode};
use crate::figures;
use crate::report::{Point, Report, Run, Unit};
use crate::stats::{self, Verdict};

/// A quantity in both reports.
#[derive(Debug)]
pub struct Change<'a> {
    /// The point in the first report.
    pub before: &'a Point,
    /// The medians of the comparable runs in the first report.
    pub was: Vec<f64>,
    /// The same in the second report.
    pub is: Vec<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

impl Change<'_> {
    /// The cost now relative to the cost before.
    fn factor(&self) -> f64 {
        self.before.unit.cost_ratio(stats::median(&self.is), stats::median(&self.was))
    }
}

/// The costs of some runs: times unchanged, rates inverted.
fn costs(unit: Unit, medians: &[f64]) -> Vec<f64> {
    match unit {
        Unit::MegaOperations | Unit::MegaBytes => medians.iter().map(|rate| 1.0 / rate).collect(),
        _ => medians.to_vec(),
    }
}

/// The medians of the comparable runs. If a quantity depends on the distance between CPUs, these
/// are the runs at one distance: the one at which both reports have most.
fn alike(before: &Point, after: &Point) -> (Vec<f64>, Vec<f64>) {
    let at = |point: &Point, mode: Option<&Mode>| -> Vec<f64> {
        let belongs = |run: &&Run| match (mode, run.distance) {
            (Some(mode), Some(ns)) => (mode.low..=mode.high).contains(&ns),
            _ => mode.is_none(),
        };
        point.paired().filter(belongs).map(|run| run.samples.median).collect()
    };
    let far = |point: &Point| point.paired().filter_map(|run| run.distance).collect::<Vec<f64>>();
    let modes = distance::modes(&[far(before), far(after)].concat());
    if modes.is_empty() {
        return (before.medians(), after.medians());
    }
    let at_each = modes.iter().map(|mode| (at(before, Some(mode)), at(after, Some(mode))));
    at_each.max_by_key(|(was, is)| was.len().min(is.len())).unwrap_or_default()
}

/// All quantities in both reports, grouped by implementation.
pub fn changes<'a>(before: &'a Report, after: &'a Report) -> Vec<Change<'a>> {
    let pair = |old: &'a Point| {
        let new = after.find(&old.implementation, &old.key()).filter(|new| new.unit == old.unit)?;
        let (was, is) = alike(old, new);
        let verdict = stats::compare(&costs(old.unit, &was), &costs(old.unit, &is));
        Some(Change { before: old, was, is, verdict })
    };
    before.points.iter().filter_map(pair).collect()
}

/// Describes the comparison.
pub fn describe(before: &Report, after: &Report) -> String {
    let mut text = String::new();
    if before.machine != after.machine {
        text.push_str("The machines differ, so differences need not be the software's:\n");
        for (what, value) in &before.machine.facts {
            let other = after.machine.get(what).unwrap_or("not told");
            if value != other {
                text.push_str(&format!("  {what}: {value} | {other}\n"));
            }
        }
    }
    for (name, report) in [("first", before), ("second", after)] {
        let far = distance::describe(&report.noise.far());
        if let Some(far) = far.filter(|_| moved(before, after)) {
            text.push_str(&format!("A cache line between the CPUs, {name} report: {far}\n"));
        }
    }
    let changes = changes(before, after);
    for (verdict, title) in [(Verdict::Worse, "Slower"), (Verdict::Better, "Faster")] {
        let mut those: Vec<&Change<'_>> =
            changes.iter().filter(|change| change.verdict == verdict).collect();
        those.sort_by(|a, b| b.factor().ln().abs().total_cmp(&a.factor().ln().abs()));
        text.push_str(&format!("{title}: {}\n", those.len()));
        those.into_iter().for_each(|change| text.push_str(&line(change)));
    }
    let unclear = changes.iter().filter(|change| change.verdict == Verdict::Unclear).count();
    text.push_str(&format!(
        "No difference, or none that the spread or the number of comparable runs allows to tell: {unclear}\n"
    ));
    let missing = before.points.len() + after.points.len() - 2 * changes.len();
    if missing > 0 {
        text.push_str(&format!("In one of the reports only: {missing}\n"));
    }
    let runs = before.repeats.min(after.repeats);
    if runs < stats::LEAST_RUNS {
        text.push_str(&format!(
            "A verdict needs {} runs on each side; there are {runs}.\n",
            stats::LEAST_RUNS
        ));
    }
    text
}

/// Whether the distance between CPUs has changed.
fn moved(before: &Report, after: &Report) -> bool {
    !distance::is_one(&[before.noise.far(), after.noise.far()].concat())
}

fn line(change: &Change<'_>) -> String {
    let Change { before, was, is, .. } = change;
    let size = figures::bytes(before.size);
    let space = if size.is_empty() { "" } else { " " };
    let figure = |runs: &[f64]| {
        let value = figures::figure(stats::median(runs), before.unit);
        format!("{value} {}", figures::spread(stats::spread(runs)))
    };
    format!(
        "  {} {}{space}{size} on {} PEs: {} -> {}, cost x {:.2}\n",
        before.implementation,
        before.name,
        before.pes,
        figure(was),
        figure(is),
        change.factor(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Probe;
    use crate::report::Key;

    fn report(points: &[(&str, Unit, [f64; 3])]) -> Report {
        let mut report = Report::of(&[]);
        for &(name, unit, medians) in points {
            report.note("one", name, (8, 2), unit, &medians);
        }
        report
    }

    #[test]
    fn verdicts_know_which_way_units_count() {
        let before = report(&[
            ("time", Unit::Nanoseconds, [10.0, 10.1, 10.2]),
            ("rate", Unit::MegaBytes, [10.0, 10.1, 10.2]),
            ("noise", Unit::Nanoseconds, [10.0, 20.0, 30.0]),
        ]);
        let after = report(&[
            ("time", Unit::Nanoseconds, [20.0, 20.1, 20.2]),
            ("rate", Unit::MegaBytes, [20.0, 20.1, 20.2]),
            ("noise", Unit::Nanoseconds, [12.0, 24.0, 36.0]),
            ("new", Unit::Nanoseconds, [1.0, 1.0, 1.0]),
        ]);
        let verdicts: Vec<Verdict> =
            changes(&before, &after).iter().map(|change| change.verdict).collect();
        assert_eq!(verdicts, [Verdict::Worse, Verdict::Better, Verdict::Unclear]);
        let text = describe(&before, &after);
        assert!(text.contains("Slower: 1\n  one time 8 B on 2 PEs: 10.1 ns"), "{text}");
        assert!(text.contains("Faster: 1\n  one rate"), "{text}");
        assert!(text.contains("only: 1\n"), "{text}");
    }

    /// A point with runs at these distances.
    fn point(runs: &[(f64, f64)]) -> Point {
        let run = |(turn, &(distance, value)): (usize, &(f64, f64))| Run {
            distance: Some(distance),
            ..Run::one(turn, value)
        };
        let mut report = report(&[("time", Unit::Nanoseconds, [0.0; 3])]);
        let mut point = report.points.remove(0);
        point.runs = runs.iter().enumerate().map(run).collect();
        point
    }

    #[test]
    fn only_runs_at_one_distance_are_compared() {
        let near = [(57.0, 60.0), (58.0, 61.0), (56.0, 60.5)];
        let far = [(270.0, 300.0), (271.0, 301.0), (272.0, 302.0), (273.0, 303.0)];
        let both = point(&[near.as_slice(), far.as_slice()].concat());
        assert_eq!(alike(&both, &point(&near)), (vec![60.0, 61.0, 60.5], vec![60.0, 61.0, 60.5]));
        let (was, is) = alike(&both, &point(&far));
        assert_eq!((was.len(), &was), (4, &is));
        let (was, is) = alike(&point(&near), &point(&far));
        assert!(was.is_empty() || is.is_empty());
        assert_eq!(stats::compare(&was, &is), Verdict::Unclear);
    }

    /// Near in one report and far in the other: the software makes no difference there.
    #[test]
    fn a_machine_that_moved_is_no_verdict() {
        let measured = |far: f64, value: f64| {
            let mut report = report(&[]);
            for turn in 0..3 {
                report.noise.distances.push(Probe { turn, ns: far });
                let key = Key { name: "pingpong.put".into(), size: 8, pes: 2 };
                let run = Run { distance: Some(far), ..Run::one(turn, value + turn as f64 / 10.0) };
                report.add("one", "p", key, Unit::Nanoseconds, run);
            }
            report
        };
        let (near, far) = (measured(57.0, 60.0), measured(270.0, 285.0));
        let verdict = |before, after| changes(before, after)[0].verdict;
        assert_eq!(verdict(&near, &far), Verdict::Unclear);
        assert_eq!(verdict(&near, &measured(57.0, 70.0)), Verdict::Worse);
        let text = describe(&near, &far);
        assert!(text.contains("second report: 270 ns in 3 of 3 probes\nSlower: 0\n"), "{text}");
    }

    #[test]
    fn a_report_does_not_differ_from_itself() {
        let same = report(&[("time", Unit::Nanoseconds, [10.0, 11.0, 12.0])]);
        assert!(changes(&same, &same).iter().all(|change| change.verdict == Verdict::Unclear));
    }

    #[test]
    fn other_machines_are_named() {
        let mut before = report(&[]);
        let mut after = report(&[]);
        before.machine.facts.push(("CPU".into(), "A".into()));
        after.machine.facts.push(("CPU".into(), "B".into()));
        assert!(describe(&before, &after).contains("CPU: A | B"));
    }
}
