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
mod memory;
mod neighbours;
mod nodes;
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
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use oneshmem_plots::{figures, plot, stats};

use crate::apps::Form;
use crate::implementation::Implementation;
use crate::options::Command;
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

/// Runs the suite. As in all commands, the result is whether everything of ours went well.
fn run(options: &options::Run) -> anyhow::Result<bool> {
    let work = options.programs.folder.make()?;
    let extent = options.length.extent();
    let suite = suite::Suite {
        implementations: options.programs.who.list()?,
        extent,
        groups: plan::groups(extent, machine::usable_cpus()?.len()),
        repeats: options.length.repeats(usize::MAX),
        limit: None,
        pins: true,
        only: options.only.clone(),
        sources: options.programs.sources.clone(),
        work: work.clone(),
    };
    let mut report = suite.run()?;
    if extent != Extent::Tiny && suite.only.is_empty() {
        suite.count_instructions(&mut report);
    }
    let prefix = options.out.clone().unwrap_or_else(|| work.join("report"));
    let written = save(&report, &prefix)?;
    if let Some(directory) = &options.plots {
        gallery::write(&report, directory)?;
    }
    let (table, peers) = (table::print(&report, options.all), report.peers().collect::<Vec<_>>());
    let slower = slower::in_report(&report, &peers);
    say(format!("{table}{written}\n{slower}").trim_end())?;
    Ok(!report.fails())
}

fn draw_figures(options: options::Figures) -> anyhow::Result<bool> {
    let script = &options.namespaces.script;
    let no_nodes = over::none_because(script);
    if no_nodes.is_none() {
        over::enter(script)?;
    }
    let implementations = options.programs.who.list()?;
    let smartmap = options.smartmap.is_dir().then(|| {
        let name = format!("{}, SMARTMAP", implementations[0].name);
        Implementation::new(&name, &options.smartmap, Vec::new())
    });
    let setting = papers::Setting {
        implementations,
        smartmap: smartmap.transpose()?,
        extent: options.length.extent(),
        repeats: options.length.repeats(5),
        work: options.programs.folder.make()?,
        sources: options.programs.sources,
        examples: options.examples,
        apps: options.apps,
        cpus: machine::usable_cpus()?,
        pes: options.pes.map(usize::from),
        no_nodes,
    };
    let data = papers::Data::read()?;
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
    let work = options.programs.folder.make()?;
    let mut implementations = options.programs.who.list()?;
    for who in &mut implementations {
        who.over = who.bin.as_deref().map(over::Over::of).transpose()?;
    }
    let extent = options.length.extent();
    let suite = suite::Suite {
        implementations,
        extent,
        groups: nodes::groups(extent),
        repeats: options.length.repeats(usize::MAX),
        limit: Some(options.limit.time()),
        pins: true,
        only: Vec::new(),
        sources: options.programs.sources.clone(),
        work: work.clone(),
    };
    let report = suite.run()?;
    let written = save(&report, &work.join("nodes"))?;
    say(&format!("{}{written}", nodes::print(&report)))?;
    Ok(!report.fails())
}

fn beside_neighbours(options: &options::Neighbours) -> anyhow::Result<bool> {
    let work = options.programs.folder.make()?;
    let implementations = options.programs.who.list()?;
    let extent = options.length.extent();
    let mut taken = Vec::new();
    for situation in neighbours::situations(extent) {
        let suite = suite::Suite {
            implementations: situation.bind(&implementations)?,
            extent,
            groups: neighbours::groups(extent),
            repeats: options.length.repeats(3),
            limit: Some(options.limit.time()),
            pins: false,
            only: Vec::new(),
            sources: options.programs.sources.clone(),
            work: work.clone(),
        };
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

/// Writes a report as `PREFIX.json` and as a page, `PREFIX.html`. Returns what to say about it.
fn save(report: &Report, prefix: &Path) -> anyhow::Result<String> {
    let (json, page) = (prefix.with_extension("json"), prefix.with_extension("html"));
    report.save(&json)?;
    std::fs::write(&page, page::render(report)?)
        .with_context(|| format!("cannot write {}", page.display()))?;
    Ok(format!("Written: {} and {}", json.display(), page.display()))
}
