//! The report as a self-contained HTML page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::gallery;
use crate::instructions as counts;
use crate::papers::Figure;
use crate::report::Report;
use crate::table;

const STYLE: &str = include_str!("page.css");

/// The page.
pub fn render<'a>(
    report: &Report,
    figures: impl Iterator<Item = &'a Figure>,
) -> anyhow::Result<String> {
    let sections: Vec<Markup> =
        figures.map(|figure| section(report, figure)).collect::<anyhow::Result<_>>()?;
    let instruction_rows = counts::rows(&report.instructions)?;
    let names: Vec<&str> = report.implementations.iter().map(|i| i.name.as_str()).collect();
    let title = format!("OpenSHMEM benchmarks: {}", names.join(", "));
    let body = html! {
        p { (report.began) " UTC, " (if report.quick { "short" } else { "full" }) " form, every program run "
            (report.repeats) " times, in turns." }
        p { (table::quietness(&report.noise, &report.points)) }
        (facts(report))
        @for section in &sections { (section) }
        (instructions(&instruction_rows))
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

fn section(report: &Report, figure: &Figure) -> anyhow::Result<Markup> {
    let plots = gallery::plots(report, figure);
    let plots = plots.iter().map(|plot| plot.svg()).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(html! {
        @if !plots.is_empty() {
            h2 { (figure.title) }
            p { (figure.caption) }
            div.plots { @for plot in &plots { figure { (PreEscaped(plot)) } } }
        }
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
        let data = crate::papers::Data::read().unwrap();
        let page = render(&report, data.set("run")).unwrap();
        assert!(
            page.contains("<svg") && page.contains("mine&lt;1&gt;") && page.contains("a &amp; b")
        );
        // Nothing is loaded: the only URL is SVG's namespace.
        let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("http") && !elsewhere.contains("src="));
    }
}
