//! Figures of the paper on arrays that OpenMP maps.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use oneshmem_plots::plot::{Axis, Curve, Ink, Mark, Plot, Shade};
use oneshmem_plots::{Unit, figures, stats};

use super::{Content, Drawing, Figure, Setting, Table, cells, run};
use crate::apps::OVERSUBSCRIBE;
use crate::progress::Progress;
use crate::slower;

/// All of them.
pub fn figures(_: &Setting) -> anyhow::Result<Vec<Figure>> {
    let caption = |what: &str| {
        format!(
            "{what} OpenMP's device is the host's processor, whose CPUs all PEs share: no figure is one of another \
             device. standard: target update copies the array to the symmetric heap and back; extended: the array \
             is symmetric itself, in a partition of KIND=LIBOMP; MPI: target update, and messages. Each PE has one thread, on a core of its \
             own where there are enough."
        )
    };
    let missing = no_offloading();
    let figure = |title: &str, what: &str, published, make: fn(Device<'_>) -> _| Figure {
        title: title.into(),
        caption: caption(what),
        published,
        content: match &missing {
            Some(why) => Content::Missing(why.clone()),
            None => Content::made(move |setting| make(Device::of(setting)?)),
        },
    };
    let efficient = "up to 12.5 % better strong scaling than in the standard form";
    let scaled = "The time of the same work on 1, 2 and 4 PEs; efficiency is the time of one by that of all together.";
    Ok(vec![
        figure(
            "Latency of put with signal",
            "Between 2 PEs, one way.",
            "standard / extended 6 to 1.3, from 8 B to 256 MiB",
            |device| device.latency("put"),
        ),
        figure("Latency of all-to-all", "Of 2 PEs.", "standard / extended 2.6 to 1.4", |device| {
            device.latency("alltoall")
        }),
        figure(
            "Random access",
            "Updates a second of all PEs, on tables of the same size on each; in the extended form by atomic operations, and, as in the paper, by get and put.",
            "extended / standard 4.9",
            |mut device| {
                device.forms.insert(2, GET_PUT);
                device.scaling(
                    "random_access",
                    [16384, 4096, 500],
                    Unit::MegaOperations,
                    |size, _| size,
                )
            },
        ),
        figure("FFT in two dimensions", scaled, efficient, |device| {
            device.scaling("fft2d", [512, 128, 16], Unit::Nanoseconds, |size, _| size)
        }),
        // The argument is the size of a stripe.
        figure("Matrix product on a ring", scaled, efficient, |device| {
            let stripe = |size, pes| size / pes;
            device.scaling("ring_product", [256, 128, 8], Unit::Nanoseconds, stripe)
        }),
        figure("Heat in three dimensions", scaled, efficient, |device| {
            device.scaling("heat3d", [96, 48, 8], Unit::Nanoseconds, |size, _| size)
        }),
    ])
}

const OFFLOADING: [&str; 2] = ["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"];

fn compiler() -> String {
    std::env::var("SHMEM_CXX").unwrap_or_else(|_| "clang++".into())
}

/// Why programs of OpenMP's device cannot be built here, if they cannot.
fn no_offloading() -> Option<String> {
    let mut command = Command::new(compiler());
    command.args(OFFLOADING).args(["-x", "c++", "-", "-o", "/dev/null"]);
    command.stdin(std::process::Stdio::null());
    let built = command.output().is_ok_and(|output| {
        // An empty program lacks only `main`.
        String::from_utf8_lossy(&output.stderr).contains("main")
    });
    let compiler = compiler();
    (!built).then(|| {
        format!(
            "{compiler} does not build for OpenMP's device on the host (SHMEM_CXX names a compiler)"
        )
    })
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
        let most = self.setting.by("268435456", "1048576", "64");
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

    /// A program of `examples/openmp` on 1, 2 and 4 PEs: its work a second, or its time.
    fn scaling(
        mut self,
        name: &str,
        [full, quick, tiny]: [usize; 3],
        unit: Unit,
        argument: fn(usize, usize) -> usize,
    ) -> anyhow::Result<Drawing> {
        let source = self.setting.examples.join("openmp").join(format!("{name}.cc"));
        let programs = self.build(&source)?;
        let size = self.setting.by(full, quick, tiny);
        let numbers = [1, 2, 4];
        let mut progress = Progress::of(numbers.len() * self.forms.len() * self.setting.repeats);
        let mut found = Found::new();
        for pes in numbers {
            let mut forms = vec![Vec::new(); self.forms.len()];
            for _ in 0..self.setting.repeats {
                for (nth, form) in self.forms.iter().enumerate() {
                    progress.step(&format!("{name}, {}, {pes} PEs", form.label));
                    let given = argument(size, pes).to_string();
                    let (seconds, rate) =
                        told(&self.job(&programs[nth], form, pes, name, &given)?)?;
                    forms[nth].push(match unit {
                        Unit::MegaOperations => rate / 1e6,
                        _ => seconds * 1e9,
                    });
                }
            }
            found.push((pes as u64, forms));
        }
        progress.end();
        let mut drawing = self.drawing("PEs", Axis::Pes, unit, &found);
        if unit == Unit::Nanoseconds {
            drawing.tables.push(efficiency(&self.labels(), &found));
        }
        Ok(drawing)
    }

    fn labels(&self) -> Vec<&'static str> {
        self.forms.iter().map(|form| form.label).collect()
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
            let figures: Vec<f64> = forms.iter().map(|runs| stats::median(runs)).collect();
            let mut row = vec![size.to_string()];
            row.extend(figures.iter().map(|figure| figures::figure(*figure, unit)));
            row.push(figures::ratio(unit.cost_ratio(figures[0], figures[1])));
            row
        };
        let title = "Mapped arrays".to_owned();
        let behind = self.behind(x, unit, found);
        let mut header = cells(&[size]);
        header.extend(cells(&self.labels()));
        header.push("standard / extended".into());
        let curves = self.forms.iter().enumerate().map(curve).collect();
        Drawing {
            plots: vec![Plot { title: title.clone(), x, unit, curves }],
            tables: vec![Table { title, header, rows: found.iter().map(row).collect() }],
            remarks: self.remarks.clone(),
            behind,
            points: Vec::new(),
        }
    }

    /// Where MPI is ahead of the best of our forms.
    fn behind(&self, x: Axis, unit: Unit, found: &Found) -> String {
        let (ours, mpi): (Vec<usize>, Vec<usize>) =
            (0..self.forms.len()).partition(|&form| self.forms[form].words.is_some());
        let Some(&mpi) = mpi.first() else { return String::new() };
        let slower = found.iter().filter_map(|(size, forms)| {
            let cost = |&form: &usize| {
                unit.cost_ratio(stats::median(&forms[form]), stats::median(&forms[mpi]))
            };
            let best = ours.iter().map(cost).min_by(f64::total_cmp).filter(|best| *best > 1.0)?;
            let what = match x {
                Axis::Pes if *size == 1 => "1 PE".to_owned(),
                Axis::Pes => format!("{size} PEs"),
                _ => figures::bytes(*size),
            };
            Some(slower::point(&what, best, "MPI"))
        });
        slower::sentence("Slower than MPI", found.len(), &slower.collect::<Vec<_>>())
    }
}

/// The parallel efficiency: the time of one PE by that of all PEs together.
fn efficiency(labels: &[&str], found: &Found) -> Table {
    let of = |form: usize, pes: u64, runs: &[f64]| {
        let alone = found.first().map_or(f64::NAN, |(_, forms)| stats::median(&forms[form]));
        format!("{:.2}", alone / (stats::median(runs) * pes as f64))
    };
    let row = |(pes, forms): &(u64, Vec<Vec<f64>>)| {
        let each = forms.iter().enumerate().map(|(nth, runs)| of(nth, *pes, runs));
        std::iter::once(pes.to_string()).chain(each).collect()
    };
    Table {
        title: "Parallel efficiency; with more PEs than CPUs it cannot be 1".into(),
        header: [&["PEs"], labels].concat().into_iter().map(str::to_owned).collect(),
        rows: found.iter().map(row).collect(),
    }
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
        assert_eq!(efficiency(&["a", "b"], &found).rows[1], ["4", "0.50", "1.00"]);
    }
}
