//! What is written: a page with all figures, and of each its pictures, tables and data.

use anyhow::Context;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::data::{Data, Place, slug};
use super::{Drawing, Figure, Placed, Setting, Table};
use crate::machine::{self, Machine};
use crate::page::document;

#[derive(Serialize)]
struct File<'a> {
    paper: &'a str,
    figure: &'a str,
    scaled: &'a str,
    points: &'a [Placed],
    tables: &'a [Table],
    remarks: &'a [String],
}

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
        save(format!("{name}-{letter}.csv"), table.csv())?;
    }
    if !drawing.points.is_empty() {
        save(format!("{name}.csv"), csv_of(&drawing.points))?;
    }
    let data = File {
        paper: &figure.paper,
        figure: &figure.number,
        scaled: setting.scaled(),
        points: &drawing.points,
        tables: &drawing.tables,
        remarks: &drawing.remarks,
    };
    save(format!("{name}.json"), serde_json::to_string_pretty(&data)? + "\n")?;
    Ok(written.join(", "))
}

/// A line of CSV (RFC 4180).
fn row(fields: impl IntoIterator<Item = String>) -> String {
    let field = |text: String| match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    };
    fields.into_iter().map(field).collect::<Vec<_>>().join(",") + "\n"
}

fn csv_of(points: &[Placed]) -> String {
    let header = "place,implementation,quantity,size,pes,unit,median,min,mean,max,runs\n";
    let line = |Placed { place, point }: &Placed| {
        let (min, mean, max) = point.within();
        let unit = serde_json::to_string(&point.unit).unwrap_or_default();
        let figures = [point.value(), min, mean, max].map(|figure| figure.to_string());
        let place = if *place == Place::Node { "node" } else { "nodes" };
        let names = [place.to_owned(), point.implementation.clone(), point.name.clone()];
        let keys = [point.size.to_string(), point.pes.to_string(), unit.replace('"', "")];
        row(names.into_iter().chain(keys).chain(figures).chain([point.runs.len().to_string()]))
    };
    header.to_owned() + &points.iter().map(line).collect::<String>()
}

impl Table {
    fn csv(&self) -> String {
        let rows = self.rows.iter().map(|cells| row(cells.clone()));
        row(self.header.clone()) + &rows.collect::<String>()
    }
}

/// The page.
pub fn render(
    data: &Data,
    setting: &Setting,
    sections: &[(&Figure, Drawing)],
) -> anyhow::Result<String> {
    let names: Vec<&str> = setting.implementations.iter().map(|who| who.name.as_str()).collect();
    let title = format!("Figures of the papers, on this machine: {}", names.join(", "));
    let mut parts = Vec::new();
    for of_paper in sections.chunk_by(|one, next| one.0.paper == next.0.paper) {
        let paper = data.paper(&of_paper[0].0.paper);
        parts.push(html! { h2 { (paper.title) } p.note { (paper.by()) } });
        for (figure, drawing) in of_paper {
            parts.push(section(data, setting, figure, drawing)?);
        }
        parts.push(html! {
            h3 { "What the paper has and this page cannot have" }
            ul { @for what in data.absent(&paper.key) { li { (what) } } }
        });
    }
    let machine = Machine::here(&setting.cpus);
    let body = html! {
        p { (machine::now()) " UTC, " (setting.repeats) " runs" @if !setting.scaled().is_empty() { ", " b { (setting.scaled()) } } }
        details open {
            summary { "Machine" }
            div.facts {
                table { @for (what, value) in &machine.facts { tr { th { (what) } td { (value) } } } }
            }
        }
        @for part in &parts { (part) }
    };
    Ok(document(&title, &body))
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
        p { b { "Not as in the paper: " } (setting.fill(&figure.differs, figure)) }
        @for printed in data.printed(figure) { p.note { b { "The paper's " } (data.describe(printed)) } }
        div.plots { @for plot in &plots { figure { (PreEscaped(plot)) } } }
        @if !left_out.is_empty() { p.note { "Too few figures for a curve: " (left_out.join("; ")) "." } }
        @for table in &drawing.tables {
            h4 { (table.title) }
            table.points {
                tr { @for cell in &table.header { th { (cell) } } }
                @for row in &table.rows { tr { @for cell in row { td { (cell) } } } }
            }
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

    #[test]
    fn tables_as_text() {
        let table = Table {
            title: "t".into(),
            header: vec!["a".into(), "b, c".into()],
            rows: vec![vec!["1".into(), "say \"x\"".into()]],
        };
        assert_eq!(table.csv(), "a,\"b, c\"\n1,\"say \"\"x\"\"\"\n");
    }
}
