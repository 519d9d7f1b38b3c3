//! `oshbench`: builds the benchmark programs with every given implementation, runs them repeatedly
//! alongside plain shared memory, and reports.

mod apps;
mod curves;
mod execute;
mod gallery;
mod implementation;
mod instructions;
mod limits;
mod lines;
mod machine;
mod neighbours;
mod noise;
mod options;
mod over;
mod page;
mod papers;
mod plan;
mod progress;
mod ratios;
mod report;
mod slower;
mod suite;
mod table;
mod whole_job;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use oneshmem_plots::{figures, plot, stats};

use crate::apps::Form;
use crate::implementation::Implementation;
use crate::options::Command;
use crate::papers::{Data, Figure, Setting};
use crate::plan::Extent;
use crate::report::Report;

fn main() -> ExitCode {
    let done = match options::Options::parse().command {
        Command::Run(options) => run(&options),
        Command::Figures(options) => draw_figures(options),
        Command::Apps(options) => apps(&options),
        Command::Nodes(options) => over_nodes(&options),
        Command::Neighbours(options) => beside_neighbours(&options),
        Command::Instructions(options) => instructions(&options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("oshbench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What figures and the suite are made of.
fn setting(
    programs: &options::Programs,
    length: &options::Length,
    most: usize,
) -> anyhow::Result<Setting> {
    Ok(Setting {
        implementations: programs.who.list()?,
        smartmap: None,
        extent: length.extent(),
        repeats: length.repeats(most),
        sources: programs.sources.clone(),
        examples: PathBuf::new(),
        apps: PathBuf::new(),
        work: programs.folder.make()?,
        cpus: machine::usable_cpus()?,
        pes: None,
        no_nodes: None,
    })
}

/// Runs the suite. As in all commands, the result is whether everything of ours went well.
fn run(options: &options::Run) -> anyhow::Result<bool> {
    let setting = setting(&options.programs, &options.length, usize::MAX)?;
    let data = Data::read()?;
    let suite = suite::Suite { only: options.only.clone(), ..setting.set(&data, "run") };
    let mut report = suite.run()?;
    if setting.extent != Extent::Tiny && suite.only.is_empty() {
        suite.count_instructions(&mut report);
    }
    let prefix = options.out.clone().unwrap_or_else(|| setting.work.join("report"));
    if let Some(directory) = &options.plots {
        gallery::write(&report, data.set("run"), directory)?;
    }
    tell(&report, data.set("run"), &prefix, options.all)
}

/// Writes a report and prints it.
fn tell<'a>(
    report: &Report,
    figures: impl Iterator<Item = &'a Figure>,
    prefix: &Path,
    all: bool,
) -> anyhow::Result<bool> {
    let (json, page) = (prefix.with_extension("json"), prefix.with_extension("html"));
    report.save(&json)?;
    std::fs::write(&page, page::render(report, figures)?)
        .with_context(|| format!("cannot write {}", page.display()))?;
    let table = table::print(report, all);
    let slower = slower::in_report(report, &report.peers().collect::<Vec<_>>());
    let written = format!("Written: {} and {}", json.display(), page.display());
    say(format!("{table}{written}\n{slower}").trim_end())?;
    Ok(!report.fails())
}

fn draw_figures(options: options::Figures) -> anyhow::Result<bool> {
    let script = &options.namespaces.script;
    let no_nodes = over::none_because(script);
    if no_nodes.is_none() {
        over::enter(script)?;
    }
    let mut setting = setting(&options.programs, &options.length, 5)?;
    let smartmap = options.smartmap.is_dir().then(|| {
        let name = format!("{}, SMARTMAP", setting.implementations[0].name);
        Implementation::new(&name, &options.smartmap, Vec::new())
    });
    setting.smartmap = smartmap.transpose()?;
    setting.examples = options.examples;
    setting.apps = options.apps;
    setting.pes = options.pes.map(usize::from);
    setting.no_nodes = no_nodes;
    let data = Data::read()?;
    let chosen = papers::chosen(&data, options.paper.as_deref(), options.number.as_deref())?;
    if options.list {
        say(papers::listed(&data, &setting, &chosen).trim_end())?;
        return Ok(true);
    }
    let (text, fails) = papers::draw(&data, &setting, &chosen)?;
    say(&text)?;
    Ok(!fails)
}

fn apps(options: &options::Apps) -> anyhow::Result<bool> {
    let mut forms: Vec<Form> = options.who.list()?.into_iter().map(Form::Shmem).collect();
    for mpi in &options.mpi {
        forms.push(Form::mpi(&mpi.name, &mpi.rest)?);
    }
    if options.mpi.is_empty() {
        forms.push(Form::mpi("MPI", "mpicc,mpiexec")?);
    }
    forms.push(Form::OpenMp);
    let apps = apps::Apps {
        forms,
        examples: options.examples.clone(),
        sources: options.sources.clone(),
        work: options.folder.make()?,
        repeats: options.length.repeats(5),
        tiny: options.length.extent() == Extent::Tiny,
    };
    say(apps.run()?.trim_end())?;
    Ok(true)
}

fn over_nodes(options: &options::Nodes) -> anyhow::Result<bool> {
    over::enter(&options.namespaces.script)?;
    let mut setting = setting(&options.programs, &options.length, usize::MAX)?;
    setting.implementations = setting.over_nodes(setting.implementations.clone())?;
    let data = Data::read()?;
    let limit = Some(options.limit.time());
    let report = suite::Suite { limit, ..setting.set(&data, "nodes") }.run()?;
    tell(&report, data.set("nodes"), &setting.work.join("nodes"), true)
}

fn beside_neighbours(options: &options::Neighbours) -> anyhow::Result<bool> {
    let setting = setting(&options.programs, &options.length, 3)?;
    let data = Data::read()?;
    let limit = Some(options.limit.time());
    let mut taken = Vec::new();
    for situation in neighbours::situations(setting.extent) {
        let implementations = situation.bind(&setting.implementations)?;
        let all = setting.set(&data, "neighbours");
        let suite = suite::Suite { implementations, limit, pins: false, ..all };
        taken.push((situation, situation.beside(|| suite.run())?));
    }
    say(neighbours::print(&taken).trim_end())?;
    Ok(!taken.iter().any(|(_, report)| report.fails()))
}

fn instructions(options: &options::Instructions) -> anyhow::Result<bool> {
    let work = options.programs.folder.make()?;
    let mut columns = Vec::new();
    for who in options.programs.who.list()? {
        match instructions::count(&who, &options.programs.sources, &work) {
            Ok(counts) => columns.push((who.name, counts)),
            // A peer may be left out, but our own figures are essential.
            Err(error) if !columns.is_empty() => eprintln!("oshbench: left out: {error:#}"),
            Err(error) => return Err(error),
        }
    }
    let limits = match &options.limits {
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .with_context(|| format!("cannot read {}", file.display()))?;
            instructions::limits(&text)?
        }
        None => Vec::new(),
    };
    let (rows, complaints) = instructions::judge(&columns, &limits);
    say(&table::of_rows(&rows).to_string())?;
    let complaints = if options.limits.is_some() { complaints } else { Vec::new() };
    for complaint in &complaints {
        eprintln!("oshbench: {complaint}");
    }
    Ok(complaints.is_empty())
}

/// Prints a line. A reader who stops reading is not an error.
fn say(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
