//! Programs with arrays that OpenMP maps to its device, in several forms.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use oneshmem_plots::plot::{Axis, Curve, Ink, Mark, Plot, Shade};
use oneshmem_plots::{Unit, figures, stats};

use super::{Drawing, Setting, Table, cells, run};
use crate::apps::OVERSUBSCRIBE;
use crate::progress::Progress;

const OFFLOADING: [&str; 2] = ["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"];

fn compiler() -> String {
    std::env::var("SHMEM_CXX").unwrap_or_else(|_| "clang++".into())
}

/// Why programs of OpenMP's device cannot be built here, if they cannot.
pub fn no_offloading() -> Option<String> {
    let mut command = Command::new(compiler());
    command.args(OFFLOADING).args(["-x", "c++", "-", "-o", "/dev/null"]);
    command.stdin(std::process::Stdio::null());
    let why = match command.output() {
        Err(error) => error.to_string(),
        // An empty program lacks only `main`.
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("main") => return None,
        Ok(_) => "it does not build for OpenMP's device on the host".into(),
    };
    Some(format!("{}: {why} (SHMEM_CXX names a compiler)", compiler()))
}

/// A form of a program of OpenMP's device.
struct Form {
    label: &'static str,
    /// What the program is told: the form, and what comes after the size.
    words: Option<(&'static str, &'static [&'static str])>,
}

/// Copies of the arrays around communication.
const STANDARD: Form = Form { label: "standard", words: Some(("standard", &[])) };
/// The arrays are symmetric.
const EXTENDED: Form = Form { label: "extended", words: Some(("extended", &[])) };
/// Random access, as the paper has it.
const GET_PUT: Form =
    Form { label: "extended, get and put", words: Some(("extended", &["get-put"])) };
/// Copies around messages.
const MPI: Form = Form { label: "MPI", words: None };

/// The figures of all runs, for each size or number of PEs, by form.
type Found = Vec<(u64, Vec<Vec<f64>>)>;

/// A program of OpenMP's device, in several forms.
struct Device<'a> {
    setting: &'a Setting,
    bin: &'a Path,
    forms: Vec<Form>,
    remarks: Vec<String>,
}

/// The latencies of one operation of `latency.cc`.
pub fn latency(setting: &Setting, wanted: &str) -> anyhow::Result<Drawing> {
    match no_offloading() {
        Some(why) => Ok(Drawing::without(format!("Not here: {why}."))),
        None => Device::of(setting)?.latency(wanted),
    }
}

/// A program of `examples/openmp` on 1, 2 and 4 PEs: its work a second, or its efficiency.
pub fn scaling(
    setting: &Setting,
    name: &str,
    size: usize,
    rate: bool,
    stripes: bool,
) -> anyhow::Result<Drawing> {
    if let Some(why) = no_offloading() {
        return Ok(Drawing::without(format!("Not here: {why}.")));
    }
    let mut device = Device::of(setting)?;
    if rate {
        device.forms.insert(2, GET_PUT);
    }
    device.scaling(name, size, rate, stripes)
}

impl<'a> Device<'a> {
    /// In the usual three forms.
    fn of(setting: &'a Setting) -> anyhow::Result<Self> {
        let bin = setting.own().commands()?;
        Ok(Self { setting, bin, forms: vec![STANDARD, EXTENDED, MPI], remarks: Vec::new() })
    }

    fn devices(&self) -> PathBuf {
        self.setting.sources.join("../devices")
    }

    /// Builds the program of each form. MPI is left out where it does not build.
    fn build(&mut self, source: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let program = self.setting.work.join(source.file_stem().context("a source")?);
        let mut command = Command::new(self.bin.join("oshc++"));
        command.env("SHMEM_CXX", compiler()).args(OFFLOADING);
        command.args(["-O2", "-o"]).arg(&program).arg(source);
        run(self.setting, &mut command, &format!("the build of {}", source.display()))?;
        let over_mpi = self.setting.work.join("device-mpi");
        let mut command = Command::new("mpicxx");
        command.envs([("OMPI_CXX", compiler()), ("MPICH_CXX", compiler())]).args(OFFLOADING);
        command.args(["-O2", "-o"]).arg(&over_mpi).arg(self.devices().join("mpi.cc"));
        let works = run(self.setting, &mut command, "the build over MPI")
            .and_then(|_| self.job(&over_mpi, &MPI, 2, "put", "8"));
        if let Err(error) = works {
            self.forms.retain(|form| form.words.is_some());
            self.remarks.push(format!("MPI is left out: {error:#}"));
        }
        let of =
            |form: &Form| if form.words.is_some() { program.clone() } else { over_mpi.clone() };
        Ok(self.forms.iter().map(of).collect())
    }

    /// Runs a form. `name` is the program's name, `size` its argument.
    fn job(
        &self,
        program: &Path,
        form: &Form,
        pes: usize,
        name: &str,
        size: &str,
    ) -> anyhow::Result<String> {
        let mut command = match form.words {
            Some(_) => Command::new(self.bin.join("oshrun")),
            None => Command::new("mpiexec"),
        };
        // Launchers differ in what they do by default.
        if pes <= self.setting.cpus.len() {
            command.args(["-bind-to", "core"]);
        }
        command.args(["-n", &pes.to_string()]).arg(program);
        match form.words {
            Some((word, more)) => command.args([word, size]).args(more),
            None => command.envs(OVERSUBSCRIBE).args([name, size]),
        };
        // One thread for each PE, since communication is what is compared.
        command.env("OMP_NUM_THREADS", "1");
        let what = format!("{name} in the form {} with {pes} PEs", form.label);
        Ok(run(self.setting, &mut command, &what)?.stdout)
    }

    /// The latencies of one operation of `latency.cc`.
    fn latency(mut self, wanted: &str) -> anyhow::Result<Drawing> {
        let programs = self.build(&self.devices().join("latency.cc"))?;
        let most = self.setting.by("134217728", "1048576", "64");
        let mut found = Found::new();
        let mut progress = Progress::of(self.setting.repeats * self.forms.len());
        for _ in 0..self.setting.repeats {
            for (nth, form) in self.forms.iter().enumerate() {
                progress.step(&format!("{wanted}, {}", form.label));
                for line in self.job(&programs[nth], form, 2, wanted, most)?.lines() {
                    let (what, size, figure) = point(line)?;
                    if what != wanted {
                        continue;
                    }
                    let place = found.iter().position(|(known, _)| *known == size);
                    let place = place.unwrap_or_else(|| {
                        found.push((size, vec![Vec::new(); self.forms.len()]));
                        found.len() - 1
                    });
                    found[place].1[nth].push(figure);
                }
            }
        }
        progress.end();
        Ok(self.drawing("bytes", Axis::Bytes, Unit::Nanoseconds, &found))
    }

    /// A program of `examples/openmp` on 1, 2 and 4 PEs. With `stripes` it is told the size of a PE's stripe.
    fn scaling(
        mut self,
        name: &str,
        size: usize,
        rate: bool,
        stripes: bool,
    ) -> anyhow::Result<Drawing> {
        let source = self.setting.examples.join("openmp").join(format!("{name}.cc"));
        let programs = self.build(&source)?;
        let numbers = [1, 2, 4];
        let mut progress = Progress::of(numbers.len() * self.forms.len() * self.setting.repeats);
        let mut found = Found::new();
        for pes in numbers {
            let mut forms = vec![Vec::new(); self.forms.len()];
            for _ in 0..self.setting.repeats {
                for (nth, form) in self.forms.iter().enumerate() {
                    progress.step(&format!("{name}, {}, {pes} PEs", form.label));
                    let given = if stripes { size / pes } else { size }.to_string();
                    let said = self.job(&programs[nth], form, pes, name, &given)?;
                    let (seconds, work) = told(&said)?;
                    forms[nth].push(if rate { work / 1e6 } else { seconds * 1e9 });
                }
            }
            found.push((pes as u64, forms));
        }
        progress.end();
        if rate {
            return Ok(self.drawing("PEs", Axis::Pes, Unit::MegaOperations, &found));
        }
        let times = self.drawing("PEs", Axis::Pes, Unit::Nanoseconds, &found);
        let mut efficiency = self.drawing("PEs", Axis::Pes, Unit::Percent, &efficiency(&found));
        // The paper draws efficiency.
        efficiency.tables.extend(times.tables);
        Ok(efficiency)
    }

    /// The plot and the table of all forms.
    fn drawing(&self, size: &str, x: Axis, unit: Unit, found: &Found) -> Drawing {
        let curve = |(nth, form): (usize, &Form)| {
            let mark =
                |(size, runs): &(u64, Vec<Vec<f64>>)| Mark::of_runs(*size as f64, &runs[nth]);
            let points = found.iter().map(mark).collect();
            Curve { label: form.label.into(), ink: Ink::Nth(nth, Shade::Full), points }
        };
        let row = |(size, forms): &(u64, Vec<Vec<f64>>)| {
            let each = forms.iter().map(|runs| figures::figure(stats::median(runs), unit));
            std::iter::once(size.to_string()).chain(each).collect()
        };
        let labels: Vec<&str> = self.forms.iter().map(|form| form.label).collect();
        let title = format!("Mapped arrays: {}", unit.quantity());
        let header = cells(&[&[size], &labels[..]].concat());
        let curves = self.forms.iter().enumerate().map(curve).collect();
        Drawing {
            plots: vec![Plot { title: title.clone(), x, unit, curves }],
            tables: vec![Table { title, header, rows: found.iter().map(row).collect() }],
            remarks: self.remarks.clone(),
            ..Drawing::default()
        }
    }
}

/// The parallel efficiency in percent: the median time of one PE by that of all PEs together.
fn efficiency(found: &Found) -> Found {
    let Some((_, alone)) = found.first() else { return Found::new() };
    let alone: Vec<f64> = alone.iter().map(|runs| stats::median(runs)).collect();
    let of = |(pes, forms): &(u64, Vec<Vec<f64>>)| {
        let of_form = |(runs, alone): (&Vec<f64>, &f64)| {
            runs.iter().map(|time| 100.0 * alone / (time * *pes as f64)).collect()
        };
        (*pes, forms.iter().zip(&alone).map(of_form).collect())
    };
    found.iter().map(of).collect()
}

/// The quantity, size and figure in a line of `latency.cc`.
fn point(line: &str) -> anyhow::Result<(String, u64, f64)> {
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["POINT", what, _, bytes, figure] => Ok((what.into(), bytes.parse()?, figure.parse()?)),
        _ => bail!("not a point: {line}"),
    }
}

/// The time and the work a second in a program's report, which also says that the result is
/// correct.
fn told(said: &str) -> anyhow::Result<(f64, f64)> {
    let figures = said.trim_end().strip_suffix("/s, verified").and_then(|said| {
        let (time, rate) = said.split_once(": ")?.1.split_once(" s, ")?;
        Some((time.parse().ok()?, rate.split(' ').next()?.parse().ok()?))
    });
    figures.with_context(|| format!("not verified: {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say() {
        let said =
            "FFT 2-D extended, size 128, 2 PEs: 0.014365 s, 7.984e+07 operations/s, verified\n";
        assert_eq!(told(said).ok(), Some((0.014365, 7.984e7)));
        assert!(told("heat, 2 PEs: 0.5 s, 7 points/s, wrong").is_err());
        let (what, size, figure) = point("POINT put extended 8 12.5").expect("a point");
        assert_eq!((what.as_str(), size, figure), ("put", 8, 12.5));
        assert!(point("POINT put extended 12.5").is_err());
    }

    #[test]
    fn efficiency_is_the_time_alone_by_that_of_all_together() {
        let found = vec![(1, vec![vec![4e9], vec![2e9]]), (4, vec![vec![2e9], vec![0.5e9]])];
        assert_eq!(efficiency(&found)[1], (4, vec![vec![50.0], vec![100.0]]));
    }
}
