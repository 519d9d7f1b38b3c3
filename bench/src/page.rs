//! The output: one page with all figures, and of each its pictures, tables and data.

use std::path::Path;

use anyhow::Context;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::json;

use crate::curves::Table;
use crate::data::{Data, Figure, Setting, slug};
use crate::draw::Drawing;
use crate::implementation::Implementation;
use crate::machine;
use crate::report::{Point, Run};

fn name(figure: &Figure) -> String {
    format!("{}-{}", figure.paper, slug(&figure.number))
}

/// Writes a figure's files. Returns what they are called.
pub fn write(setting: &Setting, figure: &Figure, drawing: &Drawing) -> anyhow::Result<String> {
    let name = name(figure);
    let mut written = Vec::new();
    let mut save = |file: String, text: String| {
        let path = setting.work.join(&file);
        written.push(file);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    for (plot, letter) in drawing.plots.iter().zip('a'..).filter(|(plot, _)| plot.is_worthwhile()) {
        save(format!("{name}-{letter}.svg"), plot.svg()?)?;
    }
    for (table, letter) in drawing.tables.iter().zip('a'..) {
        save(format!("{name}-{letter}.csv"), table.csv()?)?;
    }
    if !drawing.points.is_empty() {
        save(format!("{name}.csv"), csv_of(&drawing.points)?)?;
    }
    let data = json!({
        "paper": figure.paper,
        "figure": figure.number,
        "scaled": setting.scaled(),
        "machine": machine::facts(&setting.cpus),
        "points": drawing.points,
        "tables": drawing.tables,
        "remarks": drawing.remarks,
    });
    save(format!("{name}.json"), serde_json::to_string_pretty(&data)? + "\n")?;
    Ok(written.join(", "))
}

fn csv_of(points: &[Point]) -> anyhow::Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let columns = "place,implementation,quantity,size,pes,unit,turn,min,median,mean,max,samples";
    csv.write_record(columns.split(','))?;
    for Point { place, implementation, key, unit, runs, .. } in points {
        for Run { turn, min, median, mean, max, samples } in runs {
            let what = (place, implementation, &key.name, key.size, key.pes, unit);
            csv.serialize((what, turn, min, median, mean, max, samples))?;
        }
    }
    Ok(String::from_utf8(csv.into_inner()?)?)
}

impl Table {
    fn csv(&self) -> anyhow::Result<String> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.write_record(&self.header)?;
        for row in &self.rows {
            csv.write_record(row)?;
        }
        Ok(String::from_utf8(csv.into_inner()?)?)
    }
}

/// Writes the page.
pub fn save(
    file: &Path,
    data: &Data,
    setting: &Setting,
    sections: &[(&Figure, Drawing)],
) -> anyhow::Result<()> {
    let page = render(data, setting, sections)?;
    std::fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))
}

/// The page, which needs nothing else.
fn render(
    data: &Data,
    setting: &Setting,
    sections: &[(&Figure, Drawing)],
) -> anyhow::Result<String> {
    let names: Vec<&str> = setting.implementations.iter().map(|who| who.name.as_str()).collect();
    let title = format!("Figures on this machine: {}", names.join(", "));
    let mut parts = Vec::new();
    for of_paper in sections.chunk_by(|one, next| one.0.paper == next.0.paper) {
        let paper = data.paper(&of_paper[0].0.paper);
        parts.push(html! { h2 { (paper.title) } p.note { (paper.by()) } });
        for (figure, drawing) in of_paper {
            parts.push(section(data, setting, figure, drawing)?);
        }
        let absent = data.absent(&paper.key);
        parts.push(html! {
            @if !absent.is_empty() {
                h3 { @if paper.is_ours() { "What this page cannot have" } @else { "What the paper has and this page cannot have" } }
                ul { @for what in absent { li { (what) } } }
            }
        });
    }
    let facts = sections.iter().flat_map(|(_, drawing)| &drawing.facts);
    let facts: std::collections::BTreeSet<&(String, String)> = facts.collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                h1 { (title) }
                p { (machine::now()) " UTC, " (setting.repeats) @if setting.repeats == 1 { " run" } @else { " runs, in turns" } @if !setting.scaled().is_empty() { ", " b { (setting.scaled()) } } }
                details open {
                    summary { "Machine and implementations" }
                    div.facts {
                        (of_facts(&machine::facts(&setting.cpus)))
                        @for who in setting.implementations.iter().chain(&setting.mpis) {
                            (of_facts(&described(who, facts.iter().copied())))
                        }
                    }
                }
                @for part in &parts { (part) }
            }
        }
    };
    Ok(page.into_string())
}

/// An implementation's name and what it says about itself.
fn described<'a>(
    who: &Implementation,
    facts: impl Iterator<Item = &'a (String, String)>,
) -> Vec<(String, String)> {
    let told =
        facts.filter(|(name, _)| *name == who.name).map(|(_, fact)| ("says".into(), fact.clone()));
    [("implementation".into(), who.name.clone())]
        .into_iter()
        .chain(who.facts())
        .chain(told)
        .collect()
}

fn of_facts(facts: &[(String, String)]) -> Markup {
    html! { table { @for (what, value) in facts { tr { th { (what) } td { (value) } } } } }
}

fn section(
    data: &Data,
    setting: &Setting,
    figure: &Figure,
    drawing: &Drawing,
) -> anyhow::Result<Markup> {
    let (shown, left_out): (Vec<_>, Vec<_>) =
        drawing.plots.iter().partition(|plot| plot.is_worthwhile());
    let plots = shown.iter().map(|plot| plot.svg()).collect::<anyhow::Result<Vec<_>>>()?;
    let left_out: Vec<&str> = left_out.iter().map(|plot| plot.title.as_str()).collect();
    let numbers: Vec<&str> = figure.numbers().collect();
    let name = name(figure);
    Ok(html! {
        h3 id=(name) { (numbers.join(", ")) ": " (figure.title) }
        p {
            (setting.fill(&figure.caption, figure))
            @if !setting.scaled().is_empty() { " (" (setting.scaled()) ".)" }
        }
        @if !figure.differs.is_empty() {
            p { b { "Not as published: " } (setting.fill(&figure.differs, figure)) }
        }
        @for printed in data.printed(figure) { p.note { b { "The paper's " } (data.describe(printed)) } }
        div.plots { @for plot in &plots { figure { (PreEscaped(plot)) } } }
        @if !left_out.is_empty() { p.note { "Too few figures for a curve: " (left_out.join("; ")) "." } }
        @for table in &drawing.tables {
            h4 { (table.title) }
            div.wide { table.points.prose[table.rows.iter().flatten().any(|cell| cell.len() > 40)] {
                tr { @for cell in &table.header { th { (cell) } } }
                @for row in &table.rows { tr { @for cell in row { td { (cell) } } } }
            } }
        }
        @if !drawing.remarks.is_empty() {
            ul.note { @for remark in &drawing.remarks { li { (remark) } } }
        }
        p.note { "Data: " (name) ".json, by: " code { "oshbench figures " (figure.paper) " " (slug(&figure.number)) } }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Place, Report, Unit};

    #[test]
    fn data_as_text() {
        let table = Table {
            title: "t".into(),
            header: vec!["a".into(), "b, c".into()],
            rows: vec![vec!["1".into(), "say \"x\"".into()]],
        };
        assert_eq!(table.csv().unwrap(), "a,\"b, c\"\n1,\"say \"\"x\"\"\"\n");
        let mut report = Report { place: Place::Nodes, ..Report::default() };
        report.note("a, b", "wall.hello", (8, 2), Unit::Nanoseconds, &[1.5]);
        let text = csv_of(&report.points).unwrap();
        let line = "nodes,\"a, b\",wall.hello,8,2,ns,0,1.5,1.5,1.5,1.5,1";
        assert_eq!(text.lines().nth(1), Some(line));
    }
}
