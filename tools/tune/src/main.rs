//! `oshtune`: measures all algorithms of all collectives on this machine, and all methods of copying,
//! and writes a file that tells the library which one to use when.
//!
//! It starts jobs of itself (`oshtune pe ...`, see [`pe`] and [`copies_pe`]), whose PE 0 prints
//! samples. From the samples of all jobs it makes [`choice`]s, a file of rules and a picture.

mod choice;
mod copies;
mod copies_pe;
mod jobs;
mod meeting;
mod options;
mod pe;
mod picture;
mod plan;
mod results;
mod table;

use anyhow::{Context, bail};
use onenode_core::copy;
use oneshmem::internals::collectives::select::rules::Rules;
use oneshmem::internals::collectives::tuning;
use oneshmem::internals::pe::launcher::Launcher;
use oneshmem::internals::start::launch;
use options::{Options, Task};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The part of the time in which copies are measured.
const COPIES_SHARE: f64 = 0.1;

fn main() -> ExitCode {
    let done = match options::read() {
        Task::Pe(part) => pe::run(&part),
        Task::Copies(seconds) => copies_pe::run(seconds),
        Task::Tune(options) => tune(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oshtune: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn tune(options: &Options) -> anyhow::Result<()> {
    let launcher = launch::detect();
    if launcher != Launcher::Nobody {
        bail!(
            "it must not be run by a launcher ({}), because it starts its jobs itself",
            launcher.name()
        );
    }
    let file = match &options.output {
        Some(path) => path.clone(),
        None => tuning::path().context(
            "no file to write: neither SHMEM_TUNING nor HOME is set; give --output FILE",
        )?,
    };
    let hosts = options.hosts.as_ref();
    let pes = match (&options.pes[..], hosts) {
        ([], None) => plan::numbers_of_pes()?,
        ([], Some(hosts)) => plan::numbers_over_hosts(hosts.names.len())?,
        (given, hosts) => {
            let least = hosts.map_or(1, |hosts| hosts.names.len());
            if let Some(few) = given.iter().find(|pes| **pes < least) {
                bail!("--pes {few} is fewer than there are hosts, {least}");
            }
            given.to_vec()
        }
    };
    // Find out before measuring, not after, that the file cannot be written.
    if !options.dry_run {
        prepare(&file)?;
    }
    // Copies are the same in jobs over hosts.
    let with_copies = hosts.is_none();
    let time = if with_copies { options.time * COPIES_SHARE } else { 0.0 };
    let results = jobs::measure(&pes, options.time - time, hosts)?;
    let choices = choice::choose(&results, &pes);
    print!("{}", table::print(&choices, &results));
    let samples = with_copies.then(|| jobs::measure_copies(time)).transpose()?;
    let copies = samples.map(|samples| samples.choose(copy::built_in()));
    if let Some(copies) = &copies {
        print!("{}", copies::print(copies));
    }
    if options.dry_run {
        println!("Nothing was written (--dry-run).");
        return Ok(());
    }
    let measured = choices.iter().flat_map(choice::Choice::rules).collect();
    let kept = kept(&file);
    let (rules, extension) = match hosts {
        None => (Rules { on_a_node: measured, copies, ..kept }, "svg"),
        Some(_) => (Rules { over_nodes: measured, ..kept }, "nodes.svg"),
    };
    let picture = options.plot.clone().unwrap_or_else(|| file.with_extension(extension));
    replace(&file, &tuning::write(&rules))?;
    replace(&picture, &picture::draw(&results, &pes)?)?;
    println!("Written: {} and {}", file.display(), picture.display());
    if tuning::path().as_deref() != Some(&file) {
        println!("Jobs use it if SHMEM_TUNING={} is set.", file.display());
    }
    Ok(())
}

/// The rules that the file has already: those that are not measured stay.
fn kept(file: &Path) -> Rules {
    match tuning::read(file) {
        Ok(rules) => rules,
        Err(_) if !file.exists() => Rules::default(),
        Err(why) => {
            println!("The rules in {} are not kept: {why}", file.display());
            Rules::default()
        }
    }
}

/// Creates the file's folder, and checks that the file can be written.
fn prepare(file: &Path) -> anyhow::Result<()> {
    if file.is_dir() {
        bail!("{} is a folder, not a file", file.display());
    }
    if let Some(folder) = folder(file) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let new = beside(file);
    std::fs::write(&new, "").with_context(|| format!("cannot write {}", new.display()))?;
    std::fs::remove_file(&new).with_context(|| format!("cannot remove {}", new.display()))
}

fn folder(file: &Path) -> Option<&Path> {
    file.parent().filter(|folder| !folder.as_os_str().is_empty())
}

/// The temporary name under which a file is written.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    name.into()
}

/// Replaces a file atomically: a reader finds either all of the old file or all of the new one.
fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    let new = beside(file);
    std::fs::write(&new, text)
        .and_then(|()| std::fs::rename(&new, file))
        .inspect_err(|_| _ = std::fs::remove_file(&new))
        .with_context(|| format!("cannot write {}", file.display()))
}
