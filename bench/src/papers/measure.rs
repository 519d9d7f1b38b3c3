//! Runs a program of the suite for a figure, and draws its quantities.

use std::path::Path;

use anyhow::Context;
use oneshmem_plots::figures;

use super::data::{Part, Place};
use super::{Drawing, Figure, Placed, Setting, Table};
use crate::curves::Panel;
use crate::implementation::Implementation;
use crate::plan::{Comparison, Experiment};
use crate::plot::Axis;
use crate::report::{RemarkKind, Report};
use crate::slower;

/// Runs and draws a part of a figure.
pub fn part(setting: &Setting, figure: &Figure, part: &Part) -> anyhow::Result<Drawing> {
    if let (Place::Nodes, Some(why)) = (part.place, &setting.no_nodes) {
        return Ok(Drawing::without(format!("Not on two nodes: {why}.")));
    }
    let (who, mut remarks) = who(setting, &part.who)?;
    let who = if part.place == Place::Nodes { setting.over_nodes(who)? } else { who };
    let report = setting.suite(who, vec![experiments(setting, figure, part)]).run()?;
    // A forced algorithm that is not for all sizes ends the job at the first that is too long.
    remarks.extend(report.remarks.iter().map(|remark| match remark.kind {
        RemarkKind::Failed if remark.what.contains("which SHMEM_") => {
            format!("Not at all sizes: {}", remark.about())
        }
        _ => remark.to_string(),
    }));
    let behind = slower::in_report(&report, &setting.peers());
    remarks.extend(Some(behind.trim_end().to_owned()).filter(|behind| !behind.is_empty()));
    Ok(Drawing {
        plots: part.panels().map(|panel| panel.plot(&report)).collect(),
        tables: part.table.first().map(|_| table_of(&report, part)).into_iter().collect(),
        remarks,
        failed: report.fails(),
        points: report
            .points
            .into_iter()
            .map(|point| Placed { place: part.place, point })
            .collect(),
    })
}

/// Who runs a part, and what is missing among them.
fn who(setting: &Setting, who: &str) -> anyhow::Result<(Vec<Implementation>, Vec<String>)> {
    let mut remarks = Vec::new();
    let mut list = match who {
        "all" => vec![setting.own().clone()],
        "attach" => vec![
            setting.own_with("on demand", &[("SHMEM_ATTACH", "demand")]),
            setting.own_with("eager", &[("SHMEM_ATTACH", "eager")]),
        ],
        "mappings" => {
            let mut list = vec![setting.own_with("memfd", &[("SHMEM_BACKEND", "memfd")])];
            if Path::new("/dev/xpmem").exists() {
                list.push(setting.own_with("XPMEM", &[("SHMEM_BACKEND", "xpmem")]));
            } else {
                let how = "make bench-xpmem measures it in a virtual machine";
                remarks.push(format!("Not here: XPMEM (there is no /dev/xpmem; {how})."));
            }
            match &setting.smartmap {
                Some(smartmap) => list.push(smartmap.clone()),
                None => {
                    remarks.push(
                        "Not here: SMARTMAP's addresses (make smartmap builds that library)."
                            .into(),
                    );
                }
            }
            list
        }
        operation => {
            let variable = format!("SHMEM_{}_ALGORITHM", operation.to_uppercase());
            let names = algorithms(setting.own(), operation)?;
            let forced = |name: &String| {
                setting.own().variant(name.clone(), &[(variable.as_str(), name.as_str())])
            };
            let auto = setting.own_with("auto", &[]);
            std::iter::once(auto).chain(names.iter().map(forced)).collect()
        }
    };
    list.extend(setting.implementations[1..].iter().cloned());
    Ok((list, remarks))
}

/// The names of an operation's algorithms, as `oshinfo` tells them.
fn algorithms(own: &Implementation, operation: &str) -> anyhow::Result<Vec<String>> {
    let tool = own.commands()?.join("oshinfo");
    let output = std::process::Command::new(&tool).arg("--json").output();
    let output = output.with_context(|| format!("cannot run {}", tool.display()))?;
    let told: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{} --json printed no JSON", tool.display()))?;
    let list = told["algorithms"].as_array().context("oshinfo names no algorithms")?;
    let its = list.iter().find(|one| one["operation"] == operation);
    let names = its.and_then(|one| one["all"].as_array());
    let names = names.with_context(|| format!("oshinfo names no algorithms of {operation}"))?;
    let names: Option<Vec<String>> =
        names.iter().map(|name| Some(name.as_str()?.to_owned())).collect();
    names.context("oshinfo names algorithms in another form")
}

/// The programs to run: for each number of PEs, the raw one first.
pub fn experiments(setting: &Setting, figure: &Figure, part: &Part) -> Comparison {
    let (largest, sizes) = part.sizes(setting);
    let told = part.arguments.iter().map(|text| setting.fill(text, figure));
    let arguments: Vec<String> =
        std::iter::once(format!("ms={}", setting.extent.ms())).chain(sizes).chain(told).collect();
    let job = |program: &str, raw, pes: usize| Experiment {
        program: program.to_owned(),
        raw,
        pes,
        arguments: arguments.clone(),
        heap: ((largest * pes as u64 * 4) >> 20).next_power_of_two().clamp(64, 1024),
        whole_job: part.whole_job,
    };
    let each = |pes| {
        let raw = part.raw.iter().map(move |raw| job(raw, true, pes));
        raw.chain(std::iter::once(job(&part.program, false, pes)))
    };
    part.pes(setting).into_iter().flat_map(each).collect()
}

/// The table of a part: quantities by implementation.
fn table_of(report: &Report, part: &Part) -> Table {
    let who = || report.implementations.iter().map(|who| who.name.clone());
    let row = |name: &String| {
        let of = |who: String| {
            let point = report.points_of(&who).find(|point| point.name == *name);
            let panel = Panel { statistic: part.statistic, ..Panel::of(name, "", Axis::Pes) };
            point.map_or(String::new(), |point| figures::figure(panel.mark(point).y, point.unit))
        };
        std::iter::once(name.clone()).chain(who().map(of)).collect()
    };
    Table {
        title: part.program.clone(),
        header: std::iter::once(String::new()).chain(who()).collect(),
        rows: part.table.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::papers::Data;

    #[test]
    fn figures_are_of_programs_that_there_are() {
        let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/programs");
        let data = Data::read().unwrap();
        let suite = data.set("run").chain(data.set("nodes"));
        for part in data.figures.iter().chain(suite).flat_map(|figure| &figure.parts) {
            let raw = part.raw.iter().map(|raw| format!("raw/{raw}"));
            for program in raw.chain([part.program.clone()]) {
                let source = format!("{programs}/{program}.c");
                assert!(std::path::Path::new(&source).is_file(), "{source}");
            }
        }
    }
}
