//! Which raw figures limit which quantities.

use crate::ratios::Ratios;
use crate::report::{Point, RAW, Report};

/// Where to find a limit.
struct Rule {
    /// Candidate names: the best existing one is the limit. A name that ends in a dot stands for
    /// all names that begin with it.
    names: Vec<String>,
    /// The size to use, if not the point's own.
    size: Option<u64>,
    /// Whether the limit is a figure of the same implementation instead of a raw one: that of its
    /// launcher alone.
    same_launcher: bool,
}

fn rule(names: &[&str], size: Option<u64>) -> Option<Rule> {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    Some(Rule { names, size, same_launcher: false })
}

/// The rule for a quantity, if a raw program measures the machine's limit for it.
fn rule_of(name: &str) -> Option<Rule> {
    let name = uninlined(name);
    let (class, rest) = name.split_once('.')?;
    match (class, rest) {
        ("pingpong", _) => rule(&["raw.pingpong."], None),
        ("msgrate", _) => rule(&["raw.msgrate"], None),
        ("bandwidth", "put_both" | "get_both") => rule(&["raw.copy_both."], None),
        ("bandwidth", _) => rule(&["raw.copy."], None),
        ("rate", "put" | "get") => rule(&["raw.memcpy_call"], None),
        ("rate", _) if rest.starts_with("p.") => rule(&["raw.store_call"], Some(8)),
        ("rate", _) if rest.starts_with("g.") => rule(&["raw.load_call"], Some(8)),
        ("strided", _) => {
            let (_, shape) = rest.split_once('.')?;
            rule(&[&format!("raw.strided.{shape}.")], None)
        }
        ("atomic" | "contended", _) => {
            let instruction = instruction(rest.split('.').next()?);
            rule(&[&format!("raw.{class}.{instruction}")], Some(8))
        }
        ("collective", "barrier_all" | "sync_all" | "team_sync") => rule(&["raw.barrier"], None),
        ("oversubscribed", "barrier_all") => rule(&["raw.barrier"], None),
        ("oversubscribed", "ring") => rule(&["raw.ring"], None),
        ("startup", "hello") => {
            Some(Rule { same_launcher: true, ..rule(&["startup.true"], None)? })
        }
        ("startup", "true") => rule(&["raw.true"], None),
        _ => None,
    }
}

/// The raw operation that does the same work. Increments are additions, and all bitwise operations
/// are one kind of instruction. Those that fetch are loops, for which it matters whether the word
/// changes.
fn instruction(operation: &str) -> &str {
    match operation.strip_suffix("_nbi").unwrap_or(operation) {
        "inc" => "add",
        "fetch_inc" => "fetch_add",
        "and" | "xor" => "or",
        "fetch_and" => "fetch_or",
        other => other,
    }
}

/// The candidates for a point's limit: the figures that its rule names, with the same number of
/// processes if available (figures between two processes are not measured with more).
pub fn candidates<'a>(report: &'a Report, point: &'a Point) -> Vec<&'a Point> {
    let Some(rule) = rule_of(&point.name) else { return Vec::new() };
    let whose = if rule.same_launcher { &point.implementation } else { RAW };
    let named = |other: &Point| {
        rule.names.iter().any(|name| {
            if name.ends_with('.') { other.name.starts_with(name) } else { other.name == *name }
        })
    };
    let size = rule.size.unwrap_or(point.size);
    let fitting: Vec<&Point> = report
        .points_of(whose)
        .filter(|other| other.size == size && other.unit == point.unit && named(other))
        .collect();
    let same: Vec<&Point> =
        fitting.iter().copied().filter(|other| other.pes == point.pes).collect();
    if same.is_empty() && counts_two(&point.name) { fitting } else { same }
}

/// The best figure of a turn.
fn best_in(candidates: &[&Point], turn: usize) -> Option<f64> {
    let unit = candidates.first()?.unit;
    let figures = candidates.iter().filter_map(|point| Some(point.in_turn(turn)?.samples.median));
    figures.min_by(|a, b| unit.cost_ratio(*a, *b).total_cmp(&1.0))
}

/// Whether a quantity involves only two PEs, whatever their number.
fn counts_two(name: &str) -> bool {
    ["pingpong.", "bandwidth.", "rate.", "strided.", "atomic."]
        .iter()
        .any(|prefix| uninlined(name).starts_with(prefix))
}

/// A quantity's name without the mark that the operation is compiled in: the limit is the same.
fn uninlined(name: &str) -> &str {
    name.strip_prefix("inlined.").unwrap_or(name)
}

/// The costs of a point relative to its limit.
pub fn ratios(report: &Report, point: &Point) -> Option<Ratios> {
    let candidates = candidates(report, point);
    Ratios::to(point, |run| run.samples.median, |turn| best_in(&candidates, turn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Unit;

    fn quoted(report: &Report, point: &Point) -> Option<f64> {
        ratios(report, point).map(|ratios| ratios.value())
    }

    #[test]
    fn the_best_of_each_turn_is_the_limit() {
        let mut report = Report::of(&[]);
        let mut add = |who: &str, name: &str, turns: [f64; 3]| {
            report.note(who, name, (8, 2), Unit::Nanoseconds, &turns)
        };
        // Near, far, near. Where it is far, the variant with a pause is faster.
        add(RAW, "raw.pingpong.tight", [50.0, 400.0, 50.0]);
        add(RAW, "raw.pingpong.pause", [80.0, 250.0, 80.0]);
        let point = add("one", "pingpong.put", [55.0, 275.0, 60.0]);
        assert_eq!(quoted(&report, &point), Some(1.1));
    }

    #[test]
    fn a_job_is_measured_by_its_own_launcher() {
        let mut report = Report::of(&[]);
        let ns = Unit::Nanoseconds;
        report.note(RAW, "raw.true", (0, 64), ns, &[1.0]);
        let launcher = report.note("one", "startup.true", (0, 64), ns, &[10.0]);
        report.note("two", "startup.true", (0, 64), ns, &[100.0]);
        let hello = report.note("one", "startup.hello", (0, 64), ns, &[20.0]);
        assert_eq!(quoted(&report, &hello), Some(2.0));
        assert_eq!(quoted(&report, &launcher), Some(10.0));
    }

    #[test]
    fn the_best_copy_is_the_limit_of_bandwidth() {
        let mut report = Report::of(&[]);
        report.note(RAW, "raw.copy.memcpy", (64, 2), Unit::MegaBytes, &[50.0]);
        report.note(RAW, "raw.copy.vector", (64, 2), Unit::MegaBytes, &[80.0]);
        report.note(RAW, "raw.copy.streaming", (128, 2), Unit::MegaBytes, &[90.0]);
        report.note(RAW, "raw.copy_both.memcpy", (64, 2), Unit::MegaBytes, &[99.0]);
        let put = report.note("one", "bandwidth.put", (64, 2), Unit::MegaBytes, &[40.0]);
        assert_eq!(quoted(&report, &put), Some(2.0));
    }

    #[test]
    fn as_many_processes_where_they_count() {
        let mut report = Report::of(&[]);
        report.note(RAW, "raw.barrier", (0, 2), Unit::Nanoseconds, &[10.0]);
        let two = report.note("one", "collective.barrier_all", (0, 2), Unit::Nanoseconds, &[20.0]);
        let four = report.note("one", "collective.barrier_all", (0, 4), Unit::Nanoseconds, &[20.0]);
        assert_eq!(quoted(&report, &two), Some(2.0));
        assert_eq!(quoted(&report, &four), None);
    }

    #[test]
    fn every_atomic_has_its_instruction() {
        let mut report = Report::of(&[]);
        report.note(RAW, "raw.atomic.fetch_or", (8, 4), Unit::Nanoseconds, &[5.0]);
        let and = report.note("one", "atomic.fetch_and.uint32", (4, 2), Unit::Nanoseconds, &[6.0]);
        assert_eq!(quoted(&report, &and), Some(1.2));
        assert!(ratios(&report, &Point { name: "collective.sum".into(), ..and }).is_none());
    }
}
