//! `oshtune`: measures all algorithms of all collectives on this machine and writes which
//! one is to run when, for the library to pick up.
//!
//! It starts jobs of itself (`oshtune pe ...`, see [`pe`]), whose PE 0 prints samples; from
//! those of all jobs it makes [`choice`]s, a file of rules and a picture.

mod choice;
mod jobs;
mod options;
mod pe;
mod picture;
mod plan;
mod results;
mod table;

use anyhow::{Context, bail};
use oneshmem::collectives::tuning;
use oneshmem::job::launch;
use oneshmem::job::launcher::Launcher;
use options::{Options, Wanted};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match options::read() {
        Wanted::Pe(part) => pe::run(&part),
        Wanted::Tune(options) => tune(&options),
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
        bail!("started by a launcher ({}); it starts its jobs itself", launcher.name());
    }
    let file = match &options.output {
        Some(path) => path.clone(),
        None => tuning::path().context(
            "no place for the file: neither SHMEM_TUNING nor HOME is set; say --output PATH",
        )?,
    };
    let pes = match &options.pes[..] {
        [] => plan::numbers_of_pes()?,
        given => given.to_vec(),
    };
    // What cannot be written is better known before the measuring than after it.
    if !options.dry_run {
        prepare(&file)?;
    }
    let results = jobs::measure(&pes, options.time)?;
    let choices = choice::choose(&results, &pes);
    print!("{}", table::print(&choices, &results));
    if options.dry_run {
        println!("Nothing is written: --dry-run.");
        return Ok(());
    }
    let rules: Vec<_> = choices.iter().flat_map(choice::Choice::rules).collect();
    let picture = options.plot.clone().unwrap_or_else(|| file.with_extension("svg"));
    replace(&file, &tuning::write(&rules))?;
    replace(&picture, &picture::draw(&results, &pes)?)?;
    println!("Written: {} and {}", file.display(), picture.display());
    if tuning::path().as_deref() != Some(&file) {
        println!("Jobs use it where SHMEM_TUNING={} is set.", file.display());
    }
    Ok(())
}

/// Makes the file's folder, and sees whether it can be written.
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

/// The name under which a file is written before it is the file.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    name.into()
}

/// Writes a file such that whoever reads it, whenever, finds all of the old one or all of
/// the new one.
fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    let new = beside(file);
    std::fs::write(&new, text)
        .and_then(|()| std::fs::rename(&new, file))
        .inspect_err(|_| _ = std::fs::remove_file(&new))
        .with_context(|| format!("cannot write {}", file.display()))
}
