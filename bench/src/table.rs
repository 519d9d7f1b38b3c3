//! The report for the terminal.

use comfy_table::{CellAlignment, Table, TableComponent, presets};

use crate::figures;
use crate::instructions;
use crate::limits;
use crate::noise::Noise;
use crate::ratios::Ratios;
use crate::report::{Point, Report};

/// Explains the figures.
pub const FIGURES: &str = "Figures are medians over the runs; ± is half of the runs' range, of five or more without the \
    least and the largest.";
/// Explains the ratios.
pub const RATIOS: &str = "\"x raw\" is the cost in units of the best that plain shared memory does on this machine \
    (of starting a job: of as many /bin/true from the same launcher), \"x own\" another implementation's in units of the \
    first one's: each the median over the turns of the ratio within a turn, in which both are measured one right after the other.";

/// The whole report for a terminal: facts in one line, warnings, the table and remarks.
pub fn print(report: &Report, all: bool) -> String {
    let mut text = String::new();
    let mut line = |content: String| {
        text.push_str(&content);
        text.push('\n');
    };
    line(headline(report));
    line(quietness(&report.noise, &report.points));
    line(table(report, all).to_string());
    line(format!("{FIGURES} {RATIOS}"));
    if !all {
        line(
            "Of each quantity at most four sizes are shown; --all shows all, and the JSON has them.".into(),
        );
    }
    let counts = instructions::rows(&report.instructions).unwrap_or_default();
    if counts.len() > 1 {
        line(of_rows(&counts).to_string());
    }
    for remark in &report.remarks {
        line(remark.to_string());
    }
    text
}

/// How quiet the machine was, and how far runs of one point are from each other.
pub fn quietness<'a>(noise: &Noise, points: impl IntoIterator<Item = &'a Point>) -> String {
    let spreads = points.into_iter().map(Point::spread).filter(|spread| !spread.is_nan());
    let mut spreads: Vec<f64> = spreads.collect();
    spreads.sort_by(f64::total_cmp);
    let spread = match &spreads[..] {
        [] => String::new(),
        all => format!(
            "; spread of the runs: {} at half of the points, {} at nine of ten",
            figures::spread(all[all.len() / 2]),
            figures::spread(all[all.len() * 9 / 10])
        ),
    };
    format!("{noise}{spread}.")
}

fn headline(report: &Report) -> String {
    let fact = |what| report.machine.get(what).unwrap_or("unknown");
    let form = if report.quick { "the short form" } else { "the full form" };
    let mut text = format!(
        "{} UTC, {form}, {} runs. {}, {} CPUs pinned in the order {}, governor: {}, page {}\n",
        report.began,
        report.repeats,
        fact("CPU"),
        report.cpus.len(),
        crate::machine::listed(&report.cpus),
        fact("frequency governor"),
        fact("page size"),
    );
    for implementation in &report.implementations {
        let facts: Vec<String> =
            implementation.facts.iter().map(|(what, value)| format!("{what} {value}")).collect();
        text.push_str(&format!("{}: {}\n", implementation.name, facts.join("; ")));
    }
    text
}

/// A table without borders, whose columns in `right` are aligned to the right.
pub fn plain(header: Vec<String>, right: std::ops::Range<usize>) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_style(TableComponent::HeaderLines, '─')
        .set_header(header);
    for column in table.column_iter_mut().take(right.end).skip(right.start) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The line of a printed table that starts with these words, with one blank between words.
#[cfg(test)]
pub fn line(text: &str, start: &str) -> String {
    let line = text.lines().find(|line| line.trim_start().starts_with(start)).unwrap();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A table of a header and rows.
pub fn of_rows(rows: &[Vec<String>]) -> Table {
    let mut table = plain(rows.first().cloned().unwrap_or_default(), 0..0);
    table.add_rows(rows.iter().skip(1).cloned());
    table
}

fn table(report: &Report, all: bool) -> Table {
    let own = report.own().unwrap_or_default();
    let peers: Vec<&str> = report.peers().collect();
    let mut header = ["", "bytes", "PEs", own, "", "x raw", ""].map(str::to_owned).to_vec();
    for peer in &peers {
        header.extend([(*peer).to_owned(), "x own".into()]);
    }
    let columns = header.len();
    let mut table = plain(header, 1..columns);
    let points: Vec<&Point> = report.points_of(own).collect();
    let mut program = points.first().map_or("", |point| &point.program);
    for (index, point) in points.iter().enumerate() {
        if program != point.program {
            program = &point.program;
            table.add_row([""]);
        }
        if all || is_shown(&points, index) {
            table.add_row(row(report, point, &peers));
        }
    }
    table
}

fn row(report: &Report, point: &Point, peers: &[&str]) -> Vec<String> {
    let mut row = vec![
        point.name.clone(),
        figures::size(point.size),
        point.pes.to_string(),
        figures::figure(point.value(), point.unit),
        figures::spread(point.spread()),
    ];
    let [ratio, spread] = quoted(limits::ratios(report, point));
    row.extend([ratio, spread]);
    for peer in peers {
        let other = report.find(peer, &point.key());
        let figure = other.map(|other| figures::figure(other.value(), other.unit));
        let [ratio, _] = quoted(other.and_then(|other| Ratios::between(other, point)));
        row.extend([figure.unwrap_or_default(), ratio]);
    }
    row
}

/// A ratio and its spread.
pub fn quoted(ratios: Option<Ratios>) -> [String; 2] {
    let Some(ratios) = ratios else { return Default::default() };
    [figures::ratio(ratios.value()), figures::spread(ratios.spread())]
}

/// Whether to show a point: of many sizes only the first, the last and two between.
fn is_shown(points: &[&Point], index: usize) -> bool {
    let same = |other: &&Point| other.name == points[index].name && other.pes == points[index].pes;
    let count = points.iter().filter(|point| same(point)).count();
    let place = points[..index].iter().filter(|point| same(point)).count();
    count <= 4 || [0, (count - 1) / 3, (count - 1) * 2 / 3, count - 1].contains(&place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{RAW, RemarkKind, Unit};

    #[test]
    fn rows_have_ratios_to_raw_and_to_peers() {
        let mut report = Report::of(&["mine", "theirs"]);
        for (who, name, value) in [
            (RAW, "raw.pingpong.pause", 50.0),
            ("mine", "pingpong.put", 100.0),
            ("theirs", "pingpong.put", 1000.0),
        ] {
            report.note(who, name, (8, 2), Unit::Nanoseconds, &[value]);
        }
        report.remark("theirs", "atomics", RemarkKind::Failed, "ended with status 1");
        let text = print(&report, false);
        let line = text.lines().find(|line| line.starts_with(" pingpong.put")).unwrap();
        let fields: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(fields, ["pingpong.put", "8", "2", "100", "ns", "2.00", "1.00", "us", "10.0"]);
        assert!(text.contains("Failed: theirs, atomics: ended with status 1"));
    }

    #[test]
    fn four_of_many_sizes() {
        let mut report = Report::of(&[]);
        for power in 3..23 {
            report.note("mine", "a.b", (1 << power, 2), Unit::Nanoseconds, &[1.0]);
        }
        let points: Vec<&Point> = report.points.iter().collect();
        let shown: Vec<usize> =
            (0..points.len()).filter(|&index| is_shown(&points, index)).collect();
        assert_eq!(shown, [0, 6, 12, 19]);
    }
}
