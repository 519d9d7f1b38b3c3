//! Two reports side by side, with a verdict only where their spreads allow one.

use crate::distance;
use crate::figures;
use crate::limits;
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
    /// How many times the cost it is now.
    pub factor: f64,
    /// The ratios to raw, if it is these that were compared.
    pub ratios: Option<[f64; 2]>,
}

/// Costs of a point's runs: times as they are, rates turned round.
fn costs(point: &Point) -> Vec<f64> {
    let medians = point.medians();
    match point.unit {
        Unit::Nanoseconds | Unit::Times => medians,
        Unit::MegaOperations | Unit::MegaBytes => medians.iter().map(|rate| 1.0 / rate).collect(),
    }
}

/// All quantities that both have, implementation by implementation.
///
/// Where the CPUs were not always equally far from each other, ratios to raw are compared, of the quantities that have
/// them: the figures themselves say as much about where the host had put the CPUs.
pub fn changes<'a>(before: &'a Report, after: &'a Report) -> Vec<Change<'a>> {
    let moved = !distance::is_one(&[before.noise.far(), after.noise.far()].concat());
    let pair = |old: &'a Point| {
        let new = after.find(&old.implementation, &old.key()).filter(|new| new.unit == old.unit)?;
        let ratios = || Some((limits::ratios(before, old)?, limits::ratios(after, new)?));
        Some(match ratios().filter(|_| moved) {
            Some((was, is)) => Change {
                before: old,
                after: new,
                verdict: stats::compare(was.turns(), is.turns()),
                factor: is.value() / was.value(),
                ratios: Some([was.value(), is.value()]),
            },
            None => Change {
                before: old,
                after: new,
                verdict: stats::compare(&costs(old), &costs(new)),
                factor: old.unit.cost_ratio(new.value(), old.value()),
                ratios: None,
            },
        })
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
        let mut those: Vec<&Change<'_>> =
            changes.iter().filter(|change| change.verdict == verdict).collect();
        those.sort_by(|a, b| b.factor.ln().abs().total_cmp(&a.factor.ln().abs()));
        text.push_str(&format!("{title}: {}\n", those.len()));
        those.into_iter().for_each(|change| text.push_str(&line(change)));
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

fn line(change: &Change<'_>) -> String {
    let Change { before, after, factor, ratios, .. } = change;
    let raw = ratios
        .map(|[was, is]| format!(" ({} x raw -> {})", figures::ratio(was), figures::ratio(is)));
    let size = figures::bytes(before.size);
    let space = if size.is_empty() { "" } else { " " };
    format!(
        "  {} {}{space}{size} on {} PEs: {} {} -> {} {}, cost x {factor:.2}{}\n",
        before.implementation,
        before.name,
        before.pes,
        figures::figure(before.value(), before.unit),
        figures::spread(before.spread()),
        figures::figure(after.value(), after.unit),
        figures::spread(after.spread()),
        raw.unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Probe;
    use crate::machine::Machine;
    use crate::report::{Key, RAW, Run};

    fn report(points: &[(&str, Unit, [f64; 3])]) -> Report {
        let mut report = Report::new(true, 3, vec![0], Machine::default());
        for &(name, unit, medians) in points {
            for (turn, median) in medians.into_iter().enumerate() {
                let key = Key { name: name.into(), size: 8, pes: 2 };
                report.add("one", "p", key, unit, Run::one(turn, median));
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
        assert!(text.contains("Slower: 1\n  one time 8 B on 2 PEs: 10.1 ns"), "{text}");
        assert!(text.contains("Faster: 1\n  one rate"), "{text}");
        assert!(text.contains("only: 1\n"), "{text}");
    }

    /// Near in one report, far in the other: the ping-pong takes longer, the limit too.
    #[test]
    fn a_machine_that_moved_is_no_verdict() {
        let measured = |far: f64, own: f64| {
            let mut report = report(&[]);
            for turn in 0..3 {
                report.noise.distances.push(Probe { turn, ns: far });
                for (who, name, value) in
                    [(RAW, "raw.pingpong.tight", far), ("one", "pingpong.put", own)]
                {
                    let key = Key { name: name.into(), size: 8, pes: 2 };
                    let value = value + turn as f64 / 10.0;
                    report.add(who, "p", key, Unit::Nanoseconds, Run::one(turn, value));
                }
            }
            report
        };
        let (near, far, slow) =
            (measured(57.0, 60.0), measured(270.0, 285.0), measured(270.0, 350.0));
        let verdict = |before: &Report, after: &Report| {
            let changes = changes(before, after);
            changes.iter().find(|change| change.before.name == "pingpong.put").unwrap().verdict
        };
        assert_eq!(verdict(&near, &far), Verdict::Unclear);
        assert_eq!(verdict(&near, &slow), Verdict::Worse);
        let text = describe(&near, &slow);
        assert!(
            text.contains("60.1 ns ±<1 % -> 350 ns ±<1 %, cost x 1.23 (1.05 x raw -> 1.30)"),
            "{text}"
        );
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
