//! Two reports side by side, with a verdict only where their spreads allow one.

use crate::figures;
use crate::report::{Point, Report, Unit};
use crate::stats::{self, Verdict};

/// A quantity that both reports have.
#[derive(Debug)]
pub struct Change<'a> {
    /// In the first report.
    pub before: &'a Point,
    /// In the second report.
    pub after: &'a Point,
    /// What can be said.
    pub verdict: Verdict,
}

/// Costs of a point's runs: times as they are, rates turned round.
fn costs(point: &Point) -> Vec<f64> {
    let medians = point.medians();
    match point.unit {
        Unit::Nanoseconds => medians,
        Unit::MegaOperations | Unit::MegaBytes => medians.iter().map(|rate| 1.0 / rate).collect(),
    }
}

/// All quantities that both have, implementation by implementation.
pub fn changes<'a>(before: &'a Report, after: &'a Report) -> Vec<Change<'a>> {
    let pair = |old: &'a Point| {
        let new = after.find(&old.implementation, &old.key()).filter(|new| new.unit == old.unit)?;
        Some(Change { before: old, after: new, verdict: stats::compare(&costs(old), &costs(new)) })
    };
    before.points.iter().filter_map(pair).collect()
}

/// The comparison in words.
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
    let changes = changes(before, after);
    for (verdict, title) in [(Verdict::Worse, "Slower"), (Verdict::Better, "Faster")] {
        let mut those: Vec<(&Change<'_>, f64)> = changes
            .iter()
            .filter(|change| change.verdict == verdict)
            .map(|change| {
                (change, change.before.unit.cost_ratio(change.after.value(), change.before.value()))
            })
            .collect();
        those.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
        text.push_str(&format!("{title}: {}\n", those.len()));
        for (change, ratio) in those {
            text.push_str(&line(change, ratio));
        }
    }
    let unclear = changes.iter().filter(|change| change.verdict == Verdict::Unclear).count();
    text.push_str(&format!(
        "No difference, or none that the spread of the runs allows to tell: {unclear}\n"
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

fn line(change: &Change<'_>, ratio: f64) -> String {
    let Change { before, after, .. } = change;
    let size = figures::size(before.size);
    let bytes = if size.is_empty() { String::new() } else { format!(" {size}B") };
    format!(
        "  {} {}{bytes} on {} PEs: {} {} -> {} {}, cost x {:.2}\n",
        before.implementation,
        before.name,
        before.pes,
        figures::figure(before.value(), before.unit),
        figures::spread(before.spread()),
        figures::figure(after.value(), after.unit),
        figures::spread(after.spread()),
        ratio,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::report::{Key, Run};

    fn report(points: &[(&str, Unit, [f64; 3])]) -> Report {
        let mut report = Report::new(true, 3, vec![0], Machine::default());
        for &(name, unit, medians) in points {
            for median in medians {
                let run = Run { min: median, median, mean: median, max: median, samples: 1 };
                report.add("one", "p", Key { name: name.into(), size: 8, pes: 2 }, unit, run);
            }
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
        assert!(text.contains("Slower: 1\n  one time 8B on 2 PEs: 10.1 ns"), "{text}");
        assert!(text.contains("Faster: 1\n  one rate"), "{text}");
        assert!(text.contains("only: 1\n"), "{text}");
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
