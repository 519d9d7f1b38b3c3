//! The report as a self-contained HTML page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::figures;
use crate::gallery::{self, PageSection};
use crate::instructions as counts;
use crate::limits;
use crate::ratios::Ratios;
use crate::report::{Point, Report};
use crate::table;

const STYLE: &str = include_str!("page.css");

/// The page.
pub fn render(report: &Report) -> anyhow::Result<String> {
    let sections =
        gallery::sections(report).into_iter().map(section).collect::<anyhow::Result<Vec<_>>>()?;
    let instruction_rows = counts::rows(&report.instructions)?;
    let names: Vec<&str> = report.implementations.iter().map(|i| i.name.as_str()).collect();
    let title = format!("OpenSHMEM benchmarks: {}", names.join(", "));
    let body = html! {
        p { (report.began) " UTC, " (if report.quick { "short" } else { "full" }) " form, every program run "
            (report.repeats) " times, in turns." }
        p { (table::quietness(report)) }
        (facts(report))
        @for section in &sections { (section) }
        (instructions(&instruction_rows))
        (all_points(report))
        (remarks(report))
    };
    Ok(document(&title, &body))
}

/// A page that needs nothing else.
pub fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { h1 { (title) } (body) }
        }
    };
    page.into_string()
}

fn section(section: PageSection) -> anyhow::Result<Markup> {
    let plots = section.plots.iter().map(|plot| plot.svg()).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(html! {
        h2 { (section.title) }
        p { (section.caption) }
        div.plots { @for plot in &plots { figure { (PreEscaped(plot)) } } }
    })
}

fn instructions(rows: &[Vec<String>]) -> Markup {
    html! {
        @if let Some((header, rows)) = rows.split_first().filter(|(_, rows)| !rows.is_empty()) {
            h2 { "Instructions per call" }
            p { "In the library, from the jump into it to the return, on one PE that is its own target; counted by callgrind." }
            table {
                tr { @for cell in header { th { (cell) } } }
                @for row in rows { tr { @for cell in row { td { (cell) } } } }
            }
        }
    }
}

fn facts(report: &Report) -> Markup {
    html! {
        details open {
            summary { "Machine and implementations" }
            div.facts {
                table {
                    @for (what, value) in &report.machine.facts { tr { th { (what) } td { (value) } } }
                }
                @for implementation in &report.implementations {
                    table {
                        tr { th { "implementation" } td { b { (implementation.name) } } }
                        @for (what, value) in &implementation.facts { tr { th { (what) } td { (value) } } }
                    }
                }
            }
        }
    }
}

/// All points of our own implementation, one table per program.
fn all_points(report: &Report) -> Markup {
    let own = report.own().unwrap_or_default();
    let peers: Vec<&str> = report.peers().collect();
    let mut programs: Vec<&str> = Vec::new();
    for point in report.points_of(own) {
        if !programs.contains(&point.program.as_str()) {
            programs.push(&point.program);
        }
    }
    html! {
        h2 { "All figures" }
        p { (table::FIGURES) " " (table::RATIOS) }
        @for program in programs {
            details {
                summary { (program) (summary(report, own, program)) }
                table {
                    tr {
                        th { } th { "bytes" } th { "PEs" } th { (own) } th { } th { "min / mean / max" } th { "limit" } th { "x raw" } th { }
                        @for peer in &peers { th { (peer) } th { "x own" } th { } }
                    }
                    @for point in report.points_of(own).filter(|point| point.program == program) { (row(report, point, &peers)) }
                }
            }
        }
    }
}

/// The median of a program's ratios to raw, if it has any.
fn summary(report: &Report, own: &str, program: &str) -> Markup {
    let ratios: Vec<f64> = report
        .points_of(own)
        .filter(|point| point.program == program)
        .filter_map(|point| Some(limits::ratios(report, point)?.value()))
        .collect();
    html! {
        @if !ratios.is_empty() {
            span.note { " median x raw: " (figures::ratio(crate::stats::median(&ratios))) }
        }
    }
}

fn row(report: &Report, point: &Point, peers: &[&str]) -> Markup {
    let (min, mean, max) = point.within();
    let within = [min, mean, max].map(|value| figures::figure(value, point.unit)).join(" / ");
    let limit = limits::limit_of(report, point);
    let ratios = limits::ratios(report, point);
    let class = match ratios.as_ref().map(Ratios::value) {
        Some(ratio) if ratio <= 1.1 => "at-limit",
        Some(ratio) if ratio > 2.0 => "far",
        _ => "",
    };
    html! {
        tr {
            td.name { (point.name) }
            td { (figures::size(point.size)) }
            td { (point.pes) }
            td { (figures::figure(point.value(), point.unit)) }
            td.note { (figures::spread(point.spread())) }
            td.note { (within) }
            td.note {
                @if let Some(limit) = limit {
                    span title=(limit.name) { (figures::figure(limit.value, point.unit)) }
                }
            }
            (ratio_cells(ratios, class))
            @for peer in peers {
                @let other = report.find(peer, &point.key());
                td { @if let Some(other) = other { (figures::figure(other.value(), other.unit)) } }
                (ratio_cells(other.and_then(|other| Ratios::between(other, point)), ""))
            }
        }
    }
}

/// Cells with a ratio and its spread.
fn ratio_cells(ratios: Option<Ratios>, class: &str) -> Markup {
    let [ratio, spread] = table::quoted(ratios);
    html! {
        td class=(class) { (ratio) }
        td.note { (spread) }
    }
}

fn remarks(report: &Report) -> Markup {
    html! {
        @if !report.remarks.is_empty() {
            h2 { "Remarks" }
            ul {
                @for remark in &report.remarks { li { (remark) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{RAW, RemarkKind, Unit};

    #[test]
    fn the_page_needs_nothing_else() {
        let mut report = Report::of(&["mine<1>"]);
        for size in [8, 64] {
            for (who, name) in [(RAW, "raw.pingpong.pause"), ("mine<1>", "pingpong.put")] {
                report.note(who, name, (size, 2), Unit::Nanoseconds, &[2.0]);
            }
        }
        report.remark("mine<1>", "atomics", RemarkKind::Failed, "a & b");
        let page = render(&report).unwrap();
        assert!(
            page.contains("<svg") && page.contains("mine&lt;1&gt;") && page.contains("a &amp; b")
        );
        // Nothing is loaded: the only URL is SVG's namespace.
        let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("http") && !elsewhere.contains("src="));
        assert!(page.contains("at-limit"));
    }
}
