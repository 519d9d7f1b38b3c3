//! Arrays that OpenMP maps to its device: communication of them in the standard form, through host
//! memory, beside the extended one, in which they are symmetric.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use comfy_table::{CellAlignment, Table, presets};
use oneshmem_plots::plot::{Axis, Curve, Ink, Mark, Plot, Shade};
use oneshmem_plots::{Unit, figures, stats};

use crate::execute;
use crate::implementation::Implementation;

const FORMS: [&str; 2] = ["standard", "extended"];
const OFFLOADING: [&str; 2] = ["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"];
const PATIENCE: Duration = Duration::from_secs(120);

/// The programs of `examples/openmp`, with sizes for two numbers of PEs a program: sources, a
/// size, and one that takes next to no time.
const PROGRAMS: [(&str, &str, &str); 4] = [
    ("random_access", "16384", "500"),
    ("fft2d", "512", "16"),
    ("ring_product", "128", "8"),
    ("heat3d", "96", "8"),
];

/// What to measure.
pub struct Devices {
    /// The implementation.
    pub own: Implementation,
    /// Where `latency.cc` is.
    pub sources: PathBuf,
    /// Where the programs are.
    pub examples: PathBuf,
    /// Where to build, and to leave plots.
    pub work: PathBuf,
    /// How many times to run everything.
    pub repeats: usize,
    /// Next to nothing of everything.
    pub tiny: bool,
}

/// By quantity, size and form: the figures of the runs.
type Figures = BTreeMap<(String, u64), [Vec<f64>; 2]>;

impl Devices {
    /// Measures; returns the tables, and where plots are.
    pub fn run(&self) -> anyhow::Result<String> {
        let latency = self.build(&self.sources.join("latency.cc"))?;
        let programs = PROGRAMS
            .iter()
            .map(|(name, ..)| self.build(&self.examples.join(format!("{name}.cc"))))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let most = if self.tiny { "64" } else { "67108864" };
        let (mut latencies, mut times) = (Figures::new(), Figures::new());
        for _ in 0..self.repeats {
            for (form, name) in FORMS.iter().enumerate() {
                for line in self.job(&latency, 2, &[name, most])?.lines() {
                    let (what, size, figure) = point(line, name)?;
                    latencies.entry((what, size)).or_default()[form].push(figure);
                }
            }
            for (program, (name, usual, little)) in programs.iter().zip(PROGRAMS) {
                for pes in [1, 2, 4] {
                    // What all PEs do together stays the same, but for tables a PE.
                    let size = if self.tiny { little.into() } else { sized(name, usual, pes)? };
                    for (form, word) in FORMS.iter().enumerate() {
                        let said = self.job(program, pes, &[word, &size])?;
                        let seconds = seconds(&said)?;
                        let key = (name.to_owned(), pes as u64);
                        times.entry(key).or_default()[form].push(seconds * 1e9);
                    }
                }
            }
        }
        let mut text = format!(
            "OpenMP's device is the host's processor. Medians of {} runs; ratio: standard / extended.\n",
            self.repeats
        );
        text += &format!("Latency between 2 PEs\n{}\n", table("bytes", &latencies));
        text += &format!(
            "Programs on 1, 2 and 4 PEs; a table, or the whole work, of the same size\n{}\n",
            table("PEs", &times)
        );
        for (name, title) in [("put", "Put with signal"), ("alltoall", "All-to-all")] {
            let plot = plot(&latencies, name, title);
            if plot.is_worthwhile() {
                let path = self.work.join(format!("devices-{name}.svg"));
                std::fs::write(&path, plot.svg()?)
                    .with_context(|| format!("cannot write {}", path.display()))?;
                text += &format!("Written: {}\n", path.display());
            }
        }
        Ok(text)
    }

    fn bin(&self) -> anyhow::Result<&Path> {
        self.own.bin.as_deref().context("no directory of commands")
    }

    fn build(&self, source: &Path) -> anyhow::Result<PathBuf> {
        let program = self.work.join(source.file_stem().context("a source")?);
        let mut compiler = Command::new(self.bin()?.join("oshc++"));
        if std::env::var_os("SHMEM_CXX").is_none() {
            compiler.env("SHMEM_CXX", "clang++");
        }
        compiler.args(OFFLOADING).args(["-O2", "-o"]).arg(&program).arg(source);
        let outcome = execute::run(&mut compiler, &self.work, PATIENCE)?;
        if !outcome.success() {
            bail!(
                "cannot build {} ({}); it needs a clang with its OpenMP, SHMEM_CXX says which one",
                source.display(),
                outcome.reason()
            );
        }
        Ok(program)
    }

    fn job(&self, program: &Path, pes: usize, arguments: &[&str]) -> anyhow::Result<String> {
        let mut oshrun = Command::new(self.bin()?.join("oshrun"));
        oshrun.arg("-n").arg(pes.to_string()).arg(program).args(arguments);
        // One thread a PE: what is compared is the communication.
        oshrun.env("OMP_NUM_THREADS", "1");
        let outcome = execute::run(&mut oshrun, &self.work, PATIENCE)?;
        if !outcome.success() {
            bail!("{} {arguments:?} with {pes} PEs {}", program.display(), outcome.reason());
        }
        Ok(outcome.stdout)
    }
}

/// A stripe of the matrices is what the argument says; the other sizes are of the whole.
fn sized(name: &str, size: &str, pes: usize) -> anyhow::Result<String> {
    let size: usize = size.parse()?;
    Ok(if name == "ring_product" { size / pes } else { size }.to_string())
}

/// Quantity, size and figure of a line of `latency.cc`.
fn point(line: &str, form: &str) -> anyhow::Result<(String, u64, f64)> {
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["POINT", what, said, bytes, figure] if said == form => {
            Ok((what.into(), bytes.parse()?, figure.parse()?))
        }
        _ => bail!("not a point: {line}"),
    }
}

/// The time in a program's report, which says that the result is right.
fn seconds(said: &str) -> anyhow::Result<f64> {
    let time = said.split_once(": ").and_then(|(_, rest)| rest.split_once(" s, "));
    match time.filter(|_| said.trim_end().ends_with("verified")) {
        Some((time, _)) => Ok(time.parse()?),
        None => bail!("not verified: {said}"),
    }
}

fn table(size: &str, figures: &Figures) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(["", size, FORMS[0], FORMS[1], "ratio"]);
    for ((what, size), forms) in figures {
        let [standard, extended] = forms.each_ref().map(|runs| stats::median(runs));
        table.add_row([
            what.clone(),
            size.to_string(),
            figures::figure(standard, Unit::Nanoseconds),
            figures::figure(extended, Unit::Nanoseconds),
            format!("{:.2}", standard / extended),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn plot(figures: &Figures, name: &str, title: &str) -> Plot {
    let curve = |(form, label): (usize, &&str)| {
        let points =
            figures.iter().filter(|((what, _), _)| what == name).map(|((_, size), runs)| Mark {
                x: *size as f64,
                y: stats::median(&runs[form]),
                bar: None,
            });
        Curve { label: (*label).into(), ink: Ink::Nth(form, Shade::Full), points: points.collect() }
    };
    Plot {
        title: format!("{title} of mapped arrays"),
        x: Axis::Bytes,
        unit: Unit::Nanoseconds,
        curves: FORMS.iter().enumerate().map(curve).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say() {
        let said =
            "FFT 2-D extended, size 128, 2 PEs: 0.014365 s, 7.984e+07 operations/s, verified\n";
        assert_eq!(seconds(said).ok(), Some(0.014365));
        assert!(seconds("heat, 2 PEs: 0.5 s, 7 points/s, wrong").is_err());
        assert!(seconds("heat, 2 PEs, verified").is_err());
        let (what, size, figure) = point("POINT put extended 8 12.5", "extended").expect("a point");
        assert_eq!((what.as_str(), size, figure), ("put", 8, 12.5));
        assert!(point("POINT put standard 8 12.5", "extended").is_err());
    }
}
