//! `oshbench suite`: public OpenSHMEM benchmarks, as their users fetch them, built with each implementation and run in turns. What they
//! print in two columns, under a heading with a unit, are figures.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use oneshmem_plots::plot::Axis;

use crate::curves::{self, Panel};
use crate::data::{Figure, Place, Setting};
use crate::draw::{Drawing, Placed};
use crate::implementation::Implementation;
use crate::machine::Watch;
use crate::report::{Key, Point, Report, Run, Unit};

/// A suite that is known by name.
struct Known {
    name: &'static str,
    /// How the folder's name begins in which it lies.
    begins: &'static str,
    /// Where its OpenSHMEM programs are in there.
    below: &'static str,
    flags: &'static [&'static str],
    /// The arguments of its programs: a figure each.
    arguments: &'static [&'static str],
}

const KNOWN: [Known; 2] = [
    Known {
        name: "osu",
        begins: "osu-micro-benchmarks",
        below: "openshmem",
        flags: &["-DFIELD_WIDTH=20", "-DFLOAT_PRECISION=2"],
        arguments: &["heap"],
    },
    Known {
        name: "shmembench",
        begins: "shmembench",
        below: "src",
        flags: &["-DUSE_15"],
        arguments: &[
            "--bench shmem_put --benchtype latency --max 1048576 --ntimes 1000",
            "--bench shmem_get --benchtype latency --max 1048576 --ntimes 1000",
            "--bench shmem_put_nbi --benchtype bw --max 1048576 --ntimes 1000",
            "--bench shmem_get_nbi --benchtype bw --max 1048576 --ntimes 1000",
            "--bench shmem_alltoall --benchtype latency --max 1048576 --ntimes 100",
            "--bench shmem_broadcast --benchtype latency --max 1048576 --ntimes 100",
            "--bench shmem_fcollect --benchtype latency --max 1048576 --ntimes 100",
        ],
    },
];
/// How long a build may take.
const BUILDING: Duration = Duration::from_secs(300);

/// A suite on this machine.
pub struct Public {
    name: String,
    /// The folders with headers, and the sources without `main`.
    headers: Vec<PathBuf>,
    library: Vec<PathBuf>,
    programs: Vec<PathBuf>,
    flags: Vec<String>,
    arguments: Vec<String>,
}

impl Public {
    /// The suite of this name, in a folder below `here`; or that in the folder of this name. `flags` and `arguments` are the user's own,
    /// for the compiler and for every program; only programs whose names contain one of `only`, if there are any.
    pub fn find(
        here: &Path,
        name: &str,
        flags: &[String],
        arguments: &[String],
        only: &[String],
    ) -> anyhow::Result<Self> {
        let file = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
        let is_it = |known: &&Known| known.name == name || file.starts_with(known.begins);
        let known = KNOWN.iter().find(is_it);
        let mut folder = here.join(name);
        if let (Some(Known { begins, .. }), false) = (known, folder.is_dir()) {
            let entries = std::fs::read_dir(here);
            let entries = entries.with_context(|| format!("cannot read {}", here.display()))?;
            let begins_so = |path: &PathBuf| path.is_dir() && stem(path).starts_with(begins);
            let found = entries.flatten().map(|entry| entry.path()).find(begins_so);
            folder = found.with_context(|| {
                format!("no folder {begins}* in {}: fetch and unpack it there", here.display())
            })?;
        }
        if !folder.is_dir() {
            let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
            let (names, folder) = (names.join(", "), folder.display());
            bail!("{folder}: no such folder, nor the name of a suite (known are {names})");
        }
        let strings = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let mut all_flags: Vec<String> = strings(known.map_or(&[], |known| known.flags));
        all_flags.extend(flags.iter().cloned());
        let mut suite = Self {
            name: stem(&folder),
            headers: Vec::new(),
            library: Vec::new(),
            programs: Vec::new(),
            flags: all_flags,
            arguments: strings(known.map_or(&[], |known| known.arguments)),
        };
        if !arguments.is_empty() {
            suite.arguments = vec![arguments.join(" ")];
        }
        let below = known.map(|known| folder.join(known.below)).filter(|below| below.is_dir());
        suite.look(&below.unwrap_or(folder.clone()), only)?;
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
            if ending == "h" && !self.headers.iter().any(|known| known == folder) {
                self.headers.push(folder.into());
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
            let has_main = text.lines().any(|line| {
                let rest = line.trim_start().trim_start_matches("int ").trim_start();
                rest.strip_prefix("main").is_some_and(|rest| rest.trim_start().starts_with('('))
            });
            match has_main {
                true if only.is_empty() || only.iter().any(|part| name.contains(part.as_str())) => {
                    self.programs.push(path)
                }
                true => {}
                false => self.library.push(path),
            }
        }
        Ok(())
    }

    /// A figure of every program and what it is told, with so many PEs.
    pub fn figures(&self, pes: usize) -> Vec<Figure> {
        let none = [String::new()];
        let runs = if self.arguments.is_empty() { &none[..] } else { &self.arguments };
        let each =
            self.programs.iter().flat_map(|source| runs.iter().map(move |words| (source, words)));
        let figure = |(nth, (source, words)): (usize, (&PathBuf, &String))| {
            let title = format!("{} {words}", stem(source)).trim_end().to_owned();
            Figure {
                paper: "suite".into(),
                number: (nth + 1).to_string(),
                caption: format!("{}, {title}, with {pes} PEs; medians over the runs.", self.name),
                title,
                scale: [pes; 3],
                ..Figure::default()
            }
        };
        each.enumerate().map(figure).collect()
    }

    /// Builds and runs a program with every implementation, in turns, and draws it.
    pub fn draw(&self, setting: &Setting, figure: &Figure) -> anyhow::Result<Drawing> {
        let (title, pes) = (&figure.title, figure.scale[0]);
        let (name, words) = title.split_once(' ').unwrap_or((title, ""));
        let source = self.programs.iter().find(|source| stem(source) == name);
        let source = source.with_context(|| format!("no program {name}"))?;
        eprintln!("{title}");
        let watch = Watch::start();
        let mut report = Report::default();
        let mut who: Vec<(&Implementation, PathBuf)> = Vec::new();
        for implementation in &setting.implementations {
            match self.build(setting, implementation, source, name) {
                Ok(program) => who.push((implementation, program)),
                Err(error) => {
                    report.remark(&implementation.name, true, format!("{name}: {error:#}"))
                }
            }
        }
        report.names = who.iter().map(|(who, _)| who.name.clone()).collect();
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        for turn in 0..setting.repeats {
            for (who, program) in &who {
                let outcome =
                    oneshmem_watched::run(&mut who.job(pes, program, &words, 512), setting.limit)?;
                let columns = columns(&outcome.stdout);
                if !outcome.success() {
                    report.remark(&who.name, true, format!("{title}: {}", outcome.reason()));
                } else if columns.is_empty() {
                    let what = "no two columns under a heading with a known unit";
                    report.remark(&who.name, false, format!("{title}: {what}"));
                }
                for (size, unit, value) in columns {
                    let key = Key { name: title.clone(), size, pes };
                    report.add(&who.name, key, unit, Run::one(turn, value));
                }
            }
        }
        let mut remarks: Vec<String> = report.remarks.iter().map(ToString::to_string).collect();
        remarks.push(watch.end(report.points.iter().map(Point::spread).collect()));
        let placed = |point: &Point| Placed { place: Place::Node, point: point.clone() };
        Ok(Drawing {
            plots: vec![Panel::of(title, Axis::Bytes).plot(&report)],
            tables: (!report.points.is_empty())
                .then(|| curves::beside(&report))
                .into_iter()
                .collect(),
            remarks,
            failed: report.fails(&setting.peers()),
            points: report.points.iter().map(placed).collect(),
            ..Drawing::default()
        })
    }

    fn build(
        &self,
        setting: &Setting,
        who: &Implementation,
        source: &Path,
        name: &str,
    ) -> anyhow::Result<PathBuf> {
        let folder = setting.work.join(&who.folder).join("suite");
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let program = folder.join(name);
        let mut command = Command::new(who.commands()?.join("oshcc"));
        command.args(["-O2", "-std=gnu11", "-w", "-D_GNU_SOURCE"]).args(&self.flags);
        for header in &self.headers {
            command.arg("-I").arg(header);
        }
        command.arg(source).args(&self.library).arg("-o").arg(&program).arg("-lm");
        let outcome = oneshmem_watched::run(&mut command, BUILDING)?;
        if !outcome.success() {
            bail!("does not build: {}", outcome.reason());
        }
        Ok(program)
    }
}

/// The name of a program.
fn stem(source: &Path) -> String {
    source.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The first two columns of numbers: a size, and a figure in the unit that the last heading before it has first.
fn columns(text: &str) -> Vec<(u64, Unit, f64)> {
    let mut unit = None;
    let mut found = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let numbers = words
            .next()
            .and_then(|size| Some((size.parse().ok()?, words.next()?.parse::<f64>().ok()?)));
        match (numbers, unit) {
            (Some((size, value)), Some((unit, factor))) if value > 0.0 => {
                found.push((size, unit, value * factor))
            }
            (Some(_), _) => {}
            (None, _) => unit = heading(line).or(unit),
        }
    }
    found
}

/// The unit that stands first in a heading, and the factor to it.
fn heading(line: &str) -> Option<(Unit, f64)> {
    let units = [
        ("(us)", Unit::Nanoseconds, 1e3),
        ("(ns)", Unit::Nanoseconds, 1.0),
        ("MB/s", Unit::MegaBytes, 1.0),
        ("(Messages/s)", Unit::MegaOperations, 1e-6),
        ("(Million ops/s)", Unit::MegaOperations, 1.0),
    ];
    let places =
        units.iter().filter_map(|(word, unit, factor)| Some((line.find(word)?, *unit, *factor)));
    places.min_by_key(|(place, ..)| *place).map(|(_, unit, factor)| (unit, factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_columns_under_a_heading() {
        let text = "# Put Test\n1 2\n# Size  Latency (us)\n1  0.5 9\n64  2.00\n64 0.00\n\nMessage Size     Avg MB/s  (us)\n128 7\n";
        let ns = Unit::Nanoseconds;
        assert_eq!(columns(text), [(1, ns, 500.0), (64, ns, 2000.0), (128, Unit::MegaBytes, 7.0)]);
        assert!(columns("4 5\n").is_empty() && heading("# Messages/s").is_none());
    }

    #[test]
    fn what_is_no_suite_is_refused() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let error = |name: &str| {
            Public::find(here, name, &[], &[], &[])
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        };
        assert!(error("src").contains("no OpenSHMEM program in"), "{}", error("src"));
        assert!(error("none").contains("known are osu, shmembench"), "{}", error("none"));
        assert!(error("osu").contains("fetch and unpack it there"), "{}", error("osu"));
    }
}
