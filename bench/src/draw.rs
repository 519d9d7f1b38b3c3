//! Runs what a figure needs, and draws it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use oneshmem_plots::plot::Plot;

use crate::curves::{self, Table};
use crate::data::{Data, Figure, Part, Setting};
use crate::implementation::Implementation;
use crate::over::Over;
use crate::read::Reading;
use crate::report::{Place, Point, spreads};
use crate::suite::{Job, Suite};
use crate::{claims, instructions, machine};

/// The compiler of programs into which operations are compiled.
const INLINING: &str = "cc -DSHMEM_INLINE";

/// A drawn figure, or a drawn part of one.
#[derive(Default)]
pub struct Drawing {
    pub plots: Vec<Plot>,
    pub tables: Vec<Table>,
    /// Failures and missing things.
    pub remarks: Vec<String>,
    pub points: Vec<Point>,
    /// Whether anything of ours failed.
    pub failed: bool,
}

impl Drawing {
    fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    fn fail(&mut self, error: &anyhow::Error) {
        self.failed = true;
        self.remark(format!("Failed: {error:#}"));
    }
}

/// Draws a figure, with what its paper says. What fails is said, and the rest is drawn.
pub fn figure(data: &Data, setting: &Setting, figure: &Figure) -> Drawing {
    let mut whole = Drawing::default();
    let load = machine::load();
    match figure.impossible(setting) {
        Some(why) => whole.remark(format!("Not here: {why}.")),
        None => {
            for part in &figure.parts {
                draw(setting, figure, part, &mut whole).unwrap_or_else(|error| whole.fail(&error));
            }
        }
    }
    if figure.instructions {
        count(setting, &mut whole).unwrap_or_else(|error| whole.fail(&error));
    }
    let (after, spreads) = (machine::load(), spreads(&whole.points));
    whole.remark(format!("Load before: {load}, after: {after}; spread of the runs: {spreads}."));
    claims::beside(data, setting, figure, &mut whole.plots, &mut whole.tables);
    // A picture may stand without its page.
    for plot in whole.plots.iter_mut().filter(|_| !setting.scaled().is_empty()) {
        plot.title += &format!(" ({})", setting.scaled());
    }
    whole
}

/// Runs and draws a part of a figure.
fn draw(setting: &Setting, figure: &Figure, part: &Part, into: &mut Drawing) -> anyhow::Result<()> {
    if let (Place::Nodes, Some(why)) = (part.place, &setting.no_nodes) {
        into.remark(format!("Not on two nodes: {why}."));
        return Ok(());
    }
    let (who, missing) = who(setting, part)?;
    missing.into_iter().for_each(|remark| into.remark(remark));
    let report = Suite { who, jobs: jobs(setting, figure, part), part, setting }.run()?;
    report.remarks.iter().for_each(|(.., remark)| into.remark(remark.clone()));
    into.plots.extend(part.panels().map(|panel| panel.plot(&report)));
    let table = curves::beside(&report);
    into.tables.extend(Some(table).filter(|it| part.table && !it.rows.is_empty()));
    into.failed |= report.fails(&setting.peers());
    into.points.extend(report.points);
    Ok(())
}

/// Counts instructions, of our own calls compiled in, too.
fn count(setting: &Setting, into: &mut Drawing) -> anyhow::Result<()> {
    if let Err(error) = Command::new("valgrind").arg("--version").output() {
        into.remark(format!("Not here: valgrind, which counts instructions ({error})."));
        return Ok(());
    }
    let mut who = setting.implementations.clone();
    who.insert(1, with(setting.own(), "inlined", "SHMEM_CC", INLINING));
    let (sources, work) = (&setting.sources[0], &setting.work);
    let counted = instructions::counted(&who, sources, work, instructions::PUBLISHED)?;
    counted.left_out.into_iter().for_each(|remark| into.remark(remark));
    into.tables.push(counted.table);
    Ok(())
}

/// The jobs of a part.
fn jobs(setting: &Setting, figure: &Figure, part: &Part) -> Vec<Job> {
    let sizes = part.sizes(setting);
    let job = |program: &String, pes: usize, (neighbours, suffix): (&str, String)| {
        let mut words = program.split(' ').map(|word| setting.fill(word, figure));
        let name = words.next().unwrap_or_default();
        let mut arguments: Vec<String> = words.collect();
        if part.read == Reading::Lines && arguments.is_empty() {
            arguments.push(setting.fill("ms={ms}", figure));
            arguments.push(format!("sizes={}", machine::listed(&sizes)));
        }
        arguments.extend(part.arguments.iter().map(|text| setting.fill(text, figure)));
        // Stripes: the size is of a PE's share.
        for text in &mut arguments {
            if let Some(size) = text.strip_suffix("/pes").and_then(|it| it.parse::<usize>().ok()) {
                *text = (size / pes).to_string();
            }
        }
        // What programs of others need is not known.
        let least = if part.read == Reading::Columns { 512 } else { 64 };
        let largest = sizes.last().copied().unwrap_or_default();
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
    jobs
}

/// A variant of our own with this in its environment.
fn with(own: &Implementation, label: &str, variable: &str, value: &str) -> Implementation {
    own.variant(format!("{}, {label}", own.name), &[(variable, value)])
}

/// Who runs a part, and what is missing among them.
fn who(setting: &Setting, part: &Part) -> anyhow::Result<(Vec<Implementation>, Vec<String>)> {
    let mut remarks = Vec::new();
    let own = setting.own();
    let attach = |label: &str, how: &str| with(own, label, "SHMEM_ATTACH", how);
    let kind = part.who.as_deref().unwrap_or("all");
    let mut list = match kind {
        "own" | "all" | "mpi" => vec![own.clone()],
        "demand" => vec![attach("on demand", "demand")],
        "eager" => vec![attach("eager", "eager")],
        "inlined" => vec![own.clone(), with(own, "inlined", "SHMEM_CC", INLINING)],
        "rust" => vec![own.clone(), own.in_rust(setting.extent.by("release", "release", "dev"))],
        "attach" => vec![attach("on demand", "demand"), attach("eager", "eager")],
        "mappings" => {
            let mut list = vec![with(own, "memfd", "SHMEM_BACKEND", "memfd")];
            if Path::new("/dev/xpmem").exists() {
                list.push(with(own, "XPMEM", "SHMEM_BACKEND", "xpmem"));
            } else {
                remarks.push("Not here: XPMEM (there is no /dev/xpmem).".into());
            }
            if setting.smartmap.is_none() {
                let how = "make smartmap builds that library";
                remarks.push(format!("Not here: SMARTMAP's addresses ({how})."));
            }
            list.extend(setting.smartmap.clone());
            list
        }
        "device" | "device-gups" => {
            // Copies of the arrays around communication, or symmetric arrays; around messages.
            let mut forms =
                ["standard", "extended"].map(|it| own.on_device(it, &[it], &[])).to_vec();
            if kind == "device-gups" {
                forms.push(own.on_device("extended, get and put", &["extended"], &["get-put"]));
            }
            if Command::new("mpicxx").arg("--version").output().is_ok() {
                let mpi = Implementation::mpi("MPI", "mpicxx,mpiexec")?;
                forms.push(mpi.on_device("MPI", &[], &[]));
            } else {
                remarks.push("Not here: MPI (there is no mpicxx).".into());
            }
            forms
        }
        operation => {
            let variable = format!("SHMEM_{}_ALGORITHM", operation.to_uppercase());
            let mut names = algorithms(own, operation)?;
            if part.place == Place::Nodes {
                names.truncate(setting.extent.by(usize::MAX, usize::MAX, 1));
            }
            let forced = names.iter().map(|name| own.variant(name.clone(), &[(&variable, name)]));
            let auto = own.variant(format!("{}, auto", own.name), &[]);
            std::iter::once(auto).chain(forced).collect()
        }
    };
    if !["own", "demand", "eager", "device", "device-gups"].contains(&kind) {
        list.extend(setting.implementations[1..].iter().cloned());
    }
    if kind == "mpi" {
        list.extend(setting.mpis.iter().cloned());
    }
    for who in &mut list {
        if part.place == Place::Nodes {
            who.over = Some(Over::of(who.commands()?)?);
        }
        if let Some(bound) = part.bound {
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
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let of_it = list(&told["algorithms"]).into_iter().filter(|one| one["operation"] == operation);
    let names = of_it.flat_map(|one| list(&one["all"]));
    let names: Vec<String> = names.filter_map(|name| Some(name.as_str()?.to_owned())).collect();
    if names.is_empty() {
        bail!("oshinfo names no algorithms of {operation}");
    }
    Ok(names)
}
