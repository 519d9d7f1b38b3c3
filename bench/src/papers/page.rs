//! The page with all figures that were drawn.

use maud::{Markup, PreEscaped, html};

use super::{Drawing, Figure, Paper, Setting, scaled};
use crate::machine::{self, Machine};
use crate::page::document;

/// The page.
pub fn render(
    setting: &Setting,
    sections: &[(&'static Paper, usize, Figure, Drawing)],
) -> anyhow::Result<String> {
    let names: Vec<&str> = setting.implementations.iter().map(|who| who.name.as_str()).collect();
    let title = format!("Figures of the papers, on this machine: {}", names.join(", "));
    let mut body = Vec::new();
    for of_paper in sections.chunk_by(|one, next| one.0.key == next.0.key) {
        let paper = of_paper[0].0;
        body.push(html! { h2 { (paper.title) } p.note { (paper.by) } });
        for (_, number, figure, drawing) in of_paper {
            body.push(section(setting, paper.key, *number, figure, drawing)?);
        }
        body.push(html! {
            h3 { "What the paper has and this page cannot have" }
            ul { @for what in paper.absent { li { (what) } } }
        });
    }
    let machine = Machine::here(&setting.cpus);
    let scaled = scaled(setting.extent);
    let body = html! {
        p { (machine::now()) " UTC" @if !scaled.is_empty() { ", " b { (scaled) } } }
        details open {
            summary { "Machine" }
            div.facts {
                table { @for (what, value) in &machine.facts { tr { th { (what) } td { (value) } } } }
            }
        }
        @for part in &body { (part) }
    };
    Ok(document(&title, &body))
}

fn section(
    setting: &Setting,
    key: &str,
    number: usize,
    figure: &Figure,
    drawing: &Drawing,
) -> anyhow::Result<Markup> {
    let worthwhile = drawing.plots.iter().filter(|plot| plot.is_worthwhile());
    let plots = worthwhile.map(|plot| plot.svg()).collect::<anyhow::Result<Vec<_>>>()?;
    let scaled = scaled(setting.extent);
    let left_out: Vec<&str> = drawing
        .plots
        .iter()
        .filter(|plot| !plot.is_worthwhile())
        .map(|plot| plot.title.as_str())
        .collect();
    Ok(html! {
        h3 id=(format!("{key}-{number}")) { (figure.title) }
        p {
            (figure.caption)
            @if !scaled.is_empty() { " (" (scaled) ".)" }
        }
        @if !figure.published.is_empty() { p { b { "The paper: " } (figure.published) } }
        div.plots { @for plot in &plots { figure { (PreEscaped(plot)) } } }
        @if !left_out.is_empty() { p.note { "Too few figures for a curve: " (left_out.join("; ")) "." } }
        @for table in &drawing.tables {
            h4 { (table.title) }
            table.points {
                tr { @for cell in &table.header { th { (cell) } } }
                @for row in &table.rows { tr { @for cell in row { td { (cell) } } } }
            }
        }
        @if !drawing.behind.is_empty() { p { (drawing.behind) } }
        @if !drawing.remarks.is_empty() {
            ul.note { @for remark in &drawing.remarks { li { (remark) } } }
        }
        p.note { "Data: " (format!("{key}-{number}.json")) ", by: " code { "oshbench figures " (key) " " (number) } }
    })
}
