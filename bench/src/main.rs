//! `oshbench`: builds the benchmark programs with every given implementation, runs them repeatedly
//! alongside plain shared memory, and reports.

mod apps;
mod curves;
mod diff;
mod distance;
mod execute;
mod gallery;
mod goals;
mod implementation;
mod instructions;
mod limits;
mod lines;
mod machine;
mod memory;
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
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::ArgMatches;
use oneshmem_plots::{figures, plot, stats};

use crate::apps::Form;
use crate::implementation::Implementation;
use crate::plan::Extent;
use crate::report::{RemarkKind, Report};

fn main() -> ExitCode {
    let matches = options::command().get_matches();
    let done = match matches.subcommand() {
        Some(("run", matches)) => run(matches),
        Some(("figures", matches)) => draw_figures(matches),
        Some(("apps", matches)) => apps(matches),
        Some(("nodes", matches)) => over_nodes(matches),
        Some(("instructions", matches)) => instructions(matches),
        Some(("diff", matches)) => compare(matches),
        _ => Ok(ExitCode::FAILURE),
    };
    done.unwrap_or_else(|error| {
        eprintln!("oshbench: {error:#}");
        ExitCode::FAILURE
    })
}

fn path<'a>(matches: &'a ArgMatches, name: &str) -> anyhow::Result<&'a PathBuf> {
    matches.get_one::<PathBuf>(name).with_context(|| format!("no {name}"))
}

/// The implementations on the command line, our own first.
fn implementations(matches: &ArgMatches) -> anyhow::Result<Vec<Implementation>> {
    let mut launch = options::pairs(matches, "peer-args")?;
    let mut list: Vec<Implementation> = Vec::new();
    for (name, bin) in
        options::pairs(matches, "own")?.into_iter().chain(options::pairs(matches, "peer")?)
    {
        if list.iter().any(|known| known.name == name) {
            bail!("two implementations are called {name}");
        }
        let own: Vec<String> = launch
            .iter()
            .filter(|(whose, _)| *whose == name)
            .flat_map(|(_, arguments)| arguments.split_whitespace().map(str::to_owned))
            .collect();
        launch.retain(|(whose, _)| *whose != name);
        list.push(Implementation::new(&name, Path::new(&bin), own)?);
    }
    if let Some((whose, _)) = launch.first() {
        bail!("--peer-args {whose}=...: there is no implementation of this name");
    }
    Ok(list)
}

/// The folder for builds, as an absolute path: jobs may start in another folder.
fn work(matches: &ArgMatches) -> anyhow::Result<PathBuf> {
    let work = path(matches, "work")?;
    std::fs::create_dir_all(work).with_context(|| format!("cannot make {}", work.display()))?;
    Ok(std::fs::canonicalize(work)?)
}

fn run(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let work = work(matches)?;
    let extent = extent(matches);
    let suite = suite::Suite {
        implementations: implementations(matches)?,
        extent,
        groups: plan::groups(extent, machine::usable_cpus()?.len()),
        repeats: matches.get_one("repeats").copied(),
        limit: None,
        only: matches.get_many::<String>("only").unwrap_or_default().cloned().collect(),
        sources: path(matches, "sources")?.clone(),
        work: work.clone(),
    };
    let mut report = suite.run()?;
    if extent != Extent::Tiny && suite.only.is_empty() {
        suite.count_instructions(&mut report);
    }
    let prefix = matches.get_one::<PathBuf>("out").cloned().unwrap_or_else(|| work.join("report"));
    let (json, page) = (prefix.with_extension("json"), prefix.with_extension("html"));
    report.save(&json)?;
    write_page(&report, &page)?;
    if let Some(directory) = matches.get_one::<PathBuf>("plots") {
        gallery::write(&report, directory)?;
    }
    say(&format!(
        "{}Written: {} and {}\n{}",
        table::print(&report, matches.get_flag("all")),
        json.display(),
        page.display(),
        goals::verdict(&goals::standings(&report))
    ))?;
    // Failures of peers are in the report. Only those of our own implementation and the raw
    // programs make this command fail.
    let peers: Vec<&str> = report.peers().collect();
    let ours = |implementation: &str| !peers.contains(&implementation);
    let bad = report
        .remarks
        .iter()
        .any(|remark| remark.kind != RemarkKind::Skipped && ours(&remark.implementation));
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn draw_figures(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let script = path(matches, "script")?;
    let no_nodes = over::none_because(script);
    if no_nodes.is_none() {
        over::enter(script)?;
    }
    let implementations = implementations(matches)?;
    let smartmap = path(matches, "smartmap")?;
    let smartmap = smartmap.is_dir().then(|| {
        let name = format!("{}, SMARTMAP", implementations[0].name);
        Implementation::new(&name, smartmap, Vec::new())
    });
    let setting = papers::Setting {
        implementations,
        smartmap: smartmap.transpose()?,
        extent: extent(matches),
        repeats: matches.get_one("repeats").copied(),
        sources: path(matches, "sources")?.clone(),
        examples: path(matches, "examples")?.clone(),
        apps: path(matches, "apps")?.clone(),
        work: work(matches)?,
        cpus: machine::usable_cpus()?,
        no_nodes,
    };
    let paper = matches.get_one::<String>("PAPER").map(String::as_str);
    let chosen = papers::chosen(&setting, paper, matches.get_one("N").copied())?;
    if matches.get_flag("list") {
        say(papers::listed(&chosen).trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    let (text, fails) = papers::draw(&setting, chosen)?;
    say(&text)?;
    Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// How much to run, by `--quick` and `--tiny`.
fn extent(matches: &ArgMatches) -> Extent {
    match (matches.get_flag("tiny"), matches.get_flag("quick")) {
        (true, _) => Extent::Tiny,
        (_, true) => Extent::Quick,
        _ => Extent::Full,
    }
}

fn apps(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let mut forms: Vec<Form> = implementations(matches)?.into_iter().map(Form::Shmem).collect();
    if matches.contains_id("mpi") {
        for (name, commands) in options::pairs(matches, "mpi")? {
            forms.push(Form::mpi(&name, &commands)?);
        }
    } else {
        forms.push(Form::mpi("MPI", "mpicc,mpiexec")?);
    }
    forms.push(Form::OpenMp);
    let apps = apps::Apps {
        forms,
        examples: path(matches, "examples")?.clone(),
        sources: path(matches, "sources")?.clone(),
        work: work(matches)?,
        repeats: matches.get_one("repeats").copied().unwrap_or(5).max(1),
        tiny: matches.get_flag("tiny"),
    };
    say(apps.run()?.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

fn over_nodes(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    over::enter(path(matches, "script")?)?;
    let work = work(matches)?;
    let mut implementations = implementations(matches)?;
    for who in &mut implementations {
        who.over = who.bin.as_deref().map(over::Over::of).transpose()?;
    }
    let extent = if matches.get_flag("tiny") { Extent::Tiny } else { Extent::Full };
    let suite = suite::Suite {
        implementations,
        extent,
        groups: nodes::groups(extent),
        repeats: matches.get_one("repeats").copied(),
        limit: matches.get_one("limit").copied().map(Duration::from_secs),
        only: Vec::new(),
        sources: path(matches, "sources")?.clone(),
        work: work.clone(),
    };
    let report = suite.run()?;
    let json = work.join("nodes.json");
    report.save(&json)?;
    let page = json.with_extension("html");
    write_page(&report, &page)?;
    let table = nodes::print(&report);
    say(&format!("{table}Written: {} and {}", json.display(), page.display()))?;
    Ok(if report.fails() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Prints a line. A reader who stops reading is not an error.
fn say(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn write_page(report: &Report, path: &Path) -> anyhow::Result<()> {
    std::fs::write(path, page::render(report)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

fn compare(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let (before, after) =
        (Report::load(path(matches, "BEFORE")?)?, Report::load(path(matches, "AFTER")?)?);
    say(diff::describe(&before, &after).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

fn instructions(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let work = work(matches)?;
    let sources = path(matches, "sources")?;
    let mut columns = Vec::new();
    for who in implementations(matches)? {
        match instructions::count(&who, sources, &work) {
            Ok(counts) => columns.push((who.name, counts)),
            // A peer may be left out, but our own figures are essential.
            Err(error) if !columns.is_empty() => eprintln!("oshbench: left out: {error:#}"),
            Err(error) => return Err(error),
        }
    }
    let limits = match matches.get_one::<PathBuf>("limits") {
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .with_context(|| format!("cannot read {}", file.display()))?;
            instructions::limits(&text)?
        }
        None => Vec::new(),
    };
    let (table, complaints) = instructions::judge(&columns, &limits);
    say(&table.to_string())?;
    if !matches.contains_id("limits") || complaints.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for complaint in complaints {
        eprintln!("oshbench: {complaint}");
    }
    Ok(ExitCode::FAILURE)
}
