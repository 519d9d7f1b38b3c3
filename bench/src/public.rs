//! `oshbench suite`: public OpenSHMEM benchmarks, as their users fetch them, built with each implementation and run in turns. What they
//! print in two columns, under a heading with a unit, are figures.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use oneshmem_plots::plot::Axis;

use crate::curves::Panel;
use crate::data::{Figure, Known, Part, Pes};
use crate::options::Suite;
use crate::read::Reading;

/// A suite on this machine.
pub struct Public {
    name: String,
    programs: Vec<PathBuf>,
    /// What they are compiled with: options, folders with headers, sources without `main`.
    pub further: Vec<String>,
    /// Each is told to each program.
    arguments: Vec<String>,
}

impl Public {
    /// The suite that the options name: one that is known, in a folder below `here`, or that in the folder of this name. Options of the
    /// compiler are added to its own; arguments replace its own.
    pub fn find(here: &Path, known: &[Known], options: &Suite) -> anyhow::Result<Self> {
        let name = &options.suite;
        let file = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
        let is_it = |known: &&Known| known.name == *name || file.starts_with(&known.begins);
        let found = known.iter().find(is_it);
        let mut folder = here.join(name);
        if let (Some(Known { begins, .. }), false) = (found, folder.is_dir()) {
            let entries = std::fs::read_dir(here);
            let entries = entries.with_context(|| format!("cannot read {}", here.display()))?;
            let begins_so = |path: &PathBuf| path.is_dir() && stem(path).starts_with(begins);
            let below = entries.flatten().map(|entry| entry.path()).find(begins_so);
            folder = below.with_context(|| {
                format!("no folder {begins}* in {}: fetch and unpack it there", here.display())
            })?;
        }
        if !folder.is_dir() {
            let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
            let (names, folder) = (names.join(", "), folder.display());
            bail!("{folder}: no such folder, nor the name of a suite (known are {names})");
        }
        let usual = found.map(|known| known.arguments.clone()).unwrap_or_default();
        let told = options.arguments.join(" ");
        let mut further = found.map(|known| known.flags.clone()).unwrap_or_default();
        further.extend(options.cflag.iter().cloned().chain(["-w".to_owned()]));
        let mut suite = Self {
            name: stem(&folder),
            programs: Vec::new(),
            further,
            arguments: if told.is_empty() && !usual.is_empty() { usual } else { vec![told] },
        };
        let below = found.map(|known| folder.join(&known.below)).filter(|below| below.is_dir());
        suite.look(&below.unwrap_or(folder.clone()), &options.only)?;
        if suite.programs.is_empty() {
            bail!("no OpenSHMEM program in {}", folder.display());
        }
        suite.programs.sort();
        Ok(suite)
    }

    /// Finds what is in a folder.
    fn look(&mut self, folder: &Path, only: &[String]) -> anyhow::Result<()> {
        let entries = std::fs::read_dir(folder)
            .with_context(|| format!("cannot read {}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() && !path.is_symlink() {
                self.look(&path, only)?;
            }
            let ending = path.extension().unwrap_or_default();
            let with_headers = format!("-I{}", folder.display());
            if ending == "h" && !self.further.contains(&with_headers) {
                self.further.push(with_headers);
            }
            if ending != "c" {
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
            let includes = |header: &str| {
                text.lines().any(|line| line.starts_with("#include") && line.contains(header))
            };
            let name = stem(&path);
            // Other suites' programs may lie in the same place.
            if includes("<mpi.h>") || includes("<upc") {
                continue;
            }
            let is_main = |line: &str| {
                let rest = line.trim_start().trim_start_matches("int ").trim_start();
                rest.strip_prefix("main").is_some_and(|rest| rest.trim_start().starts_with('('))
            };
            if !text.lines().any(is_main) {
                self.further.push(path.display().to_string());
            } else if only.is_empty() || only.iter().any(|part| name.contains(part.as_str())) {
                self.programs.push(path);
            }
        }
        Ok(())
    }

    /// The folders of its programs.
    pub fn sources(&self) -> Vec<PathBuf> {
        self.programs.iter().filter_map(|source| source.parent()).map(Path::to_path_buf).collect()
    }

    /// A figure of every program and what it is told, with so many PEs.
    pub fn figures(&self, pes: usize) -> Vec<Figure> {
        let mut figures = Vec::new();
        let told = |source| self.arguments.iter().map(move |words| (source, words));
        for (source, words) in self.programs.iter().flat_map(told) {
            let title = format!("{} {words}", stem(source)).trim_end().to_owned();
            let panel = Panel { title: title.clone(), ..Panel::of(&stem(source), Axis::Bytes) };
            let part = Part {
                programs: vec![title.clone()],
                read: Reading::Columns,
                pes: Pes::One(pes),
                panels: vec![panel],
                table: true,
                ..Part::default()
            };
            figures.push(Figure {
                paper: "suite".into(),
                number: (figures.len() + 1).to_string(),
                caption: format!("{}, {title}, with {pes} PEs; medians over the runs.", self.name),
                title,
                parts: vec![part],
                ..Figure::default()
            });
        }
        figures
    }
}

/// The name of a program.
fn stem(source: &Path) -> String {
    source.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Data;
    use crate::options::{Command, Options};
    use clap::Parser;

    #[test]
    fn what_is_no_suite_is_refused() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let known = Data::read().unwrap().known;
        let error = |name: &str| {
            let options = Options::parse_from(["oshbench", "suite", name, "--own", "a=b"]).command;
            let Command::Suite(options) = options else { panic!("not a suite") };
            Public::find(here, &known, &options)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        };
        assert!(error("src").contains("no OpenSHMEM program in"), "{}", error("src"));
        assert!(error("none").contains("known are osu, shmembench"), "{}", error("none"));
        assert!(error("osu").contains("fetch and unpack it there"), "{}", error("osu"));
    }
}
