//! `oshbench`: builds benchmark programs with every given implementation, runs them in turns beside plain shared memory, and draws
//! figures of what they print.

mod claims;
mod curves;
mod data;
mod draw;
mod implementation;
mod instructions;
mod machine;
mod neighbours;
mod options;
mod over;
mod page;
mod public;
mod read;
mod report;
mod suite;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Parser;

use crate::data::{Data, Extent, Figure, Setting, slug};
use crate::implementation::Implementation;
use crate::options::Command;
use crate::report::Place;

/// The folders of sources: the two with programs over MPI first.
const SOURCES: [&str; 5] =
    ["bench/programs", "bench/devices", "examples", "examples/openmp", "array/examples"];
/// A script that makes network namespaces and runs a command among them.
const NAMESPACES: &str = "tests/programs/namespaces.sh";

fn main() -> ExitCode {
    let done = match options::Options::parse().command {
        Command::Run(options) => figures(Some("run"), &options, true),
        Command::Nodes(options) => figures(Some("nodes"), &options, true),
        Command::Neighbours(options) => figures(Some("neighbours"), &options, true),
        Command::Figures { paper, which } => figures(paper.as_deref(), &which, false),
        Command::Suite(options) => public(&options),
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

/// The data that figures are drawn of.
fn setting(programs: &options::Programs, length: &options::Length) -> anyhow::Result<Setting> {
    let extent = match (length.tiny, length.quick) {
        (true, _) => Extent::Tiny,
        (_, true) => Extent::Quick,
        _ => Extent::Full,
    };
    Ok(Setting {
        implementations: programs.implementations()?,
        extent,
        repeats: length.repeats.unwrap_or(extent.by(5, 3, 1)).into(),
        sources: SOURCES.map(PathBuf::from).to_vec(),
        work: programs.work()?,
        cpus: machine::usable_cpus()?,
        limit: Duration::from_secs(length.limit.unwrap_or(extent.by(300, 60, 60))),
        ..Setting::default()
    })
}

/// Draws the figures of this paper or collection, or the one of the number in the options; prints tables, too, if asked to.
fn figures(key: Option<&str>, options: &options::Collection, tables: bool) -> anyhow::Result<bool> {
    let data = Data::read()?;
    let chosen = chosen(&data, key, options.number.as_deref())?;
    let mut parts = chosen.iter().flat_map(|figure| &figure.parts);
    let on_nodes = parts.any(|part| part.place == Place::Nodes);
    let no_nodes = if on_nodes { over::enter(Path::new(NAMESPACES))? } else { None };
    let mut setting = setting(&options.programs, &options.length)?;
    for mpi in &options.mpi {
        setting.mpis.push(Implementation::mpi(&mpi.name, &mpi.rest)?);
    }
    if options.smartmap.is_dir() {
        let name = format!("{}, SMARTMAP", setting.implementations[0].name);
        setting.smartmap = Some(Implementation::shmem(&name, &options.smartmap)?);
    }
    setting.pes = options.pes.map(usize::from);
    setting.no_nodes = no_nodes;
    if options.list {
        say(listed(&data, &setting, &chosen).trim_end())?;
        return Ok(true);
    }
    draw(&data, &setting, &chosen, "figures.html", tables)
}

/// Draws figures, writes and prints each, `tables` too, and then the page. Returns whether nothing of ours failed.
fn draw(
    data: &Data,
    setting: &Setting,
    figures: &[&Figure],
    page: &str,
    tables: bool,
) -> anyhow::Result<bool> {
    let page = setting.work.join(page);
    // A page of an earlier run is not this one's.
    if page.exists() {
        std::fs::remove_file(&page).with_context(|| format!("cannot remove {}", page.display()))?;
    }
    let mut sections = Vec::new();
    for (nth, figure) in figures.iter().enumerate() {
        let name = format!("{} {}, {}", figure.paper, figure.number, figure.title);
        eprintln!("{} of {}: {name}", nth + 1, figures.len());
        let drawing = draw::figure(data, setting, figure);
        say(&format!("{name}: {}", page::write(setting, figure, &drawing)?))?;
        for table in drawing.tables.iter().filter(|_| tables) {
            say(&table.to_string())?;
        }
        drawing.remarks.iter().try_for_each(|remark| say(&format!("  {remark}")))?;
        sections.push((*figure, drawing));
    }
    page::save(&page, &page::render(data, setting, &sections)?)?;
    say(&format!("Written: {}", page.display()))?;
    Ok(!sections.iter().any(|(_, drawing)| drawing.failed))
}

/// The figures that the command line names: paper and number; without them, those of the papers.
fn chosen<'a>(
    data: &'a Data,
    key: Option<&str>,
    number: Option<&str>,
) -> anyhow::Result<Vec<&'a Figure>> {
    let is_of = |figure: &&Figure| match key {
        Some(key) => figure.paper == key,
        None => !data.paper(&figure.paper).ours,
    };
    let of_paper: Vec<&Figure> = data.figures.iter().filter(is_of).collect();
    let is_it = |figure: &&&Figure| {
        number.is_none_or(|number| figure.numbers().any(|its| slug(its) == slug(number)))
    };
    let found: Vec<&Figure> = of_paper.iter().filter(is_it).copied().collect();
    let (key, number) = (key.unwrap_or_default(), number.unwrap_or_default());
    let (what, known): (_, Vec<String>) = match &of_paper[..] {
        [] => (format!("no paper {key}"), data.papers.iter().map(|it| it.key.clone()).collect()),
        all => (
            format!("no figure {number} of {key}"),
            all.iter().map(|it| slug(&it.number)).collect(),
        ),
    };
    if found.is_empty() {
        bail!("there is {what} here: expected one of {}", known.join(", "));
    }
    Ok(found)
}

/// The list of all figures, for readers.
fn listed(data: &Data, setting: &Setting, figures: &[&Figure]) -> String {
    let mut text = String::new();
    for of_paper in figures.chunk_by(|one, next| one.paper == next.paper) {
        let paper = data.paper(&of_paper[0].paper);
        text += &format!("{}: {} ({})\n", paper.key, paper.title, paper.by);
        for figure in of_paper {
            text += &format!("  {} {}  {}", paper.key, slug(&figure.number), figure.title);
            if let Some(why) = figure.impossible(setting) {
                text += &format!(" (not here: {why})");
            }
            text += "\n";
        }
        for what in &paper.absent {
            text += &format!("  not here: {what}\n");
        }
    }
    text
}

fn public(options: &options::Suite) -> anyhow::Result<bool> {
    let data = Data::read()?;
    let mut setting = setting(&options.programs, &options.length)?;
    let suite = public::Public::find(&std::env::current_dir()?, &data.known, options)?;
    setting.sources = suite.sources();
    for who in &mut setting.implementations {
        who.further.clone_from(&suite.further);
    }
    let figures = suite.figures(options.pes.into());
    draw(&data, &setting, &figures.iter().collect::<Vec<_>>(), "suite.html", true)
}

fn instructions(options: &options::Instructions) -> anyhow::Result<bool> {
    let (sources, work) = (Path::new(SOURCES[0]), options.programs.work()?);
    let read = |file: &PathBuf| {
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
    };
    let limits = options.limits.as_ref().map(read).transpose()?;
    let who = options.programs.implementations()?;
    let text = limits.as_deref().unwrap_or(instructions::PUBLISHED);
    let counted = instructions::counted(&who, sources, &work, text)?;
    say(&counted.table.to_string())?;
    let complaints = counted.complaints.iter().filter(|_| limits.is_some());
    for told in counted.left_out.iter().chain(complaints.clone()) {
        eprintln!("oshbench: {told}");
    }
    Ok(complaints.count() == 0)
}

/// Prints a line. A reader who stops reading is not an error.
fn say(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
