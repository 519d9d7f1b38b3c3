//! Collectives of our own implementation compared with the best other one and with the machine's
//! bound: the time of the copies alone, or of a barrier on a central counter.

use comfy_table::{CellAlignment, Table, TableComponent, presets};
use oneshmem_plots::figures;

use crate::plan::{Comparison, Experiment, Extent};
use crate::ratios::Ratios;
use crate::report::{Key, Point, RAW, RemarkKind, Report, Unit};
use crate::sample::Sample;
use crate::slower;

const PES: [usize; 3] = [2, 4, 8];
/// The sizes usually measured.
const SIZES: [u64; 4] = [8, 2 << 10, 64 << 10, 1 << 20];

/// An operation: its name here, and as a raw figure, over teams and over active sets.
struct Operation {
    name: &'static str,
    raw: &'static str,
    forms: [&'static str; 2],
}

const fn operation(
    name: &'static str,
    raw: &'static str,
    team: &'static str,
    set: &'static str,
) -> Operation {
    Operation { name, raw, forms: [team, set] }
}

const OPERATIONS: [Operation; 5] = [
    operation("broadcast", "broadcast", "collective.broadcast", "activeset.broadcast"),
    operation("reduce", "reduce", "collective.sum", "activeset.sum"),
    operation("fcollect", "fcollect", "collective.fcollect", "activeset.fcollect"),
    operation("alltoall", "alltoall", "collective.alltoall", "activeset.alltoall"),
    // It moves the same bytes.
    operation("alltoalls", "alltoall", "collective.alltoalls", "activeset.alltoalls"),
];
/// The forms in words, in the order of [`Operation::forms`].
const FORMS: [&str; 2] = ["over teams", "over active sets"];
const BARRIER: &str = "collective.barrier_all";
/// The goal: at most this many times the bound, or this many times as fast as the best other one.
const NEAR: f64 = 1.15;
const TIMES: f64 = 2.0;

/// The powers of two from 8 bytes to 4 MiB.
fn every_size() -> impl Iterator<Item = u64> + Clone {
    (3..=22).map(|bit| 1 << bit)
}

/// One job for each of a few sizes and numbers of PEs, with the OpenSHMEM program and the raw one.
pub fn groups(extent: Extent, cpus: usize) -> Vec<Comparison> {
    groups_of(SIZES, extent, cpus)
}

/// Like [`groups`], for every power of two up to 4 MiB.
pub fn groups_of_every_size(extent: Extent, cpus: usize) -> Vec<Comparison> {
    groups_of(every_size(), extent, cpus)
}

fn groups_of(
    sizes: impl IntoIterator<Item = u64, IntoIter: Clone>,
    extent: Extent,
    cpus: usize,
) -> Vec<Comparison> {
    let names: Vec<&str> = OPERATIONS.iter().flat_map(|operation| operation.forms).collect();
    let sizes = sizes.into_iter();
    let mut list = Vec::new();
    for pes in PES {
        for size in sizes.clone() {
            let sizes =
                [format!("ms={}", extent.ms()), format!("min={size}"), format!("max={size}")];
            let barrier = if size == SIZES[0] { format!("{BARRIER},") } else { String::new() };
            let only = format!("only={barrier}{}", names.join(","));
            let make = |program, raw, more: &[String]| Experiment {
                program,
                raw,
                pes,
                arguments: [&sizes[..], more].concat(),
                heap: if size > 1 << 20 { 160 } else { 64 },
                whole_job: false,
            };
            list.push(Comparison {
                experiments: vec![make("moves", true, &[]), make("collectives", false, &[only])],
                by_distance: pes <= cpus,
            });
        }
    }
    list
}

/// The best of the existing points, over teams or over active sets.
fn best<'a>(
    (report, sample): (&'a Report, Sample),
    who: &str,
    names: &[&str],
    size: u64,
    pes: usize,
) -> Option<&'a Point> {
    let find = |name: &&str| report.find(who, &Key { name: (*name).into(), size, pes });
    names.iter().filter_map(find).min_by(|a, b| sample.of(a).total_cmp(&sample.of(b)))
}

/// The best of the other implementations' points.
fn best_peer<'a>(
    (report, sample): (&'a Report, Sample),
    names: &[&str],
    size: u64,
    pes: usize,
) -> Option<(&'a str, &'a Point)> {
    let peers = report.peers();
    peers
        .filter_map(|peer| Some((peer, best((report, sample), peer, names, size, pes)?)))
        .min_by(|a, b| sample.of(a.1).total_cmp(&sample.of(b.1)))
}

/// The bounds that the machine sets, one for each raw method.
fn bounds<'a>(report: &'a Report, operation: &str, size: u64, pes: usize) -> Vec<&'a Point> {
    let prefix = format!("raw.{operation}.");
    report
        .points_of(RAW)
        .filter(|point| point.size == size && point.pes == pes && point.name.starts_with(&prefix))
        .collect()
}

fn raw_barrier(report: &Report, pes: usize) -> Option<&Point> {
    report.find(RAW, &Key { name: "raw.barrier".into(), size: 0, pes })
}

/// The figures of one row.
struct Row<'a> {
    operation: &'a str,
    size: u64,
    pes: usize,
    own: f64,
    spread: f64,
    bound: Option<f64>,
    /// Relative to the bound, turn by turn.
    near: Option<Ratios>,
    /// Relative to the raw barrier.
    barriers: Option<Ratios>,
    peer: Option<(&'a str, f64)>,
    /// The best peer's costs relative to ours.
    times: Option<Ratios>,
}

impl Row<'_> {
    fn reached(&self) -> bool {
        self.near.as_ref().is_some_and(|near| near.value() <= NEAR)
            || self.times.as_ref().is_some_and(|times| times.value() >= TIMES)
    }
}

fn rows(report: &Report, sample: Sample) -> Vec<Row<'_>> {
    let figures = (report, sample);
    let own = report.own().unwrap_or_default();
    let mut rows = Vec::new();
    for pes in PES {
        let points = std::iter::once(("barrier", "barrier", vec![BARRIER], 0)).chain(
            OPERATIONS
                .iter()
                .flat_map(|of| every_size().map(|size| (of.name, of.raw, of.forms.to_vec(), size))),
        );
        for (operation, raw, names, size) in points {
            let Some(mine) = best(figures, own, &names, size, pes) else { continue };
            let peer = best_peer(figures, &names, size, pes);
            let barrier = raw_barrier(report, pes);
            let bounds = match operation {
                "barrier" => barrier.into_iter().collect(),
                _ => bounds(report, raw, size, pes),
            };
            rows.push(Row {
                operation,
                size,
                pes,
                own: sample.of(mine),
                spread: mine.spread(),
                bound: bounds.iter().map(|point| sample.of(point)).min_by(f64::total_cmp),
                near: sample.ratios(mine, &bounds),
                barriers: barrier.and_then(|barrier| sample.ratios(mine, &[barrier])),
                peer: peer.map(|(name, point)| (name, sample.of(point))),
                times: peer.and_then(|(_, point)| sample.ratios(point, &[mine])),
            });
        }
    }
    rows
}

/// The table, with notes for the reader.
pub fn print(report: &Report, sample: Sample) -> String {
    let own = report.own().unwrap_or_default();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_style(TableComponent::HeaderLines, '─').set_header([
        "",
        "PEs",
        "bytes",
        own,
        "",
        "bound",
        "x bound",
        "barriers",
        "best other",
        "",
        "times",
        "",
    ]);
    for index in 1..10 {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let time = |ns| figures::figure(ns, Unit::Nanoseconds);
    let rows = rows(report, sample);
    for row in &rows {
        let ratio = |ratios: &Option<Ratios>| {
            ratios.as_ref().map(|ratios| figures::ratio(ratios.value())).unwrap_or_default()
        };
        table.add_row([
            row.operation.to_owned(),
            row.pes.to_string(),
            figures::size(row.size),
            time(row.own),
            figures::spread(row.spread),
            row.bound.map(time).unwrap_or_default(),
            ratio(&row.near),
            ratio(&row.barriers),
            row.peer.map(|(_, ns)| time(ns)).unwrap_or_default(),
            row.peer.map(|(name, _)| name.to_owned()).unwrap_or_default(),
            ratio(&row.times),
            if row.reached() { String::new() } else { "not reached".into() },
        ]);
    }
    let mut text = format!("{table}\n");
    let reached = rows.iter().filter(|row| row.reached()).count();
    text += &format!(
        "Figures: the slowest PE's time, the median of the runs' {}. Ratios: the median of those within each turn. Bound: what the bytes take that must move, copied by as many\n\
         processes at once; for barriers one on a central counter. Barriers: in units of that one. Of {} points {reached} are within\n\
         {NEAR} of the bound or {TIMES} times as quick as the best other implementation. Forms over teams and over active sets: the better one.\n",
        if sample == Sample::Least { "least samples" } else { "medians" },
        rows.len()
    );
    text += &slower(report, sample, &rows);
    for warning in crate::table::warnings(report) {
        text += &format!("! {warning}\n");
    }
    for remark in report.remarks.iter().filter(|remark| remark.kind != RemarkKind::Skipped) {
        text += &format!("{}, {}: {}\n", remark.implementation, remark.program, remark.what);
    }
    text
}

/// Each form by itself, over teams or over active sets, beside the best other implementation's same
/// form: what it is, and the other one's costs relative to ours.
fn forms(report: &Report, sample: Sample) -> Vec<(String, &str, f64)> {
    let figures = (report, sample);
    let own = report.own().unwrap_or_default();
    let compared = |operation: &Operation, form: usize, size, pes| {
        let name = operation.forms[form];
        let mine = best(figures, own, &[name], size, pes)?;
        let (peer, theirs) = best_peer(figures, &[name], size, pes)?;
        let what = point(&format!("{} {}", operation.name, FORMS[form]), size, pes);
        Some((what, peer, sample.ratios(theirs, &[mine])?.value()))
    };
    let mut points = Vec::new();
    for pes in PES {
        for operation in &OPERATIONS {
            for size in every_size() {
                points.extend((0..2).filter_map(|form| compared(operation, form, size, pes)));
            }
        }
    }
    points
}

/// A point in words: `reduce of 8 B on 2 PEs`.
fn point(operation: &str, size: u64, pes: usize) -> String {
    let of = if size == 0 { "" } else { " of " };
    format!("{operation}{of}{} on {pes} PEs", figures::bytes(size))
}

/// Lines on where another implementation is faster, if there are others.
fn slower(report: &Report, sample: Sample, rows: &[Row<'_>]) -> String {
    let better = rows.iter().filter_map(|row| {
        let (peer, times) = (row.peer?.0, row.times.as_ref()?.value());
        Some((point(row.operation, row.size, row.pes), peer, times))
    });
    let line = |which: &str, points: &[(String, &str, f64)]| {
        let points_lost = points.iter().filter(|(_, _, times)| *times < 1.0);
        let lost = points_lost.map(|(what, peer, times)| slower::point(what, 1.0 / times, peer));
        let start = format!("Slower than another implementation, {which},");
        slower::sentence(&start, points.len(), &lost.collect::<Vec<_>>())
    };
    line("better forms", &better.collect::<Vec<_>>()) + &line("same forms", &forms(report, sample))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::report::{Implementation, Run};

    #[test]
    fn the_better_form_beside_the_bound_and_the_best_other_one() {
        let mut report = Report::new(false, 1, vec![0, 1], Machine::default());
        for name in ["mine", "slow", "quick"] {
            report.implementations.push(Implementation { name: name.into(), facts: Vec::new() });
        }
        for (who, name, size, value) in [
            (RAW, "raw.barrier", 0, 100.0),
            (RAW, "raw.reduce.memcpy", 2048, 300.0),
            (RAW, "raw.reduce.streaming", 2048, 200.0),
            ("mine", "activeset.sum", 2048, 440.0),
            ("mine", "collective.sum", 2048, 400.0),
            ("slow", "activeset.sum", 2048, 4000.0),
            ("quick", "activeset.sum", 2048, 600.0),
            ("mine", "collective.barrier_all", 0, 110.0),
        ] {
            let run = Run::one(0, value);
            report.add(who, "p", Key { name: name.into(), size, pes: 4 }, Unit::Nanoseconds, run);
        }
        let text = print(&report, Sample::Median);
        let fields = |start: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.trim_start().starts_with(start)).unwrap();
            line.split_whitespace().map(str::to_owned).collect()
        };
        assert_eq!(
            fields("reduce").join(" "),
            "reduce 4 2 Ki 400 ns 200 ns 2.00 4.00 600 ns quick 1.50 not reached"
        );
        assert_eq!(fields("barrier").join(" "), "barrier 4 110 ns 100 ns 1.10 1.10");
        assert!(text.contains("implementation, better forms, at none of 1 points."));
        assert!(text.contains("implementation, same forms, at none of 1 points."));
        assert!(text.contains("Of 2 points 1 are within"));
    }

    #[test]
    fn where_another_one_is_quicker_is_named() {
        let mut report = Report::new(false, 1, vec![0, 1], Machine::default());
        for name in ["mine", "other"] {
            report.implementations.push(Implementation { name: name.into(), facts: Vec::new() });
        }
        for (who, name, size, value) in [
            ("mine", "collective.alltoalls", 4 << 20, 300.0),
            ("other", "collective.alltoalls", 4 << 20, 200.0),
            ("mine", "collective.alltoall", 8, 200.0),
            ("other", "activeset.alltoall", 8, 300.0),
            ("mine", "collective.fcollect", 8, 100.0),
            ("other", "collective.fcollect", 8, 110.0),
            ("mine", "activeset.fcollect", 8, 240.0),
            ("other", "activeset.fcollect", 8, 120.0),
            ("mine", "collective.barrier_all", 0, 130.0),
            ("other", "collective.barrier_all", 0, 100.0),
        ] {
            let run = Run::one(0, value);
            report.add(who, "p", Key { name: name.into(), size, pes: 2 }, Unit::Nanoseconds, run);
        }
        let text = print(&report, Sample::Median);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("Slower")).collect();
        assert_eq!(
            lines,
            [
                "Slower than another implementation, better forms, at 2 of 4 points: barrier on 2 \
                 PEs (1.30 times other's time), alltoalls of 4 MiB on 2 PEs (1.50 times other's time).",
                "Slower than another implementation, same forms, at 2 of 3 points: fcollect over \
                 active sets of 8 B on 2 PEs (2.00 times other's time), alltoalls over teams of \
                 4 MiB on 2 PEs (1.50 times other's time)."
            ]
        );
    }

    #[test]
    fn raw_and_own_program_take_turns() {
        let list = groups(Extent::Full, 2);
        assert_eq!(list.len(), PES.len() * SIZES.len());
        assert_eq!(groups_of_every_size(Extent::Full, 2).len(), PES.len() * 20);
        let raw = |group: &Comparison| group.experiments.iter().map(|e| e.raw).collect::<Vec<_>>();
        assert!(list.iter().all(|group| raw(group) == [true, false]));
        let only = |e: &Experiment| e.arguments.iter().any(|a| a.contains(BARRIER));
        let all = list.iter().flat_map(|group| &group.experiments);
        assert_eq!(all.filter(|e| only(e)).count(), PES.len());
    }
}
