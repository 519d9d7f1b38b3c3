//! Collectives of the own implementation beside the best of the others and beside the
//! bound of the machine: what the copies alone take, or a barrier on a central counter.

use comfy_table::{CellAlignment, Table, TableComponent, presets};
use oneshmem_plots::figures;

use crate::plan::{Experiment, Extent};
use crate::report::{Key, Point, RAW, RemarkKind, Report, Unit};

const PES: [usize; 3] = [2, 4, 8];
const SIZES: [u64; 4] = [8, 2 << 10, 64 << 10, 1 << 20];
/// Operations: what it is called here and as a raw figure, over teams, over active sets.
const OPERATIONS: [(&str, &str, &str); 4] = [
    ("broadcast", "collective.broadcast", "activeset.broadcast"),
    ("reduce", "collective.sum", "activeset.sum"),
    ("fcollect", "collective.fcollect", "activeset.fcollect"),
    ("alltoall", "collective.alltoall", "activeset.alltoall"),
];
const BARRIER: &str = "collective.barrier_all";
/// Within so much of the bound, or this many times as quick as the best other one: the goal.
const NEAR: f64 = 1.15;
const TIMES: f64 = 2.0;

/// One job for each size and number of PEs, of the OpenSHMEM program and of the raw one.
pub fn experiments(extent: Extent, _: usize) -> Vec<Experiment> {
    let names: Vec<&str> = OPERATIONS.iter().flat_map(|(_, team, set)| [*team, *set]).collect();
    let mut list = Vec::new();
    for pes in PES {
        for size in SIZES {
            let sizes =
                [format!("ms={}", extent.ms()), format!("min={size}"), format!("max={size}")];
            let barrier = if size == SIZES[0] { format!("{BARRIER},") } else { String::new() };
            let only = format!("only={barrier}{}", names.join(","));
            let make = |program, raw, more: &[String]| Experiment {
                program,
                raw,
                pes,
                arguments: [&sizes[..], more].concat(),
                heap: 64,
                whole_job: false,
            };
            list.push(make("moves", true, &[]));
            list.push(make("collectives", false, &[only]));
        }
    }
    list
}

/// Which of a run's samples is its figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// The median.
    Median,
    /// The least: what comes through where the machine is busy with other things.
    Least,
}

impl Sample {
    /// Over the runs the median of the runs' figures.
    fn of(self, point: &Point) -> f64 {
        match self {
            Self::Median => point.value(),
            Self::Least => point.within().0,
        }
    }
}

/// The best of the points there are, over teams or over active sets.
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

/// What the machine allows: the quickest of the raw methods.
fn bound(
    (report, sample): (&Report, Sample),
    operation: &str,
    size: u64,
    pes: usize,
) -> Option<f64> {
    let prefix = format!("raw.{operation}.");
    report
        .points_of(RAW)
        .filter(|point| point.size == size && point.pes == pes && point.name.starts_with(&prefix))
        .map(|point| sample.of(point))
        .min_by(f64::total_cmp)
}

fn raw_barrier((report, sample): (&Report, Sample), pes: usize) -> Option<f64> {
    report
        .find(RAW, &Key { name: "raw.barrier".into(), size: 0, pes })
        .map(|point| sample.of(point))
}

/// One row's figures.
struct Row<'a> {
    operation: &'a str,
    size: u64,
    pes: usize,
    own: f64,
    spread: f64,
    bound: Option<f64>,
    peer: Option<(&'a str, f64)>,
}

impl Row<'_> {
    fn near(&self) -> Option<f64> {
        self.bound.map(|bound| self.own / bound)
    }

    fn times(&self) -> Option<f64> {
        self.peer.map(|(_, peer)| peer / self.own)
    }

    fn reached(&self) -> bool {
        self.near().is_some_and(|near| near <= NEAR)
            || self.times().is_some_and(|times| times >= TIMES)
    }
}

fn rows(report: &Report, sample: Sample) -> Vec<Row<'_>> {
    let figures = (report, sample);
    let own = report.own().unwrap_or_default();
    let mut rows = Vec::new();
    for pes in PES {
        let points =
            std::iter::once(("barrier", vec![BARRIER], 0)).chain(OPERATIONS.iter().flat_map(
                |(operation, team, set)| SIZES.map(|size| (*operation, vec![*team, *set], size)),
            ));
        for (operation, names, size) in points {
            let Some(mine) = best(figures, own, &names, size, pes) else { continue };
            let peer = report
                .peers()
                .filter_map(|peer| Some((peer, sample.of(best(figures, peer, &names, size, pes)?))))
                .min_by(|a, b| a.1.total_cmp(&b.1));
            let bound = match operation {
                "barrier" => raw_barrier(figures, pes),
                _ => bound(figures, operation, size, pes),
            };
            rows.push(Row {
                operation,
                size,
                pes,
                own: sample.of(mine),
                spread: mine.spread(),
                bound,
                peer,
            });
        }
    }
    rows
}

/// The table, with what else a reader must know.
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
        let barriers = raw_barrier((report, sample), row.pes).map(|barrier| row.own / barrier);
        let ratio = |ratio: Option<f64>| ratio.map(figures::ratio).unwrap_or_default();
        table.add_row([
            row.operation.to_owned(),
            row.pes.to_string(),
            figures::size(row.size),
            time(row.own),
            figures::spread(row.spread),
            row.bound.map(time).unwrap_or_default(),
            ratio(row.near()),
            ratio(barriers),
            row.peer.map(|(_, ns)| time(ns)).unwrap_or_default(),
            row.peer.map(|(name, _)| name.to_owned()).unwrap_or_default(),
            ratio(row.times()),
            if row.reached() { String::new() } else { "not reached".into() },
        ]);
    }
    let mut text = format!("{table}\n");
    let reached = rows.iter().filter(|row| row.reached()).count();
    text += &format!(
        "Figures: the slowest PE's time, the median of the runs' {}. Bound: what the bytes take that must move, copied by as many\n\
         processes at once; for barriers one on a central counter. Barriers: in units of that one. Of {} points {reached} are within\n\
         {NEAR} of the bound or {TIMES} times as quick as the best other implementation. Forms over teams and over active sets: the better one.\n",
        if sample == Sample::Least { "least samples" } else { "medians" },
        rows.len()
    );
    for warning in crate::table::warnings(report) {
        text += &format!("! {warning}\n");
    }
    for remark in report.remarks.iter().filter(|remark| remark.kind != RemarkKind::Skipped) {
        text += &format!("{}, {}: {}\n", remark.implementation, remark.program, remark.what);
    }
    text
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
            let run = Run { min: value, median: value, mean: value, max: value, samples: 1 };
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
        assert!(text.contains("Of 2 points 1 are within"));
    }

    #[test]
    fn raw_and_own_program_take_turns() {
        let list = experiments(Extent::Full, 2);
        assert_eq!(list.len(), 2 * PES.len() * SIZES.len());
        assert!(list.chunks(2).all(|pair| pair[0].raw && !pair[1].raw));
        let only = |e: &Experiment| e.arguments.iter().any(|a| a.contains(BARRIER));
        assert_eq!(list.iter().filter(|e| only(e)).count(), PES.len());
    }
}
