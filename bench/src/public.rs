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
        let mut folder = here.join(&options.suite);
        let is_it = |it: &&Known| it.name == options.suite || stem(&folder).starts_with(&it.begins);
        let found = known.iter().find(is_it);
        let (mut further, mut arguments) = (Vec::new(), vec![options.arguments.join(" ")]);
        if let Some(known) = found {
            if !folder.is_dir() {
                let is_it = |path: &PathBuf| path.is_dir() && stem(path).starts_with(&known.begins);
                folder = entries(here)?.into_iter().find(is_it).with_context(|| {
                    format!(
                        "no folder {}* in {}: fetch and unpack it there",
                        known.begins,
                        here.display()
                    )
                })?;
            }
            further.clone_from(&known.flags);
            if options.arguments.is_empty() {
                arguments.clone_from(&known.arguments);
            }
        }
        further.extend(options.cflag.iter().cloned().chain(["-w".to_owned()]));
        let mut suite = Self { name: stem(&folder), programs: Vec::new(), further, arguments };
        let below = found.map(|known| folder.join(&known.below)).filter(|below| below.is_dir());
        suite.look(below.as_deref().unwrap_or(&folder), &options.only).with_context(|| {
            let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
            format!("no suite {} (known are {})", options.suite, names.join(", "))
        })?;
        if suite.programs.is_empty() {
            bail!("no OpenSHMEM program in {}", folder.display());
        }
        suite.programs.sort();
        Ok(suite)
    }

    /// Finds what is in a folder.
    fn look(&mut self, folder: &Path, only: &[String]) -> anyhow::Result<()> {
        for path in entries(folder)? {
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
            // Other suites' programs may lie in the same place.
            let is_of_others = |line: &str| {
                line.starts_with("#include") && (line.contains("<mpi.h>") || line.contains("<upc"))
            };
            let is_main = |line: &str| {
                let rest = line.trim_start().trim_start_matches("int ").trim_start();
                rest.strip_prefix("main").is_some_and(|rest| rest.trim_start().starts_with('('))
            };
            if text.lines().any(is_of_others) {
                continue;
            }
            let name = stem(&path);
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
        let told = |source| self.arguments.iter().map(move |words| (source, words));
        let all = self.programs.iter().flat_map(told).zip(1..);
        let figure = |((source, words), number): ((&PathBuf, &String), usize)| {
            let title = format!("{} {words}", stem(source)).trim_end().to_owned();
            let part = Part {
                programs: vec![title.clone()],
                read: Reading::Columns,
                pes: Pes::These(vec![pes]),
                panels: vec![Panel {
                    title: title.clone(),
                    ..Panel::of(&stem(source), Axis::Bytes)
                }],
                table: true,
                ..Part::default()
            };
            Figure {
                paper: "suite".into(),
                number: number.to_string(),
                caption: format!("{}, {title}, with {pes} PEs; medians over the runs.", self.name),
                title,
                parts: vec![part],
                ..Figure::default()
            }
        };
        all.map(figure).collect()
    }
}

/// What is in a folder.
fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let found = std::fs::read_dir(folder);
    let found = found.with_context(|| format!("cannot read {}", folder.display()))?;
    Ok(found.flatten().map(|entry| entry.path()).collect())
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
            let error = Public::find(here, &known, &options).err();
            error.map(|error| error.to_string()).unwrap_or_default()
        };
        assert!(error("src").contains("no OpenSHMEM program in"), "{}", error("src"));
        assert!(error("none").contains("known are osu, shmembench"), "{}", error("none"));
        assert!(error("osu").contains("fetch and unpack it there"), "{}", error("osu"));
    }
}
