//! Communication of arrays that OpenMP maps to its device: in the standard form, through host
//! memory, and in the extended form, in which the arrays are symmetric.

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

/// The programs of `examples/openmp`: source, usual size, and a size for a very short run.
const PROGRAMS: [(&str, &str, &str); 4] = [
    ("random_access", "16384", "500"),
    ("fft2d", "512", "16"),
    ("ring_product", "128", "8"),
    ("heat3d", "96", "8"),
];

/// The program whose work is counted per PE.
const UPDATES: &str = "random_access";

/// The measurement to make.
pub struct Devices {
    /// The implementation.
    pub own: Implementation,
    /// The folder of `latency.cc`.
    pub sources: PathBuf,
    /// The folder of the programs.
    pub examples: PathBuf,
    /// Where to build, and to write plots.
    pub work: PathBuf,
    /// How many times to run everything.
    pub repeats: usize,
    /// Whether to use very short runs.
    pub tiny: bool,
}

/// The figures of all runs, by quantity, size and form.
type Figures = BTreeMap<(String, u64), [Vec<f64>; 2]>;

impl Devices {
    /// Measures. Returns the tables, and where the plots are.
    pub fn run(&self) -> anyhow::Result<String> {
        let latency = self.build(&self.sources.join("latency.cc"))?;
        let programs = PROGRAMS
            .iter()
            .map(|(name, ..)| self.build(&self.examples.join(format!("{name}.cc"))))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let most = if self.tiny { "64" } else { "67108864" };
        let (mut latencies, mut times, mut rates) =
            (Figures::new(), Figures::new(), Figures::new());
        for _ in 0..self.repeats {
            for (form, name) in FORMS.iter().enumerate() {
                for line in self.job(&latency, 2, &[name, most])?.lines() {
                    let (what, size, figure) = point(line, name)?;
                    latencies.entry((what, size)).or_default()[form].push(figure);
                }
            }
            for (program, (name, usual, little)) in programs.iter().zip(PROGRAMS) {
                for pes in [1, 2, 4] {
                    // The total work is the same for any number of PEs, except that tables have a
                    // fixed size per PE.
                    let size = if self.tiny { little.into() } else { sized(name, usual, pes)? };
                    for (form, word) in FORMS.iter().enumerate() {
                        let said = self.job(program, pes, &[word, &size])?;
                        let (seconds, rate) = told(&said)?;
                        let key = (name.to_owned(), pes as u64);
                        // Its work grows with the number of PEs. That of the others does not.
                        let (figures, figure) = match name == UPDATES {
                            true => (&mut rates, rate / 1e6),
                            false => (&mut times, seconds * 1e9),
                        };
                        figures.entry(key).or_default()[form].push(figure);
                    }
                }
            }
        }
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let mut text = format!(
            "OpenMP's device is the host's processor, whose {cpus} CPUs all PEs share; no figure \
             is one of another device.\nMedians of {} runs.\n\n",
            self.repeats
        );
        text += "Latency between 2 PEs; ratio: standard / extended\n";
        text += &format!("{}\n\n", table("bytes", &latencies, Unit::Nanoseconds));
        text += "Updates a second of all PEs, tables of the same size on each; ratio: extended / standard\n";
        text += &format!("{}\n\n", table("PEs", &rates, Unit::MegaOperations));
        text += "Times of the same work on more PEs, with the parallel efficiency: the time of one PE by \
                 that of all\nPEs together. With more PEs than CPUs it cannot be 1. Ratio: standard / extended\n";
        text += &format!("{}\n", scaling(&times));
        let over_pes = PROGRAMS.map(|(name, ..)| (name, name, Axis::Pes));
        let over_bytes =
            [("put", "Put with signal", Axis::Bytes), ("alltoall", "All-to-all", Axis::Bytes)];
        for (name, title, x) in over_bytes.into_iter().chain(over_pes) {
            let (figures, unit) = match (x, name == UPDATES) {
                (Axis::Bytes, _) => (&latencies, Unit::Nanoseconds),
                (_, true) => (&rates, Unit::MegaOperations),
                (_, false) => (&times, Unit::Nanoseconds),
            };
            let plot = plot(figures, name, title, x, unit);
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
        // One thread per PE, since communication is what is compared.
        oshrun.env("OMP_NUM_THREADS", "1");
        let outcome = execute::run(&mut oshrun, &self.work, PATIENCE)?;
        if !outcome.success() {
            bail!("{} {arguments:?} with {pes} PEs {}", program.display(), outcome.reason());
        }
        Ok(outcome.stdout)
    }
}

/// The argument is the size of one stripe of the matrices; other sizes are of the whole.
fn sized(name: &str, size: &str, pes: usize) -> anyhow::Result<String> {
    let size: usize = size.parse()?;
    Ok(if name == "ring_product" { size / pes } else { size }.to_string())
}

/// The quantity, size and figure in a line of `latency.cc`.
fn point(line: &str, form: &str) -> anyhow::Result<(String, u64, f64)> {
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["POINT", what, said, bytes, figure] if said == form => {
            Ok((what.into(), bytes.parse()?, figure.parse()?))
        }
        _ => bail!("not a point: {line}"),
    }
}

/// The time and the work per second in a program's report, which also says that the result is
/// correct.
fn told(said: &str) -> anyhow::Result<(f64, f64)> {
    let figures = said.trim_end().strip_suffix("/s, verified").and_then(|said| {
        let (time, rate) = said.split_once(": ")?.1.split_once(" s, ")?;
        Some((time.parse().ok()?, rate.split(' ').next()?.parse().ok()?))
    });
    figures.with_context(|| format!("not verified: {said}"))
}

/// A table without borders, with numbers aligned right.
fn plain(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn table(size: &str, figures: &Figures, unit: Unit) -> Table {
    let mut table = plain(&["", size, FORMS[0], FORMS[1], "ratio"]);
    for ((what, size), forms) in figures {
        let [standard, extended] = forms.each_ref().map(|runs| stats::median(runs));
        let better = match unit {
            Unit::Nanoseconds | Unit::Packets | Unit::Times => standard / extended,
            Unit::MegaOperations | Unit::MegaBytes => extended / standard,
        };
        table.add_row([
            what.clone(),
            size.to_string(),
            figures::figure(standard, unit),
            figures::figure(extended, unit),
            format!("{better:.2}"),
        ]);
    }
    table
}

/// Times for constant total work, with the parallel efficiency.
fn scaling(times: &Figures) -> Table {
    let mut table = plain(&["", "PEs", FORMS[0], "efficiency", FORMS[1], "efficiency", "ratio"]);
    for ((what, pes), forms) in times {
        let [standard, extended] = forms.each_ref().map(|runs| stats::median(runs));
        let alone = &times[&(what.clone(), 1)];
        let efficiency = |form: usize, time| {
            format!("{:.2}", stats::median(&alone[form]) / (time * *pes as f64))
        };
        table.add_row([
            what.clone(),
            pes.to_string(),
            figures::figure(standard, Unit::Nanoseconds),
            efficiency(0, standard),
            figures::figure(extended, Unit::Nanoseconds),
            efficiency(1, extended),
            format!("{:.2}", standard / extended),
        ]);
    }
    table
}

fn plot(figures: &Figures, name: &str, title: &str, x: Axis, unit: Unit) -> Plot {
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
        title: format!("{title} of mapped arrays; device: the host's processor"),
        x,
        unit,
        curves: FORMS.iter().enumerate().map(curve).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efficiency_is_the_time_alone_by_that_of_all_together() {
        let mut times = Figures::new();
        times.insert(("heat".into(), 1), [vec![4e9], vec![2e9]]);
        times.insert(("heat".into(), 4), [vec![2e9], vec![0.5e9]]);
        let text = scaling(&times).to_string();
        let last: Vec<_> = text.lines().last().expect("a row").split_whitespace().collect();
        assert_eq!(last, ["heat", "4", "2.00", "s", "0.50", "500", "ms", "1.00", "4.00"]);
    }

    #[test]
    fn what_programs_say() {
        let said =
            "FFT 2-D extended, size 128, 2 PEs: 0.014365 s, 7.984e+07 operations/s, verified\n";
        assert_eq!(told(said).ok(), Some((0.014365, 7.984e7)));
        assert!(told("heat, 2 PEs: 0.5 s, 7 points/s, wrong").is_err());
        assert!(told("heat, 2 PEs, verified").is_err());
        let (what, size, figure) = point("POINT put extended 8 12.5", "extended").expect("a point");
        assert_eq!((what.as_str(), size, figure), ("put", 8, 12.5));
        assert!(point("POINT put standard 8 12.5", "extended").is_err());
    }
}
