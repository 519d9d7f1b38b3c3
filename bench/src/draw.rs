//! Runs what a figure needs, and draws it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use oneshmem_plots::plot::Plot;

use crate::curves::{self, Table};
use crate::data::{Data, Figure, Part, Setting};
use crate::implementation::Implementation;
use crate::machine::Watch;
use crate::over::Over;
use crate::read::Reading;
use crate::report::{Place, Point, Report};
use crate::suite::{Job, Suite};
use crate::{claims, instructions};

/// A drawn figure, or a drawn part of one.
#[derive(Default)]
pub struct Drawing {
    /// Its plots.
    pub plots: Vec<Plot>,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Failures and missing things.
    pub remarks: Vec<String>,
    /// Its data.
    pub points: Vec<Point>,
    /// The implementations' names of themselves.
    pub facts: Vec<(String, String)>,
    /// Whether anything of ours failed.
    pub failed: bool,
}

impl Drawing {
    /// That something could not be drawn, and why.
    fn without(why: String) -> Self {
        Self { remarks: vec![why], ..Self::default() }
    }

    fn add(&mut self, part: Self) {
        self.plots.extend(part.plots);
        self.tables.extend(part.tables);
        self.points.extend(part.points);
        let new = part.remarks.into_iter().filter(|remark| !self.remarks.contains(remark));
        self.remarks.extend(new.collect::<Vec<_>>());
        let new = part.facts.into_iter().filter(|fact| !self.facts.contains(fact));
        self.facts.extend(new.collect::<Vec<_>>());
        self.failed |= part.failed;
    }
}

/// Draws a figure, with what its paper says. What fails is said, and the rest is drawn.
pub fn figure(data: &Data, setting: &Setting, figure: &Figure) -> Drawing {
    let mut whole = Drawing::default();
    let watch = Watch::start();
    let failed = |error: anyhow::Error| Drawing {
        failed: true,
        ..Drawing::without(format!("Failed: {error:#}"))
    };
    match figure.impossible(setting) {
        Some(why) => whole.remarks.push(format!("Not here: {why}.")),
        None => {
            for part in &figure.parts {
                whole.add(draw(setting, figure, part).unwrap_or_else(failed));
            }
        }
    }
    if figure.instructions {
        let counted =
            instructions::tables(&setting.implementations, &setting.sources[0], &setting.work);
        let drawn =
            counted.map(|(tables, remarks)| Drawing { tables, remarks, ..Drawing::default() });
        whole.add(drawn.unwrap_or_else(failed));
    }
    let spreads = whole.points.iter().map(Point::spread);
    whole.remarks.push(watch.end(spreads.collect()));
    claims::beside(data, setting, figure, &mut whole.plots, &mut whole.tables);
    // A picture may stand without its page.
    for plot in whole.plots.iter_mut().filter(|_| !setting.scaled().is_empty()) {
        plot.title += &format!(" ({})", setting.scaled());
    }
    whole
}

/// Runs and draws a part of a figure.
fn draw(setting: &Setting, figure: &Figure, part: &Part) -> anyhow::Result<Drawing> {
    if let (Place::Nodes, Some(why)) = (part.place, &setting.no_nodes) {
        return Ok(Drawing::without(format!("Not on two nodes: {why}.")));
    }
    let (who, mut remarks) = who(setting, part)?;
    let report = suite(setting, figure, part, who).run()?;
    remarks.extend(report.remarks.iter().map(ToString::to_string));
    let behind = report.behind(&setting.peers());
    remarks.extend(Some(behind).filter(|behind| !behind.is_empty()));
    Ok(of_report(part, report, remarks, &setting.peers()))
}

/// The drawing of a report.
fn of_report(part: &Part, report: Report, remarks: Vec<String>, peers: &[&str]) -> Drawing {
    let table = Some(curves::beside(&report)).filter(|it| part.table && !it.rows.is_empty());
    Drawing {
        plots: part.panels().map(|panel| panel.plot(&report)).collect(),
        tables: table.into_iter().collect(),
        failed: report.fails(peers),
        points: report.points,
        facts: report.facts,
        remarks,
    }
}

/// The jobs of a part, for these implementations.
fn suite<'a>(
    setting: &'a Setting,
    figure: &Figure,
    part: &'a Part,
    who: Vec<Implementation>,
) -> Suite<'a> {
    let (largest, sizes) = part.sizes(setting);
    let job = |program: &String, pes: usize, (neighbours, suffix): (&str, String)| {
        let mut words = program.split(' ').map(|word| setting.fill(word, figure));
        let name = words.next().unwrap_or_default();
        let mut arguments: Vec<String> = words.collect();
        if part.read == Default::default() && arguments.is_empty() {
            arguments.push(format!("ms={}", setting.fill("{ms}", figure)));
            arguments.extend(sizes.clone());
        }
        arguments.extend(part.arguments.iter().map(|text| setting.fill(text, figure)));
        // Stripes: the size is of a PE's share.
        if let Some(size) =
            arguments.last().and_then(|text| text.strip_suffix("/pes")?.parse::<usize>().ok())
        {
            arguments.pop();
            arguments.push((size / pes).to_string());
        }
        // What programs of others need is not known.
        let least = if part.read == Reading::Columns { 512 } else { 64 };
        let heap = ((largest * pes as u64 * 4) >> 20).next_power_of_two().clamp(least, 1024);
        let neighbours = neighbours.to_owned();
        Job { program: name, pes, arguments, heap, neighbours, suffix }
    };
    let mut jobs = Vec::new();
    for neighbours in part.neighbours(setting) {
        for pes in part.pes(setting) {
            jobs.extend(part.programs.iter().map(|program| job(program, pes, neighbours.clone())));
        }
    }
    Suite { who, jobs, part, setting }
}

/// Who runs a part, and what is missing among them.
fn who(setting: &Setting, part: &Part) -> anyhow::Result<(Vec<Implementation>, Vec<String>)> {
    let mut remarks = Vec::new();
    let own = setting.own();
    let with = |label: &str, environment: &[(&str, &str)]| {
        own.variant(format!("{}, {label}", own.name), environment)
    };
    let attach = |label: &str, how: &str| with(label, &[("SHMEM_ATTACH", how)]);
    let peers = setting.implementations[1..].iter().cloned();
    let kind = part.who.as_deref().unwrap_or("all");
    let mut list = match kind {
        "own" => return Ok((vec![own.clone()], remarks)),
        "demand" => return Ok((vec![attach("on demand", "demand")], remarks)),
        "eager" => return Ok((vec![attach("eager", "eager")], remarks)),
        "all" | "mpi" => vec![own.clone()],
        "inlined" => vec![own.clone(), with("inlined", &[("SHMEM_CC", "cc -DSHMEM_INLINE")])],
        "rust" => vec![own.clone(), own.in_rust(setting.by("release", "release", "dev"))],
        "attach" => vec![attach("on demand", "demand"), attach("eager", "eager")],
        "mappings" => {
            let mut list = vec![with("memfd", &[("SHMEM_BACKEND", "memfd")])];
            if Path::new("/dev/xpmem").exists() {
                list.push(with("XPMEM", &[("SHMEM_BACKEND", "xpmem")]));
            } else {
                let how = "make bench-xpmem measures it in a virtual machine";
                remarks.push(format!("Not here: XPMEM (there is no /dev/xpmem; {how})."));
            }
            match &setting.smartmap {
                Some(smartmap) => list.push(smartmap.clone()),
                None => remarks.push(
                    "Not here: SMARTMAP's addresses (make smartmap builds that library).".into(),
                ),
            }
            list
        }
        "device" | "device-gups" => {
            // Copies of the arrays around communication, or symmetric arrays; around messages.
            let mut forms =
                ["standard", "extended"].map(|it| own.on_device(it, &[it], &[])).to_vec();
            if kind == "device-gups" {
                forms.push(own.on_device("extended, get and put", &["extended"], &["get-put"]));
            }
            match Command::new("mpicxx").arg("--version").output() {
                Ok(_) => forms.push(Implementation::mpi("MPI", "mpicxx,mpiexec")?.on_device(
                    "MPI",
                    &[],
                    &[],
                )),
                Err(_) => remarks.push("Not here: MPI (there is no mpicxx).".into()),
            }
            return Ok((forms, remarks));
        }
        operation => {
            let variable = format!("SHMEM_{}_ALGORITHM", operation.to_uppercase());
            let forced =
                |name: &String| own.variant(name.clone(), &[(variable.as_str(), name.as_str())]);
            let names = algorithms(own, operation)?;
            std::iter::once(with("auto", &[])).chain(names.iter().map(forced)).collect()
        }
    };
    list.extend(peers);
    if kind == "mpi" {
        list.extend(setting.mpis.iter().cloned());
    }
    if part.place == Place::Nodes {
        for who in &mut list {
            who.over = Some(Over::of(who.commands()?)?);
        }
    }
    if let Some(bound) = part.bound {
        for who in &mut list {
            let options = Over::of(who.commands()?)?.binding(bound);
            who.launch.extend(options.map(str::to_owned));
        }
    }
    if part.raw {
        list.push(Implementation::raw());
    }
    Ok((list, remarks))
}

/// The names of an operation's algorithms, as `oshinfo` tells them.
fn algorithms(own: &Implementation, operation: &str) -> anyhow::Result<Vec<String>> {
    let tool = own.commands()?.join("oshinfo");
    let outcome =
        oneshmem_watched::run(Command::new(&tool).arg("--json"), Duration::from_secs(60))?;
    let told: serde_json::Value = serde_json::from_str(&outcome.stdout)
        .with_context(|| format!("{} --json printed no JSON", tool.display()))?;
    let list = told["algorithms"].as_array().context("oshinfo names no algorithms")?;
    let its = list.iter().find(|one| one["operation"] == operation);
    let names = its.and_then(|one| one["all"].as_array());
    let names = names.with_context(|| format!("oshinfo names no algorithms of {operation}"))?;
    let names: Option<Vec<String>> =
        names.iter().map(|name| Some(name.as_str()?.to_owned())).collect();
    names.context("oshinfo names algorithms in another form")
}
