//! Measures what a figure shows, and writes it: plots as SVG, points and tables as CSV, all as JSON.

use anyhow::Context;
use serde::Serialize;

use super::{Drawing, Setting, Table, scaled};
use crate::curves::Panel;
use crate::implementation::Implementation;
use crate::plan::Comparison;
use crate::report::{Point, Remark, RemarkKind};
use crate::slower;
use crate::suite::Suite;

/// Runs programs of the suite and draws their figures. Also returns whether our own or the raw
/// programs failed.
pub fn measure(
    setting: &Setting,
    who: &[Implementation],
    groups: &[Comparison],
    panels: &[Panel],
) -> anyhow::Result<(Drawing, bool)> {
    let suite = Suite {
        implementations: who.to_vec(),
        extent: setting.extent,
        repeats: setting.repeats,
        limit: None,
        pins: true,
        groups: groups.to_vec(),
        only: Vec::new(),
        sources: setting.sources.clone(),
        work: setting.work.clone(),
    };
    let report = suite.run()?;
    let peers: Vec<&str> =
        setting.implementations[1..].iter().map(|who| who.name.as_str()).collect();
    // A forced algorithm that is not for all sizes ends the job at the first that is too long.
    let remark = |remark: &Remark| match remark.kind {
        RemarkKind::Failed if remark.what.contains("which SHMEM_") => {
            format!("Not at all sizes: {}", remark.about())
        }
        _ => remark.to_string(),
    };
    let mut remarks: Vec<String> = report.remarks.iter().map(remark).collect();
    remarks.push(crate::table::quietness(&report));
    let drawing = Drawing {
        plots: panels.iter().map(|panel| panel.plot(&report)).collect(),
        tables: Vec::new(),
        remarks,
        behind: slower::in_report(&report, &peers),
        points: report.points.clone(),
    };
    Ok((drawing, report.fails()))
}

#[derive(Serialize)]
struct Data<'a> {
    paper: &'a str,
    figure: usize,
    scaled: &'a str,
    points: &'a [Point],
    tables: &'a [Table],
    remarks: &'a [String],
}

/// Writes a figure's files. Returns what they are called.
pub fn write(
    setting: &Setting,
    paper: &str,
    number: usize,
    drawing: &Drawing,
) -> anyhow::Result<String> {
    let name = format!("{paper}-{number}");
    let mut written = Vec::new();
    let mut save = |file: String, text: String| {
        let path = setting.work.join(&file);
        written.push(file);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    for (plot, letter) in drawing.plots.iter().zip('a'..).filter(|(plot, _)| plot.is_worthwhile()) {
        save(format!("{name}{letter}.svg"), plot.svg()?)?;
    }
    for (table, letter) in drawing.tables.iter().zip('a'..) {
        save(format!("{name}{letter}.csv"), table.csv())?;
    }
    if !drawing.points.is_empty() {
        save(format!("{name}.csv"), csv_of(&drawing.points))?;
    }
    let data = Data {
        paper,
        figure: number,
        scaled: scaled(setting.extent),
        points: &drawing.points,
        tables: &drawing.tables,
        remarks: &drawing.remarks,
    };
    save(format!("{name}.json"), serde_json::to_string_pretty(&data)? + "\n")?;
    Ok(written.join(", "))
}

/// A field of CSV (RFC 4180).
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn row(fields: impl IntoIterator<Item = String>) -> String {
    fields.into_iter().map(|text| field(&text)).collect::<Vec<_>>().join(",") + "\n"
}

fn csv_of(points: &[Point]) -> String {
    let header = "implementation,quantity,size,pes,unit,median,min,mean,max,runs\n";
    let line = |point: &Point| {
        let (min, mean, max) = point.within();
        let unit = serde_json::to_string(&point.unit).unwrap_or_default();
        let figures = [point.value(), min, mean, max].map(|figure| figure.to_string());
        let names = [point.implementation.clone(), point.name.clone()];
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
