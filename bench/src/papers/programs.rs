//! What is not a program of the suite: applications, instruction counts, and programs of OpenMP's
//! device.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use oneshmem_plots::plot::{Axis, Curve, Ink, Mark, Plot, Shade};
use oneshmem_plots::{Unit, figures, stats};

use super::{Drawing, Setting, Table};
use crate::apps::OVERSUBSCRIBE;
use crate::execute;
use crate::implementation::Implementation;
use crate::instructions as counts;
use crate::plan::Extent;
use crate::progress::Progress;

const PATIENCE: Duration = Duration::from_secs(300);

fn cells(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Runs a command that has to succeed. Returns what it printed.
fn run(setting: &Setting, command: &mut Command, what: &str) -> anyhow::Result<execute::Outcome> {
    let outcome = execute::run(command, &setting.work, PATIENCE)?;
    if !outcome.success() {
        bail!("{what} {}", outcome.reason());
    }
    Ok(outcome)
}

/// Applications: whether in the folder of patterns or among the examples, name, and arguments of a
/// short run.
const APPLICATIONS: [(bool, &str, &[&str]); 8] = [
    (false, "heat", &["64", "20"]),
    (false, "isort", &["20000"]),
    (false, "gups", &["12"]),
    (false, "matmul", &["48"]),
    (false, "queue", &["400"]),
    (true, "halo", &["16", "10"]),
    (true, "bfs", &["12"]),
    (true, "transpose", &["32", "10"]),
];

/// The numbers of PEs to extrapolate to.
const FAR: [usize; 2] = [128, 1024];

/// How many peers a PE of each application talks to.
pub fn peers_of_applications(setting: &Setting) -> anyhow::Result<Drawing> {
    let numbers: &[usize] = match setting.extent {
        Extent::Full => &[2, 4, 8, 16, 32],
        Extent::Quick => &[2, 4, 8, 16],
        Extent::Tiny => &[2, 4],
    };
    let own = setting.own();
    let bin = own.commands()?;
    let mut header = cells(&["peers of a PE, on average"]);
    header.extend(numbers.iter().map(|pes| format!("{pes} PEs")));
    header.extend(FAR.map(|pes| format!("{pes} (extrapolated)")));
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    let mut progress = Progress::of(APPLICATIONS.len() * numbers.len());
    for (nth, (pattern, name, arguments)) in APPLICATIONS.iter().enumerate() {
        let folder = match pattern {
            true => setting.apps.join("patterns"),
            false => setting.examples.clone(),
        };
        let program = setting.work.join(format!("application-{name}"));
        let source = folder.join(format!("{name}.c"));
        let mut compiler = Command::new(bin.join("oshcc"));
        compiler.args(["-O2", "-std=gnu11", "-D_GNU_SOURCE"]).arg(&source);
        compiler.arg("-o").arg(&program).arg("-lm");
        run(setting, &mut compiler, &format!("the build of {}", source.display()))?;
        let mut points = Vec::new();
        for &pes in numbers {
            progress.step(&format!("{name} on {pes} PEs"));
            let words: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
            let mut job = own.job(pes, &program, &words, 64);
            job.env("SHMEM_STATS", "1");
            let outcome = run(setting, &mut job, &format!("{name} on {pes} PEs"))?;
            if !outcome.stdout.contains("verified") {
                bail!("{name} on {pes} PEs did not verify its result");
            }
            points.push((pes, talked_to(&outcome.stderr).with_context(|| name.to_owned())?));
        }
        let mut row = vec![(*name).to_owned()];
        row.extend(points.iter().map(|(_, peers)| format!("{peers:.1}")));
        row.extend(FAR.map(|pes| format!("{:.0}", extrapolated(&points, pes))));
        rows.push(row);
        let mark = |&(pes, peers): &(usize, f64)| Mark { x: pes as f64, y: peers, bar: None };
        let points = points.iter().filter(|(_, peers)| *peers > 0.0).map(mark).collect();
        curves.push(Curve { label: (*name).into(), ink: Ink::Nth(nth, Shade::Full), points });
    }
    progress.end();
    let title = "Peers that a PE talks to".to_owned();
    let table = Table { title: title.clone(), header, rows };
    let plot = Plot { title, x: Axis::Pes, unit: Unit::Count, curves };
    Ok(Drawing { plots: vec![plot], tables: vec![table], ..Drawing::default() })
}

/// The mean number of peers in the table of SHMEM_STATS.
fn talked_to(statistics: &str) -> anyhow::Result<f64> {
    let line = statistics.lines().find_map(|line| line.split_once("PEs that a PE talked to: "));
    let number = line.and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    number.context("SHMEM_STATS did not say how many PEs a PE talked to")
}

/// The peers in a job of so many PEs, if they go on to grow by the same power; at most all others.
fn extrapolated(points: &[(usize, f64)], pes: usize) -> f64 {
    let [.., (few, before), (many, last)] = points else { return f64::NAN };
    if *before <= 0.0 || *last <= 0.0 {
        return *last;
    }
    let power = (last / before).ln() / (*many as f64 / *few as f64).ln();
    (last * (pes as f64 / *many as f64).powf(power.max(0.0))).min(pes as f64 - 1.0)
}

/// The steps of `shmem_init` on a node.
pub fn steps_on_a_node(setting: &Setting) -> anyhow::Result<Drawing> {
    init_steps(setting, setting.own(), &[2, 8, 32])
}

/// The steps of `shmem_init` on two nodes.
pub fn steps_on_two_nodes(setting: &Setting) -> anyhow::Result<Drawing> {
    init_steps(setting, &setting.over_nodes()?[0], &[2, 8])
}

/// The steps of `shmem_init` in jobs of so many PEs, with peers on demand and eagerly.
fn init_steps(
    setting: &Setting,
    own: &Implementation,
    numbers: &[usize],
) -> anyhow::Result<Drawing> {
    let numbers = if setting.extent == Extent::Tiny { &numbers[..1] } else { numbers };
    let folder = setting.work.join(&own.folder);
    std::fs::create_dir_all(&folder)?;
    let program = folder.join("hello");
    own.build(&setting.sources.join("hello.c"), &program, &folder)?;
    let repeats = setting.repeats.unwrap_or(5);
    let mut progress = Progress::of(2 * numbers.len() * repeats);
    let mut jobs: Vec<(String, Vec<Step>)> = Vec::new();
    for &pes in numbers {
        for attach in ["demand", "eager"] {
            let mut found: Vec<(String, Vec<f64>)> = Vec::new();
            for _ in 0..repeats {
                progress.step(&format!("{pes} PEs, {attach}"));
                let trace = folder.join("trace.json");
                let mut job = own.job(pes, &program, &[], 16);
                job.env("SHMEM_TRACE", &trace).env("SHMEM_ATTACH", attach);
                run(setting, &mut job, &format!("hello on {pes} PEs"))?;
                for (name, mean) in mean_steps(&std::fs::read_to_string(&trace)?, pes)? {
                    match found.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, times)) => times.push(mean),
                        None => found.push((name, vec![mean])),
                    }
                }
            }
            let medians =
                found.into_iter().map(|(name, times)| Step { name, time: stats::median(&times) });
            jobs.push((format!("{pes} PEs, {attach}"), medians.collect()));
        }
    }
    progress.end();
    // The longest list has all steps.
    let longest = jobs.iter().map(|(_, steps)| steps).max_by_key(|steps| steps.len());
    let names: Vec<String> = longest.into_iter().flatten().map(|step| step.name.clone()).collect();
    let mut header = cells(&["step"]);
    header.extend(jobs.iter().map(|(job, _)| job.clone()));
    let time = |steps: &[Step], name: &str| {
        steps.iter().find(|step| step.name == name).map(|step| step.time)
    };
    let shown = |time: Option<f64>| {
        time.map_or(String::new(), |time| figures::figure(time, Unit::Nanoseconds))
    };
    let mut rows: Vec<Vec<String>> = names
        .iter()
        .map(|name| {
            let each = jobs.iter().map(|(_, steps)| shown(time(steps, name)));
            std::iter::once(name.clone()).chain(each).collect()
        })
        .collect();
    let sums = jobs.iter().map(|(_, steps)| shown(Some(steps.iter().map(|step| step.time).sum())));
    rows.push(std::iter::once("all".to_owned()).chain(sums).collect());
    let curve = |(nth, name): (usize, &String)| {
        let on_demand = jobs.iter().step_by(2).zip(numbers);
        let mark = |((_, steps), pes): (&(String, Vec<Step>), &usize)| {
            Some(Mark { x: *pes as f64, y: time(steps, name)?, bar: None })
        };
        let points = on_demand.filter_map(mark).collect();
        Curve { label: name.clone(), ink: Ink::Nth(nth, Shade::Full), points }
    };
    let curves = names.iter().enumerate().map(curve).collect();
    let title = "Steps of shmem_init, on demand".to_owned();
    let plot = Plot { title, x: Axis::Pes, unit: Unit::Nanoseconds, curves };
    let table = Table { title: "Time of each step".into(), header, rows };
    Ok(Drawing { plots: vec![plot], tables: vec![table], ..Drawing::default() })
}

/// A step of initialisation and its time in nanoseconds.
struct Step {
    name: String,
    time: f64,
}

/// The mean time of each step over all PEs, in the order of a PE, from a timeline.
fn mean_steps(trace: &str, pes: usize) -> anyhow::Result<Vec<(String, f64)>> {
    let data: serde_json::Value = serde_json::from_str(trace).context("no timeline")?;
    let mut sums: Vec<(String, f64)> = Vec::new();
    for event in data["traceEvents"].as_array().context("a timeline without events")? {
        if event["cat"] != "init" {
            continue;
        }
        let name = event["name"].as_str().context("a step without a name")?;
        let time = event["dur"].as_f64().context("a step without a time")? * 1e3;
        match sums.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += time,
            None => sums.push((name.to_owned(), time)),
        }
    }
    if sums.is_empty() {
        bail!("the timeline has no steps of shmem_init");
    }
    Ok(sums.into_iter().map(|(name, sum)| (name, sum / pes as f64)).collect())
}

/// The routines whose instructions are told one by one.
const STEPS_OF: [&str; 3] = ["shmem_long_p", "shmem_long_g", "shmem_long_atomic_fetch_add"];

/// Instructions of a call, of all implementations and compiled in, and what those of a few routines
/// do.
pub fn instructions(setting: &Setting) -> anyhow::Result<Drawing> {
    let (mut columns, mut remarks) = (Vec::new(), Vec::new());
    let own = setting.own();
    let mut inlined =
        own.variant(format!("{}, inlined", own.name), &[("SHMEM_CC", "cc -DSHMEM_INLINE")]);
    inlined.folder += "-inlined";
    let who =
        [own.clone(), inlined].into_iter().chain(setting.implementations[1..].iter().cloned());
    for who in who {
        match counts::count(&who, &setting.sources, &setting.work) {
            Ok(counts) => columns.push((who.name, counts)),
            Err(error) if columns.is_empty() => return Err(error),
            Err(error) => remarks.push(format!("Left out: {}: {error:#}", who.name)),
        }
    }
    let mut rows = counts::rows(&columns)?;
    let header = rows.remove(0);
    let mut tables = vec![Table { title: "Instructions of a call".into(), header, rows }];
    match steps(setting.own()) {
        Ok(table) => tables.push(table),
        Err(error) => remarks.push(format!("Not by step: {error:#}")),
    }
    Ok(Drawing { tables, remarks, ..Drawing::default() })
}

/// What the instructions of a routine do, from its disassembly.
fn steps(own: &Implementation) -> anyhow::Result<Table> {
    let bin = own.commands()?;
    let library = bin.join("../lib/libshmem.so");
    let printed = |tool: &str, arguments: &[&str]| {
        let output = Command::new(tool).args(arguments).arg(&library).output();
        let output = output.with_context(|| format!("cannot run {tool}"))?;
        if !output.status.success() {
            bail!("{tool} cannot read {}", library.display());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    if std::env::consts::ARCH != "x86_64" {
        bail!("instructions are told apart for x86-64 only");
    }
    let symbols = printed("nm", &["-D"])?;
    let mut rows = Vec::new();
    for routine in STEPS_OF {
        let symbol = symbols.lines().find(|line| {
            line.split_whitespace().last().and_then(|name| name.split('@').next()) == Some(routine)
        });
        let start = symbol.and_then(|line| line.split_whitespace().next()).context("no symbol")?;
        let end = u64::from_str_radix(start, 16)? + 256;
        let range = [format!("--start-address=0x{start}"), format!("--stop-address={end}")];
        let text = printed("objdump", &["-d", "--no-show-raw-insn", &range[0], &range[1]])?;
        let [checks, translation, access, rest] = told_apart(&text);
        let all = checks + translation + access + rest;
        let counts = [0, checks, translation, access, rest, all].map(|count| count.to_string());
        rows.push([vec![routine.to_owned()], counts.into()].concat());
    }
    let header = cells(&["routine", "symbol", "checks", "translation", "access", "return", "all"]);
    let title = "What they do (symbol: finding the library's state; the path without an error)";
    Ok(Table { title: title.into(), header, rows })
}

/// What the instructions of a routine for one element do, before the first return: checks,
/// translation, access and return.
fn told_apart(text: &str) -> [usize; 4] {
    let mut counts = [0; 4];
    let mut path: Vec<&str> = Vec::new();
    for line in text.lines() {
        let Some((_, instruction)) = line.split_once(":\t") else { continue };
        path.push(instruction.trim());
        if instruction.starts_with("ret") {
            break;
        }
    }
    // The access is the last instruction with an operand in memory, and what follows it.
    let access = path.iter().rposition(|one| one.contains('(')).unwrap_or(path.len());
    for (place, one) in path.iter().enumerate() {
        let is_check = ["cmp", "test", "j"].iter().any(|word| one.starts_with(word));
        let kind = match one {
            one if one.starts_with("ret") => 3,
            _ if is_check => 0,
            _ if place >= access => 2,
            _ => 1,
        };
        counts[kind] += 1;
    }
    counts
}

const OFFLOADING: [&str; 2] = ["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"];

fn compiler() -> String {
    std::env::var("SHMEM_CXX").unwrap_or_else(|_| "clang++".into())
}

/// Why programs of OpenMP's device cannot be built here, if they cannot.
pub fn no_offloading() -> Option<String> {
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
    fn of(setting: &'a Setting, forms: Vec<Form>) -> anyhow::Result<Self> {
        let bin = setting.own().commands()?;
        Ok(Self { setting, bin, forms, remarks: Vec::new() })
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
        let number = pes.to_string();
        let mut command = match form.words {
            Some((word, more)) => {
                let mut command = Command::new(self.bin.join("oshrun"));
                command.args(["-n", &number]).arg(program).args([word, size]).args(more);
                command
            }
            None => {
                let mut command = Command::new("mpiexec");
                command.envs(OVERSUBSCRIBE).args(["-n", &number]).arg(program).args([name, size]);
                command
            }
        };
        // One thread for each PE, since communication is what is compared.
        command.env("OMP_NUM_THREADS", "1");
        let what = format!("{name} in the form {} with {pes} PEs", form.label);
        Ok(run(self.setting, &mut command, &what)?.stdout)
    }

    fn repeats(&self) -> usize {
        self.setting.repeats.unwrap_or(if self.setting.extent == Extent::Tiny { 1 } else { 3 })
    }

    /// The latencies of one operation of `latency.cc`.
    fn latency(mut self, wanted: &str) -> anyhow::Result<Drawing> {
        let programs = self.build(&self.devices().join("latency.cc"))?;
        let most = match self.setting.extent {
            Extent::Full => "268435456",
            Extent::Quick => "1048576",
            Extent::Tiny => "64",
        };
        let mut found = Found::new();
        let mut progress = Progress::of(self.repeats() * self.forms.len());
        for _ in 0..self.repeats() {
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
        let size = match self.setting.extent {
            Extent::Full => full,
            Extent::Quick => quick,
            Extent::Tiny => tiny,
        };
        let numbers = [1, 2, 4];
        let mut progress = Progress::of(numbers.len() * self.forms.len() * self.repeats());
        let mut found = Found::new();
        for pes in numbers {
            let mut forms = vec![Vec::new(); self.forms.len()];
            for _ in 0..self.repeats() {
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
            let mark = |(size, runs): &(u64, Vec<Vec<f64>>)| Mark {
                x: *size as f64,
                y: stats::median(&runs[nth]),
                bar: None,
            };
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
        let mut header = cells(&[size]);
        header.extend(cells(&self.labels()));
        header.push("standard / extended".into());
        let curves = self.forms.iter().enumerate().map(curve).collect();
        Drawing {
            plots: vec![Plot { title: title.clone(), x, unit, curves }],
            tables: vec![Table { title, header, rows: found.iter().map(row).collect() }],
            remarks: self.remarks.clone(),
            ..Drawing::default()
        }
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

/// The usual three forms.
fn three(setting: &Setting) -> anyhow::Result<Device<'_>> {
    Device::of(setting, vec![STANDARD, EXTENDED, MPI])
}

/// Latency of a put with signal.
pub fn device_put(setting: &Setting) -> anyhow::Result<Drawing> {
    three(setting)?.latency("put")
}

/// Latency of an all-to-all.
pub fn device_alltoall(setting: &Setting) -> anyhow::Result<Drawing> {
    three(setting)?.latency("alltoall")
}

/// Random access.
pub fn device_updates(setting: &Setting) -> anyhow::Result<Drawing> {
    let device = Device::of(setting, vec![STANDARD, EXTENDED, GET_PUT, MPI])?;
    device.scaling("random_access", [16384, 4096, 500], Unit::MegaOperations, |size, _| size)
}

/// FFT.
pub fn device_fft(setting: &Setting) -> anyhow::Result<Drawing> {
    three(setting)?.scaling("fft2d", [512, 128, 16], Unit::Nanoseconds, |size, _| size)
}

/// Matrix product: the argument is the size of a stripe.
pub fn device_product(setting: &Setting) -> anyhow::Result<Drawing> {
    let sizes = [256, 128, 8];
    three(setting)?.scaling("ring_product", sizes, Unit::Nanoseconds, |size, pes| size / pes)
}

/// Heat.
pub fn device_heat(setting: &Setting) -> anyhow::Result<Drawing> {
    three(setting)?.scaling("heat3d", [96, 48, 8], Unit::Nanoseconds, |size, _| size)
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
        let statistics = "x\nPEs that a PE talked to: 1.5 on average, at most 2\n";
        assert_eq!(talked_to(statistics).ok(), Some(1.5));
        assert!(talked_to("nothing").is_err());
    }

    #[test]
    fn peers_grow_as_they_did() {
        // All others, a constant number, and the logarithm, of which only the last step is known.
        assert_eq!(extrapolated(&[(8, 7.0), (16, 15.0)], 1024), 1023.0);
        assert_eq!(extrapolated(&[(8, 4.0), (16, 4.0)], 1024), 4.0);
        assert!((extrapolated(&[(8, 2.0), (16, 4.0)], 32) - 8.0).abs() < 1e-9);
    }

    #[test]
    fn steps_of_initialisation() {
        let event = |name: &str, time: f64| {
            format!("{{\"cat\": \"init\", \"name\": \"{name}\", \"dur\": {time}}}")
        };
        let events = [
            event("layout", 1.0),
            event("memory", 4.0),
            event("layout", 2.0),
            event("memory", 6.0),
        ];
        let text = format!("{{\"traceEvents\": [{{\"cat\": \"put\"}}, {}]}}", events.join(", "));
        let steps = mean_steps(&text, 2).expect("steps");
        assert_eq!(steps, [("layout".to_owned(), 1500.0), ("memory".to_owned(), 5000.0)]);
        assert!(mean_steps("{\"traceEvents\": []}", 2).is_err());
    }

    #[test]
    fn steps_of_a_routine() {
        let text = "   10:\tsub    0x1(%rip),%rdi\n   17:\tcmp    $0x1000,%rdx\n   1e:\tjae    41\n   \
                    20:\tmov    0x88(%rax),%rax\n   24:\tmov    %rsi,(%rax,%rdi,1)\n   28:\tret\n   30:\tnop\n";
        assert_eq!(told_apart(text), [2, 2, 1, 1]);
    }

    #[test]
    fn efficiency_is_the_time_alone_by_that_of_all_together() {
        let found = vec![(1, vec![vec![4e9], vec![2e9]]), (4, vec![vec![2e9], vec![0.5e9]])];
        assert_eq!(efficiency(&["a", "b"], &found).rows[1], ["4", "0.50", "1.00"]);
    }
}
