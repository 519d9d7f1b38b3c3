//! The output: one page with all figures, and of each its pictures and data.

use std::path::Path;

use anyhow::Context;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::json;

use crate::data::{Data, Figure, Setting, slug};
use crate::draw::Drawing;
use crate::machine;

fn name(figure: &Figure) -> String {
    format!("{}-{}", figure.paper, slug(&figure.number))
}

/// Writes a figure's pictures and data. Returns what the files are called.
pub fn write(setting: &Setting, figure: &Figure, drawing: &Drawing) -> anyhow::Result<String> {
    let name = name(figure);
    let mut files = Vec::new();
    for (plot, letter) in drawing.plots.iter().zip('a'..).filter(|(plot, _)| plot.is_worthwhile()) {
        files.push((format!("{name}-{letter}.svg"), plot.svg()?));
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
    files.push((format!("{name}.json"), serde_json::to_string_pretty(&data)? + "\n"));
    for (file, text) in &files {
        save(&setting.work.join(file), text)?;
    }
    Ok(files.into_iter().map(|(file, _)| file).collect::<Vec<_>>().join(", "))
}

pub fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The page, which needs nothing else.
pub fn render(
    data: &Data,
    setting: &Setting,
    sections: &[(&Figure, Drawing)],
) -> anyhow::Result<String> {
    let names: Vec<&str> = setting.implementations.iter().map(|who| who.name.as_str()).collect();
    let title = format!("Figures on this machine: {}", names.join(", "));
    let mut parts = Vec::new();
    for of_paper in sections.chunk_by(|one, next| one.0.paper == next.0.paper) {
        let paper = data.paper(&of_paper[0].0.paper);
        parts.push(html! { h2 { (paper.title) } p.note { (paper.by) } });
        for (figure, drawing) in of_paper {
            parts.push(section(data, setting, figure, drawing)?);
        }
        parts.push(html! {
            @if !paper.absent.is_empty() {
                h3 { @if paper.ours { "What this page cannot have" } @else { "What the paper has and this page cannot have" } }
                ul { @for what in &paper.absent { li { (what) } } }
            }
        });
    }
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
                            (of_facts(&who.facts()))
                        }
                    }
                }
                @for part in &parts { (part) }
            }
        }
    };
    Ok(page.into_string())
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
