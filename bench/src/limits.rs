//! Which raw figure is the limit of which quantity.

use crate::report::{Point, RAW, Report};

/// Where to look for a limit.
struct Rule {
    /// Raw names; the best of those there are is the limit. One that ends in a dot stands for
    /// all that begin so.
    raw: Vec<String>,
    /// At this size, if not at the point's own.
    size: Option<u64>,
}

fn rule(raw: &[&str], size: Option<u64>) -> Option<Rule> {
    Some(Rule { raw: raw.iter().map(|&name| name.to_owned()).collect(), size })
}

/// The rule for a quantity, if the machine sets it a limit that a raw program measures.
fn rule_of(name: &str) -> Option<Rule> {
    let (class, rest) = name.split_once('.')?;
    match (class, rest) {
        ("pingpong", _) => rule(&["raw.pingpong."], None),
        ("wait" | "signal", _) => rule(&["raw.pingpong."], Some(8)),
        ("msgrate", _) => rule(&["raw.msgrate"], None),
        ("bandwidth", "put_both" | "get_both") => rule(&["raw.copy_both."], None),
        ("bandwidth", _) => rule(&["raw.copy."], None),
        ("rate", "put" | "get") => rule(&["raw.memcpy_call"], None),
        ("rate", _) if rest.starts_with("p.") => rule(&["raw.store_call"], Some(8)),
        ("rate", _) if rest.starts_with("g.") => rule(&["raw.load_call"], Some(8)),
        ("atomic" | "contended", _) => {
            let instruction = instruction(rest.split('.').next()?);
            rule(&[&format!("raw.{class}.{instruction}")], Some(8))
        }
        ("lock", "alone" | "test_free") => rule(&["raw.lock_alone"], None),
        ("lock", "handover") => rule(&["raw.lock_handover"], None),
        ("collective", "barrier_all" | "sync_all" | "team_sync") => rule(&["raw.barrier"], None),
        ("oversubscribed", "barrier_all") => rule(&["raw.barrier"], None),
        ("oversubscribed", "ring") => rule(&["raw.ring"], None),
        ("touch", "put") => {
            rule(&["raw.touch.copy", "raw.touch.populate_copy", "raw.touch.huge_copy"], None)
        }
        ("touch", "own") => rule(&["raw.touch.own"], None),
        ("startup", "job") => rule(&["raw.true"], None),
        _ => None,
    }
}

/// The raw program's operation that does the work of this one: increments are additions, and the
/// three bitwise operations are one kind of instruction.
fn instruction(operation: &str) -> &str {
    match operation.strip_suffix("_nbi").unwrap_or(operation) {
        "inc" => "add",
        "fetch_inc" => "fetch_add",
        "and" | "xor" => "or",
        "fetch_and" | "fetch_xor" => "fetch_or",
        other => other,
    }
}

/// The limit of a point: the best raw figure for it, measured with as many processes if there
/// is such a one (what is between two processes is not measured with more).
pub fn limit_of<'a>(report: &'a Report, point: &Point) -> Option<&'a Point> {
    let rule = rule_of(&point.name)?;
    let named = |raw: &Point| {
        rule.raw.iter().any(|name| {
            if name.ends_with('.') { raw.name.starts_with(name) } else { raw.name == *name }
        })
    };
    let size = rule.size.unwrap_or(point.size);
    let fitting: Vec<&Point> = report
        .points_of(RAW)
        .filter(|raw| raw.size == size && raw.unit == point.unit && named(raw))
        .collect();
    let same: Vec<&Point> = fitting.iter().copied().filter(|raw| raw.pes == point.pes).collect();
    let pool = if same.is_empty() && counts_two(&point.name) { fitting } else { same };
    pool.into_iter().min_by(|a, b| a.unit.cost_ratio(a.value(), b.value()).total_cmp(&1.0))
}

/// Quantities in which the number of PEs plays no part beyond the two at work.
fn counts_two(name: &str) -> bool {
    [
        "pingpong.",
        "wait.",
        "signal.",
        "bandwidth.",
        "rate.",
        "atomic.",
        "touch.",
        "lock.alone",
        "lock.test_free",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
}

/// How many times its limit a point costs.
pub fn ratio(report: &Report, point: &Point) -> Option<f64> {
    limit_of(report, point).map(|limit| point.unit.cost_ratio(point.value(), limit.value()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::report::{Key, Run, Unit};

    fn add(
        report: &mut Report,
        who: &str,
        name: &str,
        size: u64,
        pes: usize,
        unit: Unit,
        value: f64,
    ) -> Point {
        let run = Run { min: value, median: value, mean: value, max: value, samples: 1 };
        let key = Key { name: name.into(), size, pes };
        report.add(who, "p", key.clone(), unit, run);
        report.find(who, &key).unwrap().clone()
    }

    #[test]
    fn the_best_copy_is_the_limit_of_bandwidth() {
        let mut report = Report::new(true, 1, vec![0], Machine::default());
        add(&mut report, RAW, "raw.copy.memcpy", 64, 2, Unit::MegaBytes, 50.0);
        add(&mut report, RAW, "raw.copy.vector", 64, 2, Unit::MegaBytes, 80.0);
        add(&mut report, RAW, "raw.copy.streaming", 128, 2, Unit::MegaBytes, 90.0);
        add(&mut report, RAW, "raw.copy_both.memcpy", 64, 2, Unit::MegaBytes, 99.0);
        let put = add(&mut report, "one", "bandwidth.put", 64, 2, Unit::MegaBytes, 40.0);
        assert_eq!(limit_of(&report, &put).unwrap().name, "raw.copy.vector");
        assert_eq!(ratio(&report, &put), Some(2.0));
    }

    #[test]
    fn as_many_processes_where_they_count() {
        let mut report = Report::new(true, 1, vec![0], Machine::default());
        add(&mut report, RAW, "raw.barrier", 0, 2, Unit::Nanoseconds, 10.0);
        let two = add(&mut report, "one", "collective.barrier_all", 0, 2, Unit::Nanoseconds, 20.0);
        let four = add(&mut report, "one", "collective.barrier_all", 0, 4, Unit::Nanoseconds, 20.0);
        assert_eq!(ratio(&report, &two), Some(2.0));
        assert_eq!(ratio(&report, &four), None);
    }

    #[test]
    fn every_atomic_has_its_instruction() {
        let mut report = Report::new(true, 1, vec![0], Machine::default());
        add(&mut report, RAW, "raw.atomic.fetch_or", 8, 4, Unit::Nanoseconds, 5.0);
        let xor = add(&mut report, "one", "atomic.fetch_xor.uint32", 4, 2, Unit::Nanoseconds, 6.0);
        assert_eq!(ratio(&report, &xor), Some(1.2));
        assert!(ratio(&report, &Point { name: "collective.sum".into(), ..xor }).is_none());
    }
}
